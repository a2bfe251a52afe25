"""Jobs: whose turn it is, who may write, and what becomes of those whose worker is gone."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from queued_jobs import TTL, by, job, taken, with_
from queues import claims_locked
from waiting import until

from assay.core.errors import FenceLost, TooMany, UnknownName
from assay.core.ports.jobs import JOBS_NEWS, MAX_JOB_TRIES, JobClaim, JobFilter, Jobs
from assay.run.job_worker import JobInHand
from assay.run.process import SystemClock
from assay.store.sql import postgres

# What is in memory is no other process's, and has no jobs.
pytestmark = pytest.mark.parametrize("stores", ["sqlite", "postgres"], indirect=True)


async def test_a_claim_takes_the_lock_only_if_there_is_a_job_to_take(stores, jobs: Jobs, monkeypatch) -> None:
    monkeypatch.setattr(postgres, "IDLE_SECONDS", 60)  # the server lets the lock be held
    async with asyncio.timeout(60), claims_locked(stores.two):
        assert await jobs.claim(by()) is None
    await jobs.put([job("a", owner="ann"), job("b", owner="ann", release="2.0"), job("c", kind="other")])
    assert (await jobs.claim(by())).id == "a"
    async with asyncio.timeout(60), claims_locked(stores.two):
        assert await jobs.claim(by(unfit=lambda release: release == "2.0")) is None
        assert await jobs.claim(by(but=("b",))) is None
        assert await jobs.claim(by(per_user=1)) is None
        claiming = asyncio.ensure_future(jobs.claim(by()))
        done, _ = await asyncio.wait([claiming], timeout=0.3)
        assert not done
    assert (await claiming).id == "b"


async def test_what_was_put_is_found_whole(stores, jobs: Jobs) -> None:
    whole = job(
        *("a",),
        owner="ann",
        arguments={"paths": ["/a b\0c", "ü"], "most": 3},
        priority=2,
        notes={"at": 1},
        warnings=("one\0",),
        total=7,
        release="1.0",
    )
    assert await jobs.put([whole, job("b", parent="a")]) == 2
    assert await stores.two.jobs.find("a") == whole
    assert await jobs.put([with_(whole, name="another"), job("c")]) == 1
    assert (await jobs.find("a")).name == "name of a"
    with pytest.raises(UnknownName, match="assay jobs list"):
        await jobs.find("none")


async def test_the_highest_priority_goes_first_and_owners_take_turns(jobs: Jobs) -> None:
    await jobs.put([job(f"a{n}", owner="ann") for n in range(3)])
    await jobs.put([job("b0", owner="bob"), job("b1", owner="bob"), job("soon", owner="ann", priority=1)])
    assert await taken(jobs) == ["soon", "b0", "a0", "b1", "a1", "a2"]


async def test_an_owner_has_at_most_so_many_at_once(stores, jobs: Jobs) -> None:
    await jobs.put([job(f"a{n}", owner="ann") for n in range(3)] + [job("b0", owner="bob")])
    found = await taken(jobs, per_user=1) + await taken(stores.two.jobs, "w2", per_user=1)
    assert sorted(found) == ["a0", "b0"]


async def test_what_is_not_due_of_another_kind_or_named_is_left_alone(stores, jobs: Jobs) -> None:
    await jobs.put([job("later", due=stores.wall.seconds + 60), job("other", kind="crawl"), job("named"), job("p")])
    await jobs.put([job("p.0", parent="p")])
    assert await taken(jobs, parent="p") == ["p.0"]
    assert await taken(jobs, but=("named",)) == ["p"]
    stores.wall.seconds += 61
    assert "later" in await taken(jobs)


async def test_who_has_nothing_to_do_need_not_look_before_a_lease_runs_out(stores, jobs: Jobs) -> None:
    assert await jobs.seconds_until_due() is None
    await jobs.put([job("a"), job("b", due=stores.wall.seconds + 3)])
    assert await jobs.seconds_until_due() == 0
    mine = await jobs.claim(by())
    assert await jobs.seconds_until_due() == pytest.approx(3)
    stores.wall.seconds += 2
    await jobs.cancel("b")
    assert await jobs.seconds_until_due() == pytest.approx(TTL - 2)
    await jobs.renew(mine, TTL)
    assert await jobs.seconds_until_due() == pytest.approx(TTL)
    stores.wall.seconds += TTL + 1
    assert await jobs.seconds_until_due() == 0


async def test_what_is_said_of_a_job_is_kept_while_it_is_in_hand(stores, jobs: Jobs) -> None:
    await jobs.put([job("a")])
    mine = await jobs.claim(by())
    assert (mine.state, mine.holder, mine.fence, mine.tries) == ("running", "w1", 1, 1)
    await jobs.update(with_(mine, line="reading", finished=1, total=3, notes={"at": 9}), [job("a.0", parent="a")])
    found = await stores.two.jobs.find("a")
    assert (found.line, found.finished, found.total, found.notes) == ("reading", 1, 3, {"at": 9})
    assert [each.id for each in await jobs.list(JobFilter(parent="a"))] == ["a.0"]
    await jobs.update(with_(mine, state="done", result={"documents": 3}))
    assert (await jobs.find("a")).result == {"documents": 3}
    with pytest.raises(FenceLost):
        await jobs.update(with_(mine, line="too late"))
    with pytest.raises(FenceLost):
        await jobs.renew(mine, TTL)
    assert (await jobs.find("a")).holder == ""


async def test_a_silent_workers_job_is_claimed_again_and_it_writes_no_more(stores, jobs: Jobs) -> None:
    await jobs.put([job("a")])
    old = await jobs.claim(by("w1"))
    stores.wall.seconds += TTL - 1
    assert await jobs.renew(old, TTL)
    stores.wall.seconds += TTL - 1
    assert await stores.two.jobs.claim(by("w2")) is None
    stores.wall.seconds += 2
    new = await stores.two.jobs.claim(by("w2"))
    assert (new.id, new.fence, new.holder) == ("a", 2, "w2")
    for late in (jobs.renew(old, TTL), jobs.update(with_(old, state="done")), jobs.update(old, [job("x", parent="a")])):
        with pytest.raises(FenceLost):
            await late
    assert await jobs.list(JobFilter(parent="a")) == []


async def test_each_word_has_a_number_of_its_own(jobs: Jobs) -> None:
    await jobs.put([job("a")])
    mine = await jobs.claim(by())
    numbers = [mine.seq]
    for say in (jobs.update(with_(mine, line="one")), jobs.cancel("a"), jobs.update(with_(mine, state="cancelled"))):
        await say
        numbers.append((await jobs.find("a")).seq)
    assert numbers == sorted(set(numbers))


async def test_an_owner_sees_and_changes_his_own_alone(jobs: Jobs) -> None:
    ann, bob = jobs.owned_by("ann"), jobs.owned_by("bob")
    await ann.put([job("a", owner="bob")])
    assert (await jobs.find("a")).owner == "ann"
    assert await bob.list() == []
    for refused in (bob.find("a"), bob.cancel("a"), bob.retry("a")):
        with pytest.raises(UnknownName):
            await refused
    assert await bob.count() == {}
    assert await ann.count() == {"waiting": 1}


async def test_many_who_claim_at_once_never_get_the_same(stores, jobs: Jobs) -> None:
    await jobs.put([job(f"r{n}") for n in range(12)])
    claims = [store.jobs.claim(by(f"w{n}")) for n, store in enumerate((stores.one, stores.two) * 8)]
    found = [each.id for each in await asyncio.gather(*claims) if each is not None]
    assert len(found) == len(set(found)) == 12


async def test_who_listens_is_told_of_jobs_to_do_and_not_of_each_word(jobs: Jobs, stores) -> None:
    lines: list[str] = []
    stop = stores.one.journal.listen(lines.append)
    try:
        await jobs.put([job("a")])
        mine = await jobs.claim(by())
        await jobs.update(with_(mine, line="a word"))
        await jobs.update(with_(mine, line="parts"), [job("a.0", parent="a")])
        await jobs.update(with_(mine, state="done"))
        await until(lambda: lines.count(JOBS_NEWS) >= 3)
        await jobs.put([job("last")])
        await until(lambda: lines.count(JOBS_NEWS) >= 4)
    finally:
        await asyncio.to_thread(stop)


async def test_jobs_of_an_unfit_release_are_left_to_others(jobs: Jobs) -> None:
    await jobs.put([job("later", release="2.0"), job("now", release="1.0"), job("before")])
    assert await taken(jobs, unfit=lambda release: release == "2.0") == ["now", "before"]
    assert await taken(jobs, "w2") == ["later"]


async def test_what_was_noted_of_parts_which_are_done(jobs: Jobs) -> None:
    await jobs.put([job("a"), *(job(f"a.{n}", parent="a") for n in range(3))])
    for n in range(2):
        part = await jobs.claim(by(parent="a"))
        await jobs.update(with_(part, state="done", notes={"files": n}))
    assert await jobs.part_notes("a") == [{"files": 0}, {"files": 1}]


async def test_a_job_which_gets_on_outlives_any_number_of_workers(stores, jobs: Jobs) -> None:
    async def none(_parent: str) -> bool:
        return False

    await jobs.put([job("a", total=100)])
    for done in range(1, MAX_JOB_TRIES + 3):
        hand = JobInHand(jobs, await jobs.claim(by()), SystemClock(), none)
        await hand.store_changes(finished=done)
        stores.wall.seconds += TTL + 1
    assert await taken(jobs) == ["a"]
    found = await jobs.find("a")
    assert (found.state, found.finished, found.tries) == ("running", MAX_JOB_TRIES + 2, 2)


async def test_a_job_whose_parts_are_done_meanwhile_outlives_any_number_of_workers(stores, jobs: Jobs) -> None:
    parts = [job(f"a.{number}", kind="part", parent="a") for number in range(MAX_JOB_TRIES + 2)]
    await jobs.put([job("a"), *parts])
    for done in range(MAX_JOB_TRIES + 2):
        mine = await jobs.claim(by("w1"))
        assert mine is not None
        assert (mine.id, mine.finished, mine.tries) == ("a", done, 1)
        part = await jobs.claim(JobClaim(holder="w2", ttl=TTL, kinds=("part",)))
        assert part is not None
        await jobs.update(msgspec.structs.replace(part, state="done"))
        stores.wall.seconds += TTL + 0.1
    for tries in range(1, MAX_JOB_TRIES + 1):
        mine = await jobs.claim(by("w1"))
        assert mine is not None
        assert (mine.finished, mine.tries) == (MAX_JOB_TRIES + 2, tries)
        stores.wall.seconds += TTL + 0.1
    assert await jobs.claim(by("w1")) is None
    failed = await jobs.find("a")
    assert (failed.state, failed.error) == ("failed", "5 workers took it up and died, and it made no progress")


async def test_a_job_which_waits_for_its_parts_takes_no_place_of_its_owner(stores, jobs: Jobs) -> None:
    await jobs.put([job("a", owner="ann"), job("other", owner="ann")])
    mine = await jobs.claim(by(per_user=1))
    assert await stores.two.jobs.claim(by("w2", per_user=1)) is None
    await jobs.update(mine, [job(f"a.{n}", owner="ann", parent="a") for n in range(2)])
    part = await stores.two.jobs.claim(by("w2", per_user=1, parent="a"))
    assert part.id == "a.0"
    assert await jobs.claim(by(per_user=1, parent="a")) is None
    own = await jobs.claim(by(per_user=2, parent="a"))
    assert own.id == "a.1"
    assert await jobs.claim(by(per_user=2)) is None
    await stores.two.jobs.update(with_(part, state="done"))
    await jobs.update(with_(own, state="done"))
    assert await jobs.claim(by(per_user=1)) is None  # what it does with what its parts brought is work
    assert (await jobs.claim(by(per_user=2))).id == "other"


async def test_an_owner_has_no_more_jobs_than_he_may(stores, jobs: Jobs) -> None:
    ann, bob = jobs.owned_by("ann"), jobs.owned_by("bob")
    later = stores.wall.seconds + 60
    assert await ann.put([job("a")], at_once=2) == 1
    assert await ann.put([job("b", every=60, due=later), job("a.0", parent="a")], at_once=2) == 2
    assert await ann.put([job("c")], at_once=2) == 1
    with pytest.raises(TooMany, match=r"2 jobs wait or run, and 2 at once.*limits.user_runs_at_once"):
        await ann.put([job("d")], at_once=2)
    assert await bob.put([job("e")], at_once=2) == 1
    await ann.cancel("c")
    assert await ann.put([job("d")], at_once=2) == 1
    with pytest.raises(TooMany):
        await ann.retry("c", at_once=2)
    added = await asyncio.gather(
        *(
            each.jobs.owned_by("cleo").put([job(f"f{n}")], at_once=3)
            for n in range(5)
            for each in (stores.one, stores.two)
        ),
        return_exceptions=True,
    )
    assert len(await jobs.owned_by("cleo").list()) == 3
    assert sum(isinstance(each, TooMany) for each in added) >= 4
