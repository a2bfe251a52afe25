"""One home, several users: each has his own runs, threads and documents, over the same open stores."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from assay import Assay
from assay.core.errors import UnknownName, UsageError
from assay.core.sources import Document
from assay.services.jobs.specifications import SyncJob
from assay.settings import load

QUESTION = "When was the harbor built?"
MODES = {"memory": None, "home": "home"}


@pytest.fixture(params=list(MODES))
async def assay(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Assay]:
    home = None if MODES[request.param] is None else tmp_path / "home"
    async with Assay(load(search={"offline": True}), home=home) as made:
        yield made


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    (tmp_path / "diary.md").write_text("# Harbor\n\nThe harbor was built in 1843. It has a stone pier.\n")
    return tmp_path / "diary.md"


async def finished(assay: Assay, **wanted: object) -> str:
    view = await assay.start(QUESTION, **wanted).view()  # type: ignore[arg-type]
    assert view.status == "completed", view.error
    return view.run_id


async def test_each_sees_his_own_runs(assay: Assay, diary: Path):
    ana, bob = assay.owned_by("ana"), assay.owned_by("bob")
    hers, local = await finished(ana, sources=[str(diary)]), await finished(assay, sources=[str(diary)])
    assert [row.run_id for row in await ana.runs()] == [hers]
    assert [row.run_id for row in await assay.runs()] == [local]
    assert [row.run_id for row in await assay.owned_by(None).runs()] == [local, hers]
    assert await bob.runs() == []
    assert await bob.listed() == []
    view = await ana.view("last")
    assert view.brief is not None
    assert (view.run_id, view.brief.owner, view.brief.user) == (hers, "ana", "ana")

    for call in (bob.view(hers), bob.start("And the pier?", continues=hers).view(), assay.view(hers)):
        with pytest.raises(UnknownName):
            await call
    assert [event.type async for event in ana.follow(hers)][-1] == "run.completed"


async def test_each_has_his_own_documents_and_exports_them(assay: Assay, diary: Path):
    ana, bob = assay.owned_by("ana"), assay.owned_by("bob")
    await ana.add(diary)
    assert await bob.documents() == []
    assert await bob.collections() == []
    assert await bob.search("harbor") == []
    assert len(await ana.search("harbor")) == 1
    with pytest.raises(UnknownName):
        await bob.search("harbor", collection="ana/default")
    with pytest.raises(UnknownName):
        await bob.text("diary.md")
    run_id = await finished(ana)
    assert b"1843" in await ana.export(run_id, ".md")
    view = await bob.start(QUESTION).view()  # of his own default collection, which is empty
    assert not view.sources


async def test_a_thread_s_name_is_each_user_s_own(assay: Assay, diary: Path):
    ana, bob = assay.owned_by("ana"), assay.owned_by("bob")
    await finished(ana, sources=[str(diary)], thread="harbor")
    view = await bob.start(QUESTION, sources=[str(diary)], thread="harbor").view()
    assert view.brief is not None
    assert view.brief.conversation == ()


async def test_a_shared_collection_is_read_while_it_is_shared(assay: Assay, diary: Path):
    ana, bob = assay.owned_by("ana"), assay.owned_by("bob")
    await ana.add(diary, "papers")
    with pytest.raises(UnknownName):
        await bob.start(QUESTION, sources="@ana/papers").view()
    await ana.share("papers", ["bob"])
    assert [row.name for row in await bob.collections()] == ["ana/papers"]
    assert len(await bob.search("harbor", collection="ana/papers")) == 1
    with pytest.raises(UsageError, match="another user's"):
        await bob.add(diary, "ana/papers")
    run_id = await finished(bob, sources="@ana/papers")
    assert b"1843" in await bob.export(run_id, ".md")

    await ana.share("papers")
    assert await bob.collections() == []
    with pytest.raises(UnknownName):
        await bob.start(QUESTION, sources="@ana/papers").view()
    # what it read stays with the report
    assert await bob.passage(run_id, 1)
    assert len(await bob.export(run_id, ".zip")) > 1_000
    kept: list[Document] = await bob.documents("unsorted")
    assert [each.name for each in kept] == ["diary.md"]


async def test_readers_are_users_where_there_are_users(assay: Assay, diary: Path):
    ana = assay.owned_by("ana")
    await ana.add(diary, "papers")
    await ana.share("papers", ["cleo"])  # of a program that knows its own users
    if assay._context.store.users is None:  # nobody can log in to what is in memory
        return
    for name in ("ana", "bob"):
        await assay.users.add(name, None)
    with pytest.raises(UnknownName, match="no user named 'dora'"):
        await ana.share("papers", ["bob", "dora"])
    await ana.share("papers", ["bob", "cleo"])  # who is a reader stays one
    [row] = await ana.collections()
    assert row.readers == ("bob", "cleo")
    await ana.share("papers", ["bob"])
    with pytest.raises(UnknownName):
        await ana.share("papers", ["cleo"])


async def test_a_view_closes_nothing_and_names_are_checked(assay: Assay, diary: Path):
    async with assay.owned_by("ana") as ana:
        await ana.add(diary)
    assert len(await assay.owned_by("ana").documents()) == 1
    assert await assay.documents() == []
    for name in ("a/b", " a", "a\n", "x" * 201):
        with pytest.raises(UsageError, match="name of an owner"):
            assay.owned_by(name)


def _named(assay: Assay, ref: str) -> dict[str, Callable[[], object]]:
    """Every method of `Assay` which takes what names a run or a thread, called with `ref`."""
    return {
        "find": lambda: assay.find(ref),
        "view": lambda: assay.view(ref),
        "events": lambda: assay.events(ref),
        "follow": lambda: _all(assay.follow(ref)),
        "groups": lambda: _all(assay.groups(ref)),
        "estimate": lambda: assay.estimate(ref),
        "export": lambda: assay.export(ref, ".json"),
        "report": lambda: assay.report(ref),
        "passage": lambda: assay.passage(ref, 1),
        "recheck": lambda: assay.recheck(ref),
        "replay": lambda: assay.replay(ref),
        "resume": lambda: assay.resume(ref),
        "fork": lambda: assay.fork(ref, "research"),
        "control": lambda: assay.control(ref, "cancel"),
        "stop_agent": lambda: assay.stop_agent(ref, 1),
        "steer": lambda: assay.steer(ref, "look at the pier"),
        "label": lambda: assay.label(ref, {"starred": ""}),
        "answer": lambda: assay.answer(ref, ["yes"]),
        "is_answered": lambda: assay.is_answered(ref),
        "approve": lambda: assay.approve(ref),
        "delete": lambda: assay.delete(ref),
        "enqueue": lambda: assay.enqueue(ref),
        "ask": lambda: assay.ask(ref, "And the pier?").view(),
        "create_ask": lambda: assay.create_ask(ref, "And the pier?"),
        "thread": lambda: assay.thread(ref),
        "messages": lambda: assay.messages(ref),
        "rename_thread": lambda: assay.rename_thread(ref, "Mine"),
        "delete_thread": lambda: assay.delete_thread(ref),
        "addition": lambda: assay.addition(ref),
        "follow_addition": lambda: _all(assay.follow_addition(ref)),
        "text": lambda: assay.text(ref),
        "excerpt": lambda: assay.excerpt(ref),
        "original": lambda: assay.original(ref),
        "facts": lambda: assay.facts(ref),
        "page_picture": lambda: assay.page_picture(ref, 1),
        "page_places": lambda: assay.page_places(ref, 0, 5),
        "page_text": lambda: assay.page_text(ref, 1),
        "job": lambda: assay.job(ref),
        "job_figures": lambda: assay.job_figures(ref),
        "follow_job": lambda: _all(assay.follow_job(ref)),
        "cancel_job": lambda: assay.cancel_job(ref),
        "retry_job": lambda: assay.retry_job(ref),
    }


async def _all(some: AsyncIterator[object]) -> list[object]:
    return [each async for each in some]


def test_no_method_which_takes_a_reference_is_forgotten():
    takes = {
        name
        for name, method in inspect.getmembers(Assay, inspect.isfunction)
        if not name.startswith("_") and {"reference", "run_id", "id"} & set(inspect.signature(method).parameters)
    }
    made = Assay.__new__(Assay)
    assert takes == set(_named(made, ""))


async def test_however_it_is_asked_another_s_is_unknown(tmp_path: Path, diary: Path):
    async with Assay(load(search={"offline": True}), home=tmp_path / "home") as assay:
        ana, bob = assay.owned_by("ana"), assay.owned_by("bob")
        run_id = await finished(ana, sources=[str(diary)], thread="harbor")
        await ana.add(diary, "papers")
        (document,) = await ana.documents("papers")
        added = await ana.begin_add(diary, "papers")
        await _all(ana.follow_addition(added.id))
        job = await ana.begin_job(SyncJob(collection="papers"))
        before = (await ana.view(run_id), await ana.thread("harbor"), await ana.documents("papers"))
        references = (
            run_id,
            run_id[:5],
            "last",
            "harbor",
            added.id,
            job.id,
            document.sha256,
            document.name,
            document.url,
        )
        for reference in references:
            for name, call in _named(bob, reference).items():
                with pytest.raises(UnknownName) as raised:
                    await call()  # type: ignore[misc]
                assert run_id not in str(raised.value).replace(reference, ""), name
        assert before == (await ana.view(run_id), await ana.thread("harbor"), await ana.documents("papers"))
