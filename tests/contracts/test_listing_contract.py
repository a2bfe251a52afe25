"""What every journal keeps of the promises in `core.ports.Listing`."""

from __future__ import annotations

import functools
import operator

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay.core.errors import LeaseHeld, UnknownName, UsageError
from assay.core.events import ModelAttempted, encode
from assay.core.ports import Commit, EventDraft, Journal, ModelUsage, RunFilter, RunPage, ThreadPage
from assay.core.usage import Usage


def draft(at: str) -> EventDraft:
    return EventDraft(key="created", path=(), type="run.created", data=b"{}", at=at)


async def begin(journal: Journal, run_id: str, question: str = "", thread: str = "", day: int = 1) -> None:
    at = f"2026-11-{day:02d}T08:00:00.000Z"
    await journal.create(run_id, question or f"About {run_id}?", b"{}", [draft(at)], thread)


async def end(journal: Journal, run_id: str) -> None:
    lease = await journal.acquire(run_id, "host:1", 30)
    await journal.commit(lease, Commit(status="completed"))
    await journal.release(lease)


def ids(page: RunPage) -> list[str]:
    return [row.run_id for row in page.rows]


def names(page: ThreadPage) -> list[str]:
    return [row.name for row in page.rows]


async def every_page(journal: Journal, limit: int) -> list[list[str]]:
    pages, before = [], None
    while True:
        page = await journal.page(RunFilter(), limit, before)
        pages.append(ids(page))
        if page.next is None:
            return pages
        before = page.next


@pytest.fixture
def ana(stores) -> Journal:
    return stores.one.journal.owned_by("ana")


@pytest.fixture
def bob(stores) -> Journal:
    return stores.two.journal.owned_by("bob")


async def test_an_empty_list_ends_at_once(ana):
    assert await every_page(ana, 3) == [[]]
    assert await ana.threads() == ThreadPage([], None)


async def test_pages_are_whole_and_stand_still(ana, bob):
    for number in range(7):
        await begin(ana if number % 2 == 0 else bob, f"r{number}")
    first = await ana.page(RunFilter(), 2)
    assert ids(first) == ["r6", "r4"]
    await begin(ana, "r7")
    second = await ana.page(RunFilter(), 2, first.next)
    assert (ids(second), second.next) == (["r2", "r0"], None)
    assert await every_page(ana, 2) == [["r7", "r6"], ["r4", "r2"], ["r0"]]
    assert await every_page(bob, 3) == [["r5", "r3", "r1"]]
    await ana.delete("r4")  # where the next page would begin
    assert ids(await ana.page(RunFilter(), 2, first.next)) == ["r2", "r0"]


async def test_runs_are_filtered(ana):
    await begin(ana, "r1", "How high is the Signal  TOWER?", day=1)
    await begin(ana, "r2", "When was the tower built?", thread="tower", day=2)
    await begin(ana, "r3", "Wie groß ist 100%?", thread="tower", day=3)
    await end(ana, "r3")
    for run_id, named in (("r4", ["tides", "100%_"]), ("r5", ["ana/tides", "tides"])):
        brief = msgspec.json.encode({"scope": {"collections": named}})
        await ana.create(run_id, "Sea?", brief, [draft("2026-10-01T08:00:00.000Z")], "sea")
    for wanted, found in (
        (RunFilter(until="2026-11"), ["r5", "r4"]),
        (RunFilter(since="2026-11"), ["r3", "r2", "r1"]),
        (RunFilter(text=" signal tower"), ["r1"]),
        (RunFilter(text="GROSS"), ["r3"]),
        (RunFilter(text="0%"), ["r3"]),
        (RunFilter(text="_"), []),
        (RunFilter(status=("completed", "failed")), ["r3"]),
        (RunFilter(status=("created",), text="tower"), ["r2", "r1"]),
        (RunFilter(since="2026-11-02"), ["r3", "r2"]),
        (RunFilter(since="2026-11-02", until="2026-11-03"), ["r2"]),
        (RunFilter(thread="tower"), ["r3", "r2"]),
        (RunFilter(thread="towe"), []),
        (RunFilter(collection="tides"), ["r5", "r4"]),
        (RunFilter(collection="100%_"), ["r4"]),
        (RunFilter(collection="ana/tides", thread="sea"), ["r5"]),
        (RunFilter(collection="tide"), []),
        (RunFilter(collection="%"), []),
    ):
        assert ids(await ana.page(wanted, 10)) == found, wanted


