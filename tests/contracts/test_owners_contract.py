"""What every store keeps of the promise that one user's things are unknown to another."""

from __future__ import annotations

import pytest
from shelf import hashes, names, pair

from assay.core.errors import Overtaken, UnknownName, UsageError
from assay.core.ports import Allowance, DocumentMove, EventDraft, FileStamp, Origin, RunInputs
from assay.core.ports.store import Store

RUNS = {"a1": "ana", "a2": "ana", "b1": "bob", "l1": ""}


def draft(key: str = "created", at: str = "2026-11-23T08:00:00.000Z") -> EventDraft:
    return EventDraft(key=key, path=(), type="run.created", data=b"{}", at=at)


@pytest.fixture
async def shared(stores) -> Store:
    """A store in which three have runs, in a thread of the same name."""
    for run_id, owner in RUNS.items():
        journal = stores.one.journal.owned_by(owner)
        await journal.create(run_id, f"of {owner}", b'{"budget":{}}', [draft()], thread="talk")
    return stores.two


# runs


async def test_lists_hold_ones_own_runs(shared):
    for owner in ("ana", "bob", "", "nobody"):
        mine = [run_id for run_id in reversed(RUNS) if RUNS[run_id] == owner]
        journal = shared.journal.owned_by(owner)
        assert [row.run_id for row in await journal.runs()] == mine
        assert {row.owner for row in await journal.runs()} <= {owner}
        assert set(await journal.rows(list(RUNS))) == set(mine)
        assert [each.run_id for each in await journal.spending()] == mine
        latest = await journal.latest("talk")
        assert (latest and latest.run_id) == (mine[0] if mine else None)
    assert [row.run_id for row in await shared.journal.runs()] == list(reversed(RUNS))


async def test_another_s_run_is_unknown_however_it_is_named(shared):
    bob = shared.journal.owned_by("bob")
    assert (await bob.find("last")).run_id == "b1"
    assert (await bob.find("b")).run_id == "b1"
    for reference in ("a1", "a", "l1", "l", ""):
        with pytest.raises(UnknownName) as raised:
            await bob.find(reference)
        assert not {"a1", "a2", "l1"} & set(str(raised.value).replace(",", " ").replace(")", " ").split()[2:])
    with pytest.raises(UnknownName):
        await shared.journal.owned_by("nobody").find("last")


async def test_another_s_run_is_neither_read_nor_changed(shared):
    bob = shared.journal.owned_by("bob")
    for call in (
        lambda: bob.load("a1"),
        lambda: bob.events("a1"),
        lambda: bob.inbox("a1", "answers"),
        lambda: bob.control("a1", "cancel"),
        lambda: bob.post("a1", "answers", b"[]"),
        lambda: bob.acquire("a1", "host:1", 30),
        lambda: bob.delete("a1"),
    ):
        with pytest.raises(UnknownName):
            await call()
    ana = shared.journal.owned_by("ana")
    assert (await ana.load("a1")).fence == 0
    assert await ana.inbox("a1", "answers") == []
    lease = await ana.acquire("a1", "host:1", 30)
    assert (await ana.renew(lease, 30)).action == ""


async def test_an_allowance_counts_all_owners(shared):
    within = RunInputs(within=(Allowance(since="2026-11-23", usd=1.0),))
    brief = b'{"budget":{"usd":0.7}}'
    await shared.journal.owned_by("ana").create("a3", "q", brief, [draft()], inputs=within)
    with pytest.raises(Overtaken):
        await shared.journal.owned_by("bob").create("b3", "q", brief, [draft()], inputs=within)


async def test_the_queue_shows_ones_own(shared):
    if shared.queue is None:
        pytest.skip("the memory store has no queue")
    for run_id, owner in RUNS.items():
        await shared.queue.owned_by(owner).enqueue(run_id, owner)
    bob = shared.queue.owned_by("bob")
    assert [run.run_id for run in await bob.list_runs()] == ["b1"]
    with pytest.raises(UnknownName):
        await bob.enqueue("a1")
    assert not await bob.wake("a1")
    await bob.remove("a1")
    assert {run.run_id for run in await shared.queue.list_runs()} == set(RUNS)


