"""What every journal keeps of the promises in `core.ports.Journal`: what is written, and how it comes back."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from journals import AT, begin, commit_of, draft, hold, row, seqs, step

from assay.core.errors import FenceLost, UnknownName
from assay.core.events import Envelope
from assay.core.ports import (
    Commit,
    EventDraft,
    EventKey,
    Lease,
    LedgerRow,
    StepRecord,
)


async def test_load_gives_all_that_was_committed(journal, other):
    lease = await begin(journal)
    await journal.commit(
        lease,
        Commit(
            events=(draft("e1", step="s", attempt=1), draft("e2")),
            steps=(step("s2", b'{"b":2}', "reply/1"), step("s1")),
            holds=(hold("b", 10), hold("a", 5, "settled")),
            ledger=(row("S1002"), row("S1001", b'{"x":1}', lane=2)),
            status="running",
            active_seconds=1.5,
        ),
    )
    memory = await other.load("r1")

    assert memory.brief == b'{"question":"q"}'
    assert (memory.status, memory.fence, memory.active_seconds) == ("running", 1, 1.5)
    assert memory.steps == {"s1": step("s1"), "s2": step("s2", b'{"b":2}', "reply/1")}
    assert memory.events == (
        EventKey(seq=1, key="created", step="", attempt=0),
        EventKey(seq=2, key="e1", step="s", attempt=1),
        EventKey(seq=3, key="e2", step="", attempt=0),
    )
    assert memory.holds == (hold("a", 5, "settled"), hold("b", 10))
    assert memory.ledger == (row("S1002"), row("S1001", b'{"x":1}', lane=2))


async def test_load_and_all_other_reads_of_an_unknown_run_say_so(journal):
    for call in (
        journal.load("no"),
        journal.events("no"),
        journal.inbox("no", "t"),
        journal.post("no", "t", b""),
        journal.control("no", "finish"),
    ):
        with pytest.raises(UnknownName):
            await call


async def test_what_a_commit_leaves_out_stays(journal):
    lease = await begin(journal)
    await journal.commit(lease, Commit(status="running", active_seconds=2.0))
    await journal.commit(lease, Commit(steps=(step("s"),)))
    memory = await journal.load("r1")
    assert (memory.status, memory.active_seconds) == ("running", 2.0)
    assert await journal.commit(lease, Commit()) == ()


async def test_steps_holds_and_ledger_rows_are_replaced_by_later_ones(journal):
    lease = await begin(journal)
    first = Commit(steps=(step("s", b"1"),), holds=(hold("s", 9),), ledger=(row("S1001", b"1"), row("S1002", b"2")))
    await journal.commit(lease, first)
    again = Commit(steps=(step("s", b"2"),), holds=(hold("s", 3, "settled"),), ledger=(row("S1001", b"3", lane=4),))
    await journal.commit(lease, again)

    memory = await journal.load("r1")
    assert memory.steps == {"s": step("s", b"2")}
    assert memory.holds == (hold("s", 3, "settled"),)
    assert memory.ledger == (row("S1001", b"3", lane=4), row("S1002", b"2"))


async def test_a_ledger_id_is_unique_within_its_kind(journal):
    lease = await begin(journal)
    page = LedgerRow(kind="page", id="x", lane=1, data=b"1")
    query = LedgerRow(kind="query", id="x", lane=1, data=b"2")
    await journal.commit(lease, Commit(ledger=(page, query)))
    assert (await journal.load("r1")).ledger == (page, query)


async def test_commits_are_enqueued_in_call_order(journal):
    lease = await begin(journal)
    pending = [journal.commit(lease, commit_of(f"a{n}", f"b{n}")) for n in range(50)]
    for n, awaitable in reversed(list(enumerate(pending))):
        assert [event.seq for event in await awaitable] == [2 + 2 * n, 3 + 2 * n]
    assert [key.key for key in (await journal.load("r1")).events][1:5] == ["a0", "b0", "a1", "b1"]


async def test_numbers_have_no_gap_under_200_concurrent_commits(journal):
    lease = await begin(journal)

    async def work(n: int) -> tuple[Envelope, ...]:
        await asyncio.sleep(0.0001 * (n % 7))
        size = n % 4
        commit = Commit(events=tuple(draft(f"{n}/{k}") for k in range(size)), steps=(step(f"s{n}"),) if n % 3 else ())
        return await journal.commit(lease, commit)

    answers = await asyncio.gather(*(work(n) for n in range(200)))

    taken = [event.seq for answer in answers for event in answer]
    assert sorted(taken) == list(range(2, 302))
    assert await seqs(journal) == list(range(1, 302))
    for answer in answers:
        numbers = [event.seq for event in answer]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else True
    assert (await journal.find("r1")).last_seq == 301
    assert len((await journal.load("r1")).steps) == len([n for n in range(200) if n % 3])


async def test_runs_are_numbered_apart(journal):
    leases = [await begin(journal, f"r{n}") for n in range(3)]
    await asyncio.gather(*(journal.commit(lease, commit_of(f"k{n}")) for n in range(20) for lease in leases))
    for n in range(3):
        assert await seqs(journal, f"r{n}") == list(range(1, 22))


async def test_a_lost_fence_fails_its_commit_alone_and_whole(journal):
    mine, theirs = await begin(journal, "mine"), await begin(journal, "theirs")
    new = await journal.acquire("theirs", theirs.holder, 30)
    everything = Commit(
        events=(draft("late"),),
        steps=(step("late"),),
        holds=(hold("late", 1),),
        ledger=(row("S9001"),),
        status="failed",
        active_seconds=99.0,
    )
    answers = await asyncio.gather(
        journal.commit(mine, Commit(steps=(step("a"),), events=(draft("a"),))),
        journal.commit(theirs, everything),
        journal.commit(new, commit_of("b")),
        journal.commit(mine, commit_of("c")),
        return_exceptions=True,
    )
    assert isinstance(answers[1], FenceLost)
    assert [[event.seq for event in answers[n]] for n in (0, 2, 3)] == [[2], [2], [3]]
    memory = await journal.load("theirs")
    assert [key.key for key in memory.events] == ["created", "b"]
    assert (memory.steps, memory.holds, memory.ledger) == ({}, (), ())
    assert (memory.status, memory.active_seconds) == ("created", 0.0)


async def test_a_commit_to_a_run_that_is_not_there_has_lost_its_fence(journal):
    with pytest.raises(FenceLost):
        await journal.commit(Lease(run_id="no", fence=1, holder="me"), commit_of("a"))


async def test_a_key_is_stored_once_without_a_gap(journal):
    lease = await begin(journal)
    assert [event.seq for event in await journal.commit(lease, commit_of("a", "a", "b"))] == [2, 3]
    again = await journal.commit(lease, commit_of("b", "c", "created", "d"))
    assert [event.seq for event in again] == [4, 5]
    assert [key.key for key in (await journal.load("r1")).events] == ["created", "a", "b", "c", "d"]
    assert (await journal.find("r1")).last_seq == 5


async def test_a_repeated_key_among_commits_that_wait_together(journal):
    lease, apart = await begin(journal), await begin(journal, "r2")
    pending = [
        journal.commit(lease, commit_of("a")),
        journal.commit(apart, commit_of("a")),
        journal.commit(lease, Commit(events=(draft("a", "other"), draft("b")), steps=(step("s"),))),
        journal.commit(apart, commit_of("b")),
    ]
    answers = await asyncio.gather(*pending)
    assert [[event.seq for event in answer] for answer in answers] == [[2], [2], [3], [3]]
    assert (await journal.events("r1"))[1].data == msgspec.Raw(b'{"text":"x"}')


async def test_who_stops_waiting_does_not_stop_the_commit(journal):
    lease = await begin(journal)
    waiting = asyncio.ensure_future(journal.commit(lease, commit_of("a")))
    waiting.cancel()
    await journal.commit(lease, commit_of("b"))
    assert [key.key for key in (await journal.load("r1")).events] == ["created", "a", "b"]


async def test_waiting_for_a_commit_lets_others_go_on(journal):
    lease = await begin(journal)
    rounds = 0

    async def count() -> None:
        nonlocal rounds
        while True:
            rounds += 1
            await asyncio.sleep(0)

    counting = asyncio.ensure_future(count())
    for n in range(20):
        await journal.commit(lease, Commit(steps=(step(f"s{n}"),)))
    counting.cancel()
    assert rounds >= 20


async def test_events_alone_do_not_wait_long_for_company(journal):
    lease = await begin(journal)
    async with asyncio.timeout(60):
        written = await journal.commit(lease, commit_of("a"))
    assert [envelope.type for envelope in written] == [commit_of("a").events[0].type]


async def test_data_comes_back_to_the_byte(journal):
    lease = await begin(journal)
    data = '{"text":"naïve 😀 中文 \\u0000 \\ud83d\\ude00"}'.encode()
    event = EventDraft(key="k 😀", path=("a", "b/c", "é"), type="think.delta", data=data, at=AT)
    odd = StepRecord(key="s/é#1", input_hash="", tag="t/1", data=bytes(range(256)))
    await journal.commit(lease, Commit(events=(event,), steps=(odd,)))
    stored = (await journal.events("r1", after=1))[0]
    assert (bytes(stored.data), stored.path) == (data, ("a", "b/c", "é"))
    assert (await journal.load("r1")).steps == {"s/é#1": odd}


async def test_closing_writes_what_waits(stores, journal, other):
    lease = await begin(journal)
    pending = [journal.commit(lease, commit_of(f"k{n}")) for n in range(10)]
    await journal.close()
    assert [len(await awaitable) for awaitable in pending] == [1] * 10
    if stores.one is not stores.two:
        assert await seqs(other) == list(range(1, 12))
