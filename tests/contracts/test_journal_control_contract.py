"""Requests from outside, and leases when the clock is set: what every journal keeps."""

import asyncio

import pytest
from journals import begin, commit_of, draft, seqs

from assay.core.errors import FenceLost, LeaseHeld
from assay.core.ports import MAX_LEASE_SECONDS, Renewal


async def test_a_request_is_on_the_log_with_what_it_asks_for(journal, other):
    lease = await begin(journal)
    await other.control("r1", "finish", (draft("asked"),))
    await other.post("r1", "steering", b"1", (draft("told"), draft("told-2")))
    assert [event.seq for event in await journal.commit(lease, commit_of("a"))] == [5]
    assert await journal.renew(lease, 30) == Renewal("finish", messages=1)
    assert await journal.inbox("r1", "steering") == [b"1"]
    assert await seqs(other) == [1, 2, 3, 4, 5]
    assert [event.key for event in (await other.load("r1")).events] == ["created", "asked", "told", "told-2", "a"]


async def test_a_request_needs_no_lease_and_its_event_is_stored_once(journal, other):
    await begin(journal)
    for _ in range(2):
        await other.post("r1", "steering", b"1", (draft("told"), draft("told")))
    assert await seqs(journal) == [1, 2]
    assert len(await journal.inbox("r1", "steering")) == 2


async def test_a_renewal_counts_the_messages_of_its_run_alone(journal, other):
    first, second = await begin(journal, "r1"), await begin(journal, "r2")
    for topic in ("steering", "stops", "stops"):
        await other.post("r2", topic, b"1")
    assert [await journal.renew(lease, 30) for lease in (first, second)] == [Renewal("", 0), Renewal("", 3)]


async def test_requests_and_commits_at_once_leave_no_gap(journal, other):
    lease = await begin(journal)
    found = [other.post("r1", "steering", b"1", (draft(f"told-{number}"),)) for number in range(20)]
    wrote = [journal.commit(lease, commit_of(f"a-{number}")) for number in range(20)]
    await asyncio.gather(*found, *wrote)
    assert await seqs(journal) == list(range(1, 42))


async def test_a_lease_does_not_outlive_a_clock_set_back(stores, journal, other):
    old = await begin(journal, ttl=15)
    stores.wall.seconds -= 3_600
    assert (await other.find("r1")).holder == ""
    new = await other.acquire("r1", "host:2", 15)
    with pytest.raises(FenceLost):
        await journal.commit(old, commit_of("late"))
    assert new.fence == 2


async def test_a_live_process_keeps_its_lease_over_a_clock_set_back(stores, journal, other):
    lease = await begin(journal, ttl=15)
    for step in (-3_600, 1, 86_400, -86_400, -5):
        stores.wall.seconds += step
        await journal.renew(lease, 15)
        with pytest.raises(LeaseHeld):
            await other.acquire("r1", "host:2", 15)
        with pytest.raises(LeaseHeld):
            await other.delete("r1")
    assert len(await journal.commit(lease, commit_of("on"))) == 1


async def test_a_little_set_back_only_makes_others_wait(stores, journal, other):
    await begin(journal, ttl=15)
    stores.wall.seconds -= MAX_LEASE_SECONDS - 16
    with pytest.raises(LeaseHeld):
        await other.acquire("r1", "host:2", 15)
    stores.wall.seconds += MAX_LEASE_SECONDS
    assert (await other.acquire("r1", "host:2", 15)).fence == 2