# documents


@pytest.fixture
def libraries(stores):
    """The same library as three know it."""
    return [stores.one.library.owned_by("ana"), stores.two.library.owned_by("bob"), stores.two.library.owned_by("")]


def test_another_s_documents_are_unknown(libraries):
    ana, bob, local = libraries
    ana.add([pair("tide")], "papers", [FileStamp(path="/a", size=1, mtime_ns=1, documents=tuple(hashes("tide")))])
    ana.add_origins("papers", [Origin(place="/a", kind="files")])
    (sha,) = hashes("tide")
    snapshot = pair("tide")[0].sha256
    for other in (bob, local):
        assert other.document(sha) is None
        assert other.existing_documents([sha]) == set()
        assert other.snapshot(snapshot) is None
        assert other.stamps(["/a"]) == {}
        assert other.collections() == []
        assert other.origins("papers") == []
        assert other.origins("ana/papers") == []
        assert other.documents(["papers", "ana/papers"]) == []
        assert other.count(["ana/papers"]) == 0
        assert other.find(sha, ["papers", "ana/papers"]) == []
        assert other.members(["ana/papers"]) == set()
        assert other.summary(["ana/papers"]).documents == 0
        assert other.documents_at([1]) == {}
        assert other.documents_after(0, 10) == []
        assert other.private_among(["papers", "ana/papers"], [sha]) == []
        with pytest.raises(UnknownName):
            other.include([sha], "mine")
        with pytest.raises(UnknownName):
            other.collection_for([sha])
    assert names(ana.documents(["papers"])) == ["tide"]
    assert ana.snapshot(snapshot) == pair("tide")[0]


def test_only_one_s_own_documents_are_moved(libraries):
    ana, bob, local = libraries
    for each in (ana, local):
        each.add([pair("tide", url="file:///a/tide")], "papers")
    ana.share("papers", open=True)
    (sha,) = hashes("tide")
    move = DocumentMove(sha256=sha, before="file:///a/tide", url="file:///b/tide", name="tide")
    assert bob.stored_places([sha]) == {}
    bob.add([], "mine", (), [move])
    assert [each.document(sha).url for each in (ana, local)] == ["file:///a/tide"] * 2
    ana.add([], "papers", (), [move])
    assert [each.document(sha).url for each in libraries] == ["file:///b/tide"] * 2 + ["file:///a/tide"]


def test_each_has_his_own_of_the_same_text_and_the_same_name(libraries):
    ana, bob, local = libraries
    ana.add([pair("tide", url="file:///home/ana/secret.txt", title="Ana's")], "papers")
    bob.add([pair("tide", url="https://example.org/tide", title="Bob's")], "papers")
    local.add([pair("ebb")], "papers")
    (sha,) = hashes("tide")
    assert [each.document(sha).title for each in (ana, bob)] == ["Ana's", "Bob's"]
    assert [[found.title for found in each.documents_by_hash([sha])] for each in (ana, bob)] == [["Ana's"], ["Bob's"]]
    assert [names(each.documents(["papers"])) for each in libraries] == [["tide"], ["tide"], ["ebb"]]
    bob.drop("papers")
    assert [each.count(["papers"]) for each in libraries] == [1, 0, 1]
    assert bob.document(sha).title == "Bob's"


