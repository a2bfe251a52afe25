"""How jobs end: cancelled, failed, forgotten, tried again, followed by the next; and their parts with them."""

from __future__ import annotations

from typing import Any

import pytest
from queued_jobs import AT, TTL, by, job, taken, with_

from assay.core.errors import FenceLost, UsageError
from assay.core.ports.jobs import MAX_JOB_TRIES, JobFilter, Jobs

# What is in memory is no other process's, and has no jobs.
pytestmark = pytest.mark.parametrize("stores", ["sqlite", "postgres"], indirect=True)


async def test_a_job_which_nobody_survives_fails(stores, jobs: Jobs) -> None:
    await jobs.put([job("a"), job("b")])
    for _ in range(MAX_JOB_TRIES):
        assert await taken(jobs) == ["a", "b"]
        stores.wall.seconds += TTL + 1
    assert await taken(jobs) == []
    failed = await jobs.find("a")
    assert failed.state == "failed"
    assert str(MAX_JOB_TRIES) in failed.error
    await jobs.retry("a")
    assert await taken(jobs) == ["a"]


async def test_a_clock_that_was_set_back_holds_no_periodic_job(stores, jobs: Jobs) -> None:
    stores.wall.seconds += 86_400.0
    await jobs.put([job("a", every=60)])
    await jobs.update(with_(await jobs.claim(by()), state="done"))
    assert await taken(jobs) == []
    stores.wall.seconds -= 86_400.0
    again = await jobs.claim(by())
    assert again.id == "a-2"
    await jobs.update(with_(again, state="done"))
    assert await taken(jobs) == []
    stores.wall.seconds += 60.0
    assert await taken(jobs) == ["a-3"]


async def test_what_waits_is_cancelled_at_once_and_what_runs_is_told_to_stop(stores, jobs: Jobs) -> None:
    await jobs.put([job("a"), job("a.0", parent="a"), job("a.1", parent="a")])
    mine = await jobs.claim(by())
    assert (await jobs.cancel("a")).stopping
    assert {each.id: each.state for each in await jobs.list(JobFilter(parent="a"))} == {
        "a.0": "cancelled",
        "a.1": "cancelled",
    }
    assert not await jobs.renew(mine, TTL)
    await jobs.update(with_(mine, state="cancelled"))
    assert (await jobs.cancel("a")).state == "cancelled"
    assert await taken(jobs) == []
    await jobs.retry("a")
    assert await taken(jobs) == ["a", "a.0", "a.1"]
    assert not (await jobs.find("a")).stopping


async def test_parts_made_before_a_cancelled_job_heard_of_it_end_with_it(stores, jobs: Jobs) -> None:
    await jobs.put([job("a")])
    mine = await jobs.claim(by())
    await jobs.cancel("a")
    await jobs.update(with_(mine, line="on it"), [job("a.0", parent="a"), job("a.1", parent="a")])
    part = await stores.two.jobs.claim(by("w2", parent="a"))
    await jobs.update(with_(mine, state="cancelled"))
    assert not await stores.two.jobs.renew(part, TTL)
    await stores.two.jobs.update(with_(part, state="cancelled"))
    found = {each.id: (each.state, each.stopping) for each in await jobs.list(JobFilter(parent=None))}
    assert found == dict.fromkeys(("a", "a.0", "a.1"), ("cancelled", False))
    assert await taken(jobs) == []


async def test_a_job_which_is_to_stop_is_begun_by_nobody(stores, jobs: Jobs) -> None:
    await jobs.put([job("a", every=60), job("b")])
    mine, other = await jobs.claim(by()), await jobs.claim(by())
    await jobs.cancel("a")
    await jobs.cancel("b")
    await jobs.update(with_(other, state="waiting"))
    stores.wall.seconds += TTL + 1
    assert await taken(stores.two.jobs, "w2") == []
    assert {each.id: each.state for each in await jobs.list()} == {"a": "cancelled", "b": "cancelled"}
    with pytest.raises(FenceLost):
        await jobs.update(with_(mine, state="done"))


async def test_what_a_dead_worker_has_is_cancelled_at_once(stores, jobs: Jobs) -> None:
    await jobs.put([job("a")])
    await jobs.claim(by())
    stores.wall.seconds += TTL + 1
    assert (await jobs.cancel("a")).state == "cancelled"


async def test_only_what_failed_or_was_cancelled_is_tried_again(jobs: Jobs) -> None:
    await jobs.put([job("a")])
    with pytest.raises(UsageError, match="waiting"):
        await jobs.retry("a")
    mine = await jobs.claim(by())
    await jobs.update(with_(mine, state="done"))
    with pytest.raises(UsageError, match="done"):
        await jobs.retry("a")


async def test_what_ended_long_ago_is_forgotten_with_its_parts(jobs: Jobs) -> None:
    await jobs.put([job("a"), job("a.0", parent="a"), job("b")])
    mine = await jobs.claim(by())
    await jobs.update(with_(mine, state="done", updated_at=AT))
    assert await jobs.forget(AT) == 0
    assert await jobs.forget("2027") == 2
    assert [each.id for each in await jobs.list(JobFilter(parent=None))] == ["b"]


