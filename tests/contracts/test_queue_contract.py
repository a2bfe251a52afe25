"""The queue: whose turn it is, limits, and what becomes of the runs of a worker which is silent."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from journals import draft
from queues import ANY, TTL, claims_locked, put, taken
from waiting import until

from assay.core.errors import FenceLost, StoreError, UnknownName
from assay.core.ports import Commit, Queue, QueueLimits, QueuePlace, RunInputs
from assay.core.ports.jobs import QUEUE_NEWS, QueueDepth
from assay.store.sql import postgres

# What is in memory is no other process's, and has no queue.
pytestmark = pytest.mark.parametrize("stores", ["sqlite", "postgres"], indirect=True)


@pytest.fixture
def queue(stores) -> Queue:
    return stores.one.queue


async def test_first_come_first_served_and_each_run_once(stores, queue: Queue) -> None:
    await put(stores.one, "a", "b", "c")
    lease = await queue.claim("w1", TTL, ANY)
    assert (lease.run_id, lease.fence, lease.holder) == ("a", 1, "w1")
    assert await taken(stores.two.queue, "w2") == ["b", "c"]
    assert await queue.claim("w1", TTL, ANY) is None


async def test_a_run_may_be_queued_by_the_transaction_which_stores_it(stores, queue: Queue) -> None:
    place = QueuePlace(user="ann", priority=3, release="9.9")
    await put(stores.one, "usual")
    await stores.one.journal.create("soon", "question", b"{}", [draft("created")], inputs=RunInputs(place=place))
    first = (await queue.list_runs())[0]
    assert (first.run_id, first.user, first.priority, first.release, first.ready) == ("soon", "ann", 3, "9.9", True)
    assert (await stores.one.journal.find("soon")).queued
    assert await taken(stores.two.queue) == ["soon", "usual"]


async def test_a_run_which_could_not_be_stored_is_not_queued_either(stores, queue: Queue) -> None:
    await stores.one.journal.create("a", "question", b"{}", [draft("created")])
    with pytest.raises(StoreError):
        await stores.one.journal.create("a", "again", b"{}", [draft("created")], inputs=RunInputs(place=QueuePlace()))
    assert await queue.list_runs() == []


async def test_the_highest_priority_goes_first(stores, queue: Queue) -> None:
    await put(stores.one, "later", priority=-1)
    await put(stores.one, "usual", "usual-2")
    await put(stores.one, "soon", priority=5)
    assert [run.run_id for run in await queue.list_runs()] == ["soon", "usual", "usual-2", "later"]
    assert await taken(queue) == ["soon", "usual", "usual-2", "later"]


async def test_users_take_turns(stores, queue: Queue) -> None:
    await put(stores.one, *(f"a{n}" for n in range(4)), user="ann")
    await put(stores.one, "b0", "b1", user="bob")
    assert await taken(queue) == ["a0", "b0", "a1", "b1", "a2", "a3"]


async def test_limits_hold_for_all_workers_together(stores, queue: Queue) -> None:
    await put(stores.one, *(f"a{n}" for n in range(5)), user="ann")
    await put(stores.one, *(f"b{n}" for n in range(5)), user="bob")
    limits = QueueLimits(running=5, per_user=2)
    found = await taken(queue, "w1", limits) + await taken(stores.two.queue, "w2", limits)
    assert Counter(run[0] for run in found) == {"a": 2, "b": 2}
    more = await taken(stores.two.queue, "w2", QueueLimits(running=5))
    assert len(more) == 1


async def test_a_silent_workers_run_is_claimed_again_and_it_writes_no_more(stores, queue: Queue) -> None:
    await put(stores.one, "a")
    old = await queue.claim("w1", TTL, ANY)
    await stores.one.journal.commit(old, Commit(status="running"))
    assert await stores.two.queue.claim("w2", TTL, ANY) is None
    stores.wall.seconds += TTL + 0.1
    new = await stores.two.queue.claim("w2", TTL, ANY)
    assert (new.run_id, new.fence) == ("a", old.fence + 1)
    with pytest.raises(FenceLost):
        await stores.one.journal.commit(old, Commit(events=(draft("late"),)))
    with pytest.raises(FenceLost):
        await stores.one.journal.renew(old, TTL)
    assert len(await stores.one.journal.events("a")) == 1


async def test_what_waits_for_a_person_is_offered_when_it_is_woken(stores, queue: Queue) -> None:
    await put(stores.one, "a")
    lease = await queue.claim("w1", TTL, ANY)
    await queue.park("a")
    await stores.one.journal.release(lease)
    assert await taken(queue) == []
    assert not (await stores.one.journal.find("a")).queued
    assert await queue.wake("a")
    assert await taken(queue) == ["a"]
    assert not await queue.wake("b")


async def test_what_left_or_ended_is_offered_no_more(stores, queue: Queue) -> None:
    await put(stores.one, "a", "b", "c")
    lease = await queue.claim("w1", TTL, ANY)
    await stores.one.journal.commit(lease, Commit(status="completed"))
    await stores.one.journal.release(lease)
    await queue.remove("b")
    await queue.remove("nobody")
    assert await taken(queue) == ["c"]
    await stores.one.journal.delete("b")
    await stores.one.journal.delete("a")
    assert [run.run_id for run in await queue.list_runs()] == ["c"]


async def test_others_are_left_to_others(stores, queue: Queue) -> None:
    await put(stores.one, "a", "b")
    lease = await queue.claim("w1", TTL, ANY, but=["a"])
    assert lease.run_id == "b"


async def test_a_run_which_nobody_survives_is_offered_no_more(stores, queue: Queue) -> None:
    await put(stores.one, "a")
    for _ in range(20):
        lease = await queue.claim("w1", TTL, ANY)
        await stores.one.journal.release(lease)
    assert await queue.claim("w1", TTL, ANY) is None
    await queue.enqueue("a")
    assert await taken(queue) == ["a"]


async def test_the_list_says_who_has_what(stores, queue: Queue) -> None:
    await put(stores.one, "a", user="ann", priority=3)
    await put(stores.one, "b")
    await queue.claim("w1", TTL, ANY)
    run, waiting = await queue.list_runs()
    assert (run.user, run.priority, run.ready, run.taken, run.holder) == ("ann", 3, True, 1, "w1")
    assert (waiting.run_id, waiting.holder) == ("b", "")
    assert await queue.list_runs(running=True) == [run]
    stores.wall.seconds += TTL + 0.1
    assert (await queue.list_runs())[0].holder == ""
    assert await queue.list_runs(running=True) == []
    with pytest.raises(UnknownName):
        await queue.enqueue("none")


async def test_the_depth_tells_those_who_wait_from_those_which_are_executed(stores, queue: Queue) -> None:
    assert await queue.depth() == QueueDepth()
    await put(stores.one, "a", "b", "c", "d")
    await queue.claim("w1", TTL, ANY)
    await queue.park("d")
    assert await stores.two.queue.depth() == QueueDepth(waiting=2, executed=1, parked=1)
    stores.wall.seconds += TTL + 0.1
    assert await queue.depth() == QueueDepth(waiting=3, parked=1)


async def test_many_who_claim_at_once_never_get_the_same(stores, queue: Queue) -> None:
    await put(stores.one, *(f"r{n}" for n in range(12)))
    limits = QueueLimits(running=9)
    claims = [store.queue.claim(f"w{n}", TTL, limits) for n, store in enumerate((stores.one, stores.two) * 10)]
    leases = [lease for lease in await asyncio.gather(*claims) if lease is not None]
    assert len(leases) == len({lease.run_id for lease in leases}) == 9


async def test_a_claim_takes_the_lock_only_if_there_is_a_run_to_take(stores, queue: Queue, monkeypatch) -> None:
    monkeypatch.setattr(postgres, "IDLE_SECONDS", 60)  # the server lets the lock be held
    one = QueueLimits(running=1)
    async with asyncio.timeout(60), claims_locked(stores.two):
        assert await queue.claim("w1", TTL, ANY) is None
    await put(stores.one, "a", user="ann")
    await put(stores.one, "b", user="ann", release="2.0")
    await put(stores.one, "c")
    await queue.park("c")
    assert (await queue.claim("w1", TTL, ANY)).run_id == "a"
    async with asyncio.timeout(60), claims_locked(stores.two):
        assert await queue.claim("w2", TTL, ANY, but=["b"]) is None
        assert await queue.claim("w2", TTL, ANY, unfit=lambda release: release == "2.0") is None
        assert await queue.claim("w2", TTL, one) is None
        assert await queue.claim("w2", TTL, QueueLimits(per_user=1)) is None
        claiming = asyncio.ensure_future(queue.claim("w2", TTL, ANY))
        done, _ = await asyncio.wait([claiming], timeout=0.3)
        assert not done
    assert (await claiming).run_id == "b"


async def test_a_run_which_another_took_after_the_look_is_taken_once(stores, queue: Queue, monkeypatch) -> None:
    monkeypatch.setattr(postgres, "IDLE_SECONDS", 60)
    await put(stores.one, "a")
    async with claims_locked(stores.two):
        both = [asyncio.ensure_future(queue.claim(holder, TTL, ANY)) for holder in ("w1", "w2")]
        await asyncio.sleep(0.3)
    found = [lease for lease in await asyncio.gather(*both) if lease is not None]
    assert [(lease.run_id, lease.fence) for lease in found] == [("a", 1)]


async def test_runs_of_an_unfit_release_are_left_to_others(stores, queue: Queue) -> None:
    await put(stores.one, "later", user="ann", release="2.0")
    await put(stores.one, "now", user="ann", release="1.0")
    await put(stores.one, "before")
    assert [run.release for run in await queue.list_runs()] == ["2.0", "1.0", ""]
    found = [await queue.claim("w1", TTL, ANY, unfit=lambda release: release == "2.0") for _ in range(3)]
    assert [lease and lease.run_id for lease in found] == ["now", "before", None]
    assert await taken(queue, "w2") == ["later"]


async def test_who_listens_is_told_that_there_is_something_to_take(stores, queue: Queue) -> None:
    """Of this process; on PostgreSQL of every process."""
    lines: list[str] = []
    stop = stores.one.journal.listen(lines.append)
    try:
        await put(stores.one, "a")
        place = RunInputs(place=QueuePlace())
        await stores.one.journal.create("b", "question", b"{}", [draft("created")], inputs=place)
        await queue.park("a")
        await queue.wake("a")
        await queue.remove("a")
        await until(lambda: lines.count(QUEUE_NEWS) >= 4)
    finally:
        await asyncio.to_thread(stop)