def test_who_may_read_a_collection(libraries, stores):
    ana, bob, local = libraries
    ana.add([pair("tide")], "papers")
    ana.add_origins("papers", [Origin(place="/home/ana", kind="files")])
    (sha,) = hashes("tide")
    ana.share("papers", open=False, readers=["bob", "cleo"])
    assert names(bob.documents(["ana/papers"])) == ["tide"]
    assert bob.find("tide", ["ana/papers"]) != []
    assert bob.document(sha) is not None
    assert bob.existing_documents([sha]) == {sha}
    assert bob.snapshot(pair("tide")[0].sha256) is not None
    (row,) = bob.collections()
    assert (row.name, row.owner, row.readers, row.origins, row.documents) == ("ana/papers", "ana", (), 0, 1)
    assert ana.collections()[0].readers == ("bob", "cleo")
    assert ana.collections()[0].name == "papers"
    assert local.collections() == []
    assert local.document(sha) is None
    assert local.existing_documents([sha]) == set()

    ana.share("papers", open=True)
    assert names(local.documents(["ana/papers"])) == ["tide"]
    ana.share("papers", open=False)
    assert bob.documents(["ana/papers"]) == []
    assert local.document(sha) is None
    with pytest.raises(UnknownName):
        ana.share("nothing", open=True)


def test_another_s_collection_is_read_and_not_changed(libraries):
    ana, bob, _ = libraries
    ana.add([pair("tide")], "papers")
    ana.share("papers", open=True)
    for change in (
        lambda: bob.add([pair("ebb")], "ana/papers"),
        lambda: bob.include(hashes("tide"), "ana/papers"),
        lambda: bob.mark("ana/papers", private=True),
        lambda: bob.remove(hashes("tide"), "ana/papers"),
        lambda: bob.drop("ana/papers"),
        lambda: bob.add_origins("ana/papers", []),
        lambda: bob.forget_origins("ana/papers", ["/a"]),
        lambda: bob.share("ana/papers", open=False),
    ):
        with pytest.raises(UsageError, match="another user's"):
            change()
    assert names(ana.documents(["papers"])) == ["tide"]
    with pytest.raises(UsageError, match="a new collection cannot be called 'cleo/papers'"):
        bob.add([pair("ebb")], "cleo/papers")


def test_what_was_taken_over_stays_readable(libraries):
    ana, bob, _ = libraries
    ana.add([pair("tide", title="Ana's")], "papers")
    ana.mark("papers", private=True)
    ana.share("papers", open=False, readers=["bob"])
    bob.include(hashes("tide"), "unsorted")
    ana.share("papers", open=False)
    assert bob.document(*hashes("tide")).title == "Ana's"
    assert bob.private_among([], hashes("tide")) == ["ana/papers"]  # what is private stays so
    assert bob.documents(["ana/papers"]) == []


def test_what_one_has_and_is_shown_is_found_once(libraries):
    ana, bob, _ = libraries
    ana.add([pair("tide", title="Ana's")], "papers")
    ana.share("papers", open=True)
    bob.add([pair("tide", title="Bob's")], "mine")
    assert [each.title for each in bob.find("tide", ["mine", "ana/papers"])] == ["Bob's"]
    assert bob.document(*hashes("tide")).title == "Bob's"


def test_who_knows_all_calls_each_by_its_owner(libraries, stores):
    ana, _, local = libraries
    every = stores.one.library
    for each in libraries:
        each.add([pair("tide")], "papers")
    local.add([pair("ebb")], "old/name")  # made when there was one user only
    assert [row.name for row in every.collections()] == ["/old/name", "ana/papers", "bob/papers", "papers"]
    assert [each.resolve_names(["papers", "none"]) for each in libraries] == [
        ("ana/papers",),
        ("bob/papers",),
        ("/papers",),
    ]
    assert local.resolve_names(["old/name"]) == ("/old/name",)
    for name in ("/papers", "papers", "ana/papers", "bob/papers", "/old/name"):
        assert every.count([name]) == 1, name
    stores.one.library.owned_by("old").add([pair("flood")], "name")
    stores.one.library.owned_by("old").share("name", open=True)
    assert names(local.documents(["old/name"])) == ["ebb"]  # his own before another's
    assert names(ana.documents(["old/name"])) == ["flood"]
    assert names(every.documents(["old/name"])) == ["flood"]