async def test_labels_are_given_taken_and_looked_for(ana, bob):
    brief = msgspec.json.encode({"labels": {"team": "ports", 'a"b': ',"starred":'}})
    await ana.create("r1", "Sea?", brief, [draft("2026-11-01T08:00:00.000Z")])
    await begin(ana, "r2")
    await begin(ana, "r3")
    assert await ana.label("r2", {"starred": "", "team": "Ports"}) == {"starred": "", "team": "Ports"}
    assert await ana.label("r3", {"x=y": "%", "starred": ""}, ["none"]) == {"x=y": "%", "starred": ""}
    assert await ana.label("r3", {}, ["starred"]) == {"x=y": "%"}
    rows = {row.run_id: row.labels for row in (await ana.page(RunFilter(), 10)).rows}
    assert rows["r1"] == {"team": "ports", 'a"b': ',"starred":'}
    for label, found in (
        ("team", ["r2", "r1"]),
        ("team=ports", ["r1"]),
        ("team=port", []),
        ("starred", ["r2"]),
        ("starred=", ["r2"]),
        ("x=y", ["r3"]),
        ("b", []),
        ("%", []),
    ):
        assert ids(await ana.page(RunFilter(label=label), 10)) == found, label
        others = [run_id for run_id in ("r3", "r2", "r1") if run_id not in found]
        assert ids(await ana.page(RunFilter(not_label=label), 10)) == others, label
    assert ids(await ana.page(RunFilter(label="team", not_label="starred"), 10)) == ["r1"]
    assert ids(await bob.page(RunFilter(label="team"), 10)) == []
    with pytest.raises(UnknownName):
        await bob.label("r1", {"mine": ""})
    for wrong in ({"": "x"}, {"a\nb": "x"}, {"a": "x" * 513}, {str(n): "" for n in range(51)}):
        with pytest.raises(UsageError):
            await ana.label("r2", wrong)
    assert (await ana.find("r2")).labels == {"starred": "", "team": "Ports"}


async def test_threads_stand_by_their_latest_run(ana, bob):
    await begin(ana, "r1", "First?", "a", day=1)
    await begin(ana, "r2", "Second?", "b", day=2)
    await begin(bob, "r3", "Other?", "a", day=3)
    await begin(ana, "r4", "Third?", "a", day=4)
    await begin(ana, "r5", "Alone?", day=5)
    await end(ana, "r4")
    page = await ana.threads()
    assert names(page) == ["a", "b"]
    row = page.rows[0]
    assert (row.question, row.runs, row.last_run, row.status, row.owner) == ("First?", 2, "r4", "completed", "ana")
    assert (row.created_at[:10], row.last_at[:10]) == ("2026-11-01", "2026-11-04")
    assert names(await bob.threads()) == ["a"]
    assert (await bob.threads()).rows[0].runs == 1


async def test_pages_of_threads_stand_still_while_runs_come(ana):
    for number in range(5):
        await begin(ana, f"r{number}", thread=f"t{number}")
    first = await ana.threads(limit=2)
    assert names(first) == ["t4", "t3"]
    await begin(ana, "late", thread="t0")  # would be the first now
    await begin(ana, "new", thread="t9")
    second = await ana.threads(limit=2, position=first.next)
    third = await ana.threads(limit=2, position=second.next)
    assert (names(second), names(third), third.next) == (["t2", "t1"], ["t0"], None)
    assert names(await ana.threads()) == ["t9", "t0", "t4", "t3", "t2", "t1"]


async def test_the_run_a_thread_began_with_is_part_of_it(ana, bob):
    await begin(ana, "r1", "Begun?")
    await begin(bob, "r2", "Mine?", "r1")  # his own thread, which happens to be called so
    assert (await ana.threads()).rows == []
    await begin(ana, "r3", "And then?", "r1")
    (row,) = (await ana.threads()).rows
    assert (row.name, row.runs, row.question) == ("r1", 2, "Begun?")
    assert ids(await ana.page(RunFilter(thread="r1"), 10)) == ["r3", "r1"]
    assert (await bob.thread("r1")).runs == 1


async def test_threads_are_found_and_called_otherwise(ana, bob):
    await begin(ana, "r1", "How high is the tower?", "thread-one")
    await begin(ana, "r2", "When?", "thread-two")
    await begin(bob, "r3", "How high is the tower?", "bobs")
    assert names(await ana.threads("TOWER")) == ["thread-one"]
    await ana.rename("thread-two", "The Süd  pier")
    assert names(await ana.threads("süd pier")) == ["thread-two"]
    assert (await ana.thread("thread-two")).title == "The Süd  pier"
    assert (await ana.thread("The Süd  pier")).name == "thread-two"
    assert (await ana.thread("thread-o")).name == "thread-one"
    for reference in ("thread", "bobs", "", "tower"):
        with pytest.raises(UnknownName) as raised:
            await ana.thread(reference)
        assert "'bobs'" not in str(raised.value).partition("called")[2]
    with pytest.raises(UnknownName):
        await ana.rename("bobs", "Hers")
    assert (await bob.thread("bobs")).title == ""


