"""Work begun before anybody asks for it."""

from __future__ import annotations

import asyncio

import pytest

from assay.core.errors import FetchFailed
from assay.run.speculation import MOST, Ahead


class Work:
    """Counts how often it was begun, and ended before its time."""

    def __init__(self, result: str = "page", *, fails: bool = False) -> None:
        self.result, self.fails = result, fails
        self.begun = self.stopped = 0
        self.let_go = asyncio.Event()

    async def __call__(self) -> str:
        self.begun += 1
        try:
            await self.let_go.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        if self.fails:
            raise FetchFailed("not found: a")
        return self.result


async def test_who_asks_gets_what_was_begun():
    ahead, work = Ahead(), Work()
    assert ahead.begin("a", work)
    assert not ahead.begin("a", work)
    work.let_go.set()
    assert await ahead.result("a") == "page"
    assert work.begun == 1
    assert await ahead.result("a") is None


async def test_what_was_not_begun_is_nothing():
    assert await Ahead().result("a") is None


async def test_a_failure_is_told_to_who_asks_and_to_nobody_else():
    ahead, work = Ahead(), Work(fails=True)
    ahead.begin("a", work)
    work.let_go.set()
    with pytest.raises(FetchFailed, match="not found"):
        await ahead.result("a")


async def test_no_more_than_a_few_at_once():
    ahead, works = Ahead(), [Work() for _ in range(MOST + 2)]
    begun = [ahead.begin(str(number), work) for number, work in enumerate(works)]
    assert begun == [True] * MOST + [False, False]
    ahead.stop()


async def test_who_stops_waiting_does_not_stop_the_work():
    ahead, work = Ahead(), Work()
    ahead.begin("a", work)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await ahead.result("a")
    work.let_go.set()
    assert await ahead.result("a") == "page"
    assert work.stopped == 0


async def test_what_nobody_asked_for_is_stopped():
    ahead, work = Ahead(), Work()
    ahead.begin("a", work)
    await asyncio.sleep(0)
    ahead.stop()
    assert await ahead.result("a") is None
    assert work.stopped == 1