async def test_a_periodic_job_is_followed_by_the_next(stores, jobs: Jobs) -> None:
    start = stores.wall.seconds
    await jobs.put([job("a", every=60, due=start, arguments={"x": 1}, owner="ann", priority=2)])
    mine = await jobs.claim(by())
    stores.wall.seconds += 130
    await jobs.renew(mine, 200)
    await jobs.update(with_(mine, state="done"))
    following = await jobs.find("a-2")
    assert (following.state, following.due, following.arguments) == ("waiting", start + 180, {"x": 1})
    assert (following.owner, following.priority, following.every) == ("ann", 2, 60)
    assert await taken(jobs) == []
    assert await jobs.seconds_until_due() == pytest.approx(50)
    stores.wall.seconds += 51
    assert await jobs.seconds_until_due() == 0
    second = await jobs.claim(by())
    await jobs.update(with_(second, state="failed", error="no"))
    assert (await jobs.find("a-3")).due == start + 240
    await jobs.retry("a-2")
    third = await jobs.claim(by())
    assert third.id == "a-2"
    await jobs.update(with_(third, state="done"))
    assert [each.id for each in await jobs.list()] == ["a-3", "a-2", "a"]
    await jobs.cancel("a-3")
    assert await jobs.seconds_until_due() is None


async def test_a_periodic_job_which_nobody_survives_is_followed_too(stores, jobs: Jobs) -> None:
    await jobs.put([job("a", every=3600)])
    for _ in range(MAX_JOB_TRIES):
        assert await taken(jobs) == ["a"]
        stores.wall.seconds += TTL + 1
    assert await taken(jobs) == []
    assert {each.id: each.state for each in await jobs.list()} == {"a-2": "waiting", "a": "failed"}


async def test_a_periodic_job_which_is_cancelled_is_the_last(jobs: Jobs) -> None:
    await jobs.put([job("a", every=60)])
    mine = await jobs.claim(by())
    await jobs.cancel("a")
    await jobs.update(with_(mine, state="cancelled"))
    assert [each.id for each in await jobs.list()] == ["a"]


async def test_what_failed_is_kept_until_somebody_looked_at_it(jobs: Jobs) -> None:
    await jobs.put([job("a"), job("b", every=60), job("c")])
    for _ in range(2):
        await jobs.update(with_(await jobs.claim(by()), state="failed", updated_at=AT))
    assert await jobs.forget("9") == 1
    assert [each.id for each in await jobs.list(JobFilter(states=frozenset(("failed",))))] == ["a"]
    assert (await jobs.cancel("a")).state == "cancelled"
    assert await jobs.forget("9") == 1
    assert await jobs.forget("9", failed=True) == 0


async def test_a_job_which_is_tried_again_is_due_by_the_clock_of_the_store(stores, jobs: Jobs) -> None:
    await jobs.put([job("a"), job("b", due=stores.wall.seconds + 60, every=60), job("c", kind="crawl")])
    for _ in range(2):
        await jobs.update(with_(await jobs.claim(by(kinds=("add", "crawl"))), state="waiting"), pause=8.0)
    assert (await jobs.find("a")).due == stores.wall.seconds + 8
    stores.wall.seconds += 5
    assert await taken(jobs) == []
    assert await jobs.seconds_until_retry(by()) == pytest.approx(3)
    assert await jobs.seconds_until_retry(by(unfit=lambda release: True)) is None
    stores.wall.seconds += 4
    assert await taken(stores.two.jobs, "w2") == ["a"]
    assert await jobs.seconds_until_retry(by()) is None
    assert await jobs.seconds_until_retry(by(kinds=("crawl",))) == 0


@pytest.mark.parametrize("state", ["done", "failed", "cancelled"])
async def test_no_part_of_a_job_which_has_ended_waits(stores, jobs: Jobs, state: Any) -> None:
    await jobs.put([job("a")])
    mine = await jobs.claim(by())
    await jobs.update(mine, [job(f"a.{n}", parent="a") for n in range(3)])
    for ended in ("done", "failed"):
        await jobs.update(with_(await jobs.claim(by(parent="a")), state=ended))
    await jobs.update(with_(mine, state=state))
    found = {each.id: each.state for each in await jobs.list(JobFilter(parent="a"))}
    assert found == {"a.0": "done", "a.1": "failed", "a.2": "cancelled"}
    assert await taken(jobs) == []


async def test_no_part_of_a_job_which_nobody_survives_waits(stores, jobs: Jobs) -> None:
    await jobs.put([job("a", tries=MAX_JOB_TRIES), job("a.0", parent="a")])
    assert await taken(jobs) == []
    assert (await jobs.find("a.0")).state == "cancelled"
    await jobs.retry("a")
    assert await taken(jobs) == ["a", "a.0"]