async def test_a_thread_is_deleted_with_its_runs(ana, bob, stores):
    await begin(ana, "r1")
    await begin(ana, "r2", thread="r1")
    await begin(ana, "r3", thread="other")
    await begin(bob, "r4", thread="r1")
    lease = await ana.acquire("r2", "host:1", 30)
    with pytest.raises(LeaseHeld):
        await ana.delete_thread("r1")
    assert len((await ana.page(RunFilter(), 9)).rows) == 3
    assert await ana.delete_thread("r1", {"host:1"}) == ("r1", "r2")
    await ana.release(lease)
    assert names(await ana.threads()) == ["other"]
    assert ids(await ana.page(RunFilter(), 9)) == ["r3"]
    assert names(await bob.threads()) == ["r1"]
    with pytest.raises(UnknownName):
        await ana.delete_thread("r1")


async def test_a_thread_without_runs_is_gone_with_its_title(ana):
    await begin(ana, "r1", thread="t")
    await ana.rename("t", "Title")
    await ana.delete("r1")
    with pytest.raises(UnknownName):
        await ana.thread("t")
    await begin(ana, "r2", thread="t")
    assert (await ana.thread("t")).title == ""


async def test_who_knows_all_lists_all(stores, ana, bob):
    await begin(ana, "r1", thread="t")
    await begin(bob, "r2", thread="t")
    every = stores.two.journal
    assert ids(await every.page(RunFilter(), 9)) == ["r2", "r1"]
    assert [(row.name, row.owner) for row in (await every.threads()).rows] == [("t", "bob"), ("t", "ana")]


@settings(max_examples=scaled(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(limit=st.integers(1, 9), begun=st.lists(st.sampled_from(["ana", "bob"]), max_size=3))
async def test_read_page_by_page_nothing_is_missed_or_twice(stores, limit: int, begun: list[str]):
    journal = stores.one.journal
    have = {owner: [row.run_id for row in await journal.owned_by(owner).runs(10_000)] for owner in ("ana", "bob")}
    for owner in begun:
        run_id = f"x{sum(map(len, have.values()))}"
        await begin(journal.owned_by(owner), run_id, thread=run_id)
        have[owner].insert(0, run_id)
    for owner, runs in have.items():
        view = journal.owned_by(owner)
        assert functools.reduce(operator.iadd, await every_page(view, limit), []) == runs
        found, place = [], None
        while True:
            page = await view.threads(limit=limit, position=place)
            found += names(page)
            place = page.next
            if place is None:
                break
        assert found == runs


async def test_what_was_used_is_told_by_user_and_model(stores, ana, bob):
    def attempt(key: str, model: str, tokens: int) -> EventDraft:
        event = ModelAttempted(
            role="simple",
            task="t",
            model=model,
            attempt=1,
            outcome="ok",
            usage=Usage(model_calls=1, input_tokens=tokens),
        )
        return EventDraft(key=key, path=(), type=event.kind, data=encode(event), at="2026-11-01T08:00:00.000Z")

    for journal, run_id, day, used in (
        (ana, "r1", 1, [("m", 5), ("m", 2), ("n", 1)]),
        (ana, "r2", 2, [("m", 10)]),
        (bob, "r3", 2, [("m", 100)]),
    ):
        await begin(journal, run_id, day=day)
        lease = await journal.acquire(run_id, "host:1", 30)
        drafts = tuple(attempt(f"k{place}", *each) for place, each in enumerate(used))
        await journal.commit(lease, Commit(events=drafts))

    def rows(found: list[ModelUsage]) -> list[tuple[str, str, int, int, int]]:
        return [(row.owner, row.model, row.runs, row.usage.model_calls, row.usage.input_tokens) for row in found]

    assert rows(await ana.usage()) == [("ana", "m", 2, 3, 17), ("ana", "n", 1, 1, 1)]
    assert rows(await ana.usage(since="2026-11-02")) == [("ana", "m", 1, 1, 10)]
    assert rows(await stores.two.journal.usage(until="2026-11-02")) == [("ana", "m", 1, 2, 7), ("ana", "n", 1, 1, 1)]
    assert rows(await stores.two.journal.usage("2026-11-02")) == [("ana", "m", 1, 1, 10), ("bob", "m", 1, 1, 100)]
    by_day = await stores.two.journal.owned_by(None).usage(daily=True)
    assert [(row.day, row.owner, row.model, row.usage.input_tokens) for row in by_day] == [
        ("2026-11-01", "ana", "m", 7),
        ("2026-11-01", "ana", "n", 1),
        ("2026-11-02", "ana", "m", 10),
        ("2026-11-02", "bob", "m", 100),
    ]


async def test_runs_are_counted_by_status(stores, ana, bob):
    await begin(ana, "r1")
    await begin(ana, "r2")
    await begin(bob, "r3")
    await end(ana, "r2")
    assert await ana.counts() == {"created": 1, "completed": 1}
    assert await stores.one.journal.owned_by(None).counts() == {"created": 2, "completed": 1}
    assert await stores.one.journal.owned_by("cleo").counts() == {}
