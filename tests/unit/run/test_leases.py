"""Leases kept for all runs of a process together: asked for at once, and lost one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from runtime import DONE, ready
from simulated_time import in_simulated_time, wall

from assay.core.errors import FenceLost, StoreError
from assay.core.ports import Journal, Lease, Renewal
from assay.run import engine as run_engine
from assay.run.engine import Engine, Outcome, RunTask
from assay.run.run import Run
from assay.store.memory import memory_store

SECONDS = 120
News = dict[Lease, Renewal | FenceLost]


class Watched:
    """A journal whose answers about leases can be changed; it counts how many leases each question names."""

    def __init__(self, journal: Journal) -> None:
        self._journal, self.asked = journal, list[int]()
        self.answer: Callable[[News], News] = lambda renewals: renewals
        self.release_seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)

    async def renew_all(self, every: Sequence[Lease], ttl: float) -> News:
        self.asked.append(len(every))
        return self.answer(await self._journal.renew_all(every, ttl))

    async def release(self, lease: Lease) -> None:
        await asyncio.sleep(self.release_seconds)
        await self._journal.release(lease)


@pytest.fixture
def journal(monkeypatch: pytest.MonkeyPatch) -> Watched:
    monkeypatch.setattr(run_engine, "POLL", 0.01)
    return Watched(memory_store(wall).journal)


async def waiting(run: Run) -> Outcome:
    await run.receive("go", str)
    return DONE


async def begun(engine: Engine, many: int) -> list[RunTask]:
    """Runs that wait for a word."""
    handles = [engine.start(ready()) for _ in range(many)]
    async with asyncio.timeout(SECONDS):
        for handle in handles:
            while not handle.created or (await engine.journal.find(handle.run_id)).status != "waiting":
                await asyncio.sleep(0.01)
    return handles


async def ended(handle: RunTask) -> BaseException | None:
    async with asyncio.timeout(SECONDS):
        await asyncio.wait([handle._task])
    return handle.error


@in_simulated_time
async def test_one_question_is_for_all_runs_and_there_is_none_when_all_have_ended(journal: Watched) -> None:
    engine = Engine(journal, waiting, ttl=0.5)
    handles = await begun(engine, 20)
    journal.asked.clear()
    await asyncio.sleep(1.0)  # twice as long as a lease lasts
    assert set(journal.asked) == {20}
    for handle in handles:
        assert (await journal.find(handle.run_id)).holder == engine.holder
        await handle.answer("go", "on")
    assert [await ended(handle) for handle in handles] == [None] * 20
    journal.asked.clear()
    await asyncio.sleep(0.1)
    assert journal.asked == []
    [late] = await begun(engine, 1)
    await late.answer("go", "on")
    assert await ended(late) is None


@in_simulated_time
async def test_a_run_whose_lease_is_lost_ends_and_the_others_go_on(journal: Watched) -> None:
    engine = Engine(journal, waiting, ttl=0.2)
    lost, *others = await begun(engine, 3)
    await journal.acquire(lost.run_id, "another", 60, evict=engine.holder)
    assert isinstance(await ended(lost), FenceLost)
    await asyncio.sleep(0.3)
    for handle in others:
        await handle.answer("go", "on")
    assert [await ended(handle) for handle in others] == [None, None]


@in_simulated_time
async def test_a_store_that_is_away_ends_runs_only_when_their_leases_have_expired(journal: Watched) -> None:
    def away(_: object) -> News:
        raise StoreError("the disk is gone")

    engine = Engine(journal, waiting, ttl=4.0)
    handles = await begun(engine, 2)
    journal.answer = away
    await asyncio.sleep(1.0)
    assert not any(handle.ended for handle in handles)
    assert [str(await ended(handle)) for handle in handles] == ["the disk is gone"] * 2


@in_simulated_time
async def test_a_bug_in_keeping_leases_ends_the_runs_and_is_their_error(journal: Watched) -> None:
    def bug(_: object) -> News:
        raise KeyError("a bug")

    engine = Engine(journal, waiting, ttl=5.0)
    handles = await begun(engine, 2)
    journal.answer = bug
    assert [str(await ended(handle)) for handle in handles] == ["'a bug'"] * 2
    journal.answer = lambda renewals: renewals
    [next_run] = await begun(engine, 1)
    await next_run.answer("go", "on")
    assert await ended(next_run) is None


@in_simulated_time
async def test_an_engine_that_closes_stops_all_its_runs_at_once(journal: Watched) -> None:
    engine = Engine(journal, waiting)
    await begun(engine, 20)
    journal.release_seconds = 1.0
    async with asyncio.timeout(2.0):
        await engine.close()
    assert not any(row.holder for row in await journal.runs())
