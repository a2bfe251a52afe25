"""Work begun before anybody asks for it."""

from __future__ import annotations

import asyncio
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.brief import Speculation
from assay.core.errors import FetchFailed
from assay.core.usage import Budget, Usage
from assay.run.speculation import (
    GUESSED_LANE,
    MAX_GUESSED_PAGES,
    MAX_TASKS,
    MIN_WAITING,
    Kind,
    WorkAhead,
    affordable_count,
    has_room_for,
)


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
    ahead, work = WorkAhead(), Work()
    assert ahead.begin("a", work)
    assert not ahead.begin("a", work)
    work.let_go.set()
    assert await ahead.result("a") == "page"
    assert work.begun == 1
    assert await ahead.result("a") is None


async def test_what_was_not_begun_is_nothing():
    assert await WorkAhead().result("a") is None


async def test_a_failure_is_told_to_who_asks_and_to_nobody_else():
    ahead, work = WorkAhead(), Work(fails=True)
    ahead.begin("a", work)
    work.let_go.set()
    with pytest.raises(FetchFailed, match="not found"):
        await ahead.result("a")


async def test_no_more_than_a_few_at_once():
    ahead, works = WorkAhead(), [Work() for _ in range(MAX_TASKS + 2)]
    begun = [ahead.begin(str(number), work) for number, work in enumerate(works)]
    assert begun == [True] * MAX_TASKS + [False, False]
    ahead.stop()


async def test_who_stops_waiting_does_not_stop_the_work():
    ahead, work = WorkAhead(), Work()
    ahead.begin("a", work)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await ahead.result("a")
    work.let_go.set()
    assert await ahead.result("a") == "page"
    assert work.stopped == 0


async def test_what_nobody_asked_for_is_stopped():
    ahead, work = WorkAhead(), Work()
    ahead.begin("a", work)
    await asyncio.sleep(0)
    ahead.stop()
    assert await ahead.result("a") is None
    assert work.stopped == 1


async def test_what_nobody_has_asked_for_is_known():
    ahead = WorkAhead()
    for key, lane in (("a", 1), ("b", 2)):
        ahead.begin(key, Work(), Usage(pages=1), lane)
    ahead.begin("c", Work(), Usage(searches=1))
    asking = asyncio.create_task(ahead.result("a"))
    await asyncio.sleep(0)
    assert ahead.unused_usage() == Usage(pages=1, searches=1)
    assert (ahead.unused_usage(1), ahead.unused_usage(2), ahead.unused_usage(GUESSED_LANE)) == (
        Usage(),
        Usage(pages=1),
        Usage(searches=1),
    )
    ahead.stop()
    assert await asking is None
    assert ahead.unused_usage() == Usage(pages=1, searches=1)


RULES = Speculation(pages=True)


def test_so_much_may_wait_for_somebody_to_ask():
    assert affordable_count(RULES, Budget(), Usage(), "pages") == MIN_WAITING["pages"]
    assert affordable_count(RULES, Budget(), Usage(pages=40, searches=10), "pages") == 6
    assert affordable_count(RULES, Budget(), Usage(pages=40, searches=10), "searches") == MIN_WAITING["searches"]
    assert affordable_count(Speculation(share=0.0), Budget(), Usage(pages=99), "pages") == 0


@pytest.mark.parametrize("kind", get_args(Kind))
def test_nothing_is_begun_which_is_counted_or_when_a_limit_is_near(kind: Kind):
    assert affordable_count(RULES, Budget(**{kind: 1_000}), Usage(), kind) == 0
    for budget, spent in ((Budget(usd=1.0), Usage(usd=0.8)), (Budget(tokens=100), Usage(input_tokens=80))):
        assert affordable_count(RULES, budget, spent, kind) == 0
        assert affordable_count(RULES, budget, Usage(), kind) > 0


async def test_lanes_at_work_have_equal_parts():
    ahead = WorkAhead()
    assert has_room_for(3, ahead, "pages", 1, 3)
    ahead.begin("a", Work(), Usage(pages=1), 1)
    assert not has_room_for(3, ahead, "pages", 1, 3)
    assert has_room_for(3, ahead, "pages", 2, 3)
    assert has_room_for(3, ahead, "pages", 1, 1)
    assert has_room_for(6, ahead, "pages", 1, 3)
    ahead.stop()


@given(
    share=st.floats(0.01, 0.15),
    done=st.integers(0, 200),
    kind=st.sampled_from(get_args(Kind)),
    asked=st.lists(st.tuples(st.integers(GUESSED_LANE, 4).filter(bool), st.booleans()), max_size=60),
    lanes=st.integers(0, 5),
)
def test_no_more_than_its_share_is_ever_done_for_nothing(
    share: float, done: int, kind: Kind, asked: list[tuple[int, bool]], lanes: int
):
    async def begin() -> None:
        ahead, cost = WorkAhead(), Usage(**{kind: 1})
        for number, (lane, used) in enumerate(asked):
            allowed = affordable_count(Speculation(share=share), Budget(), Usage(**{kind: done}), kind)
            if (
                has_room_for(allowed, ahead, kind, lane, lanes)
                and ahead.begin(str(number), nothing, cost, lane)
                and used
            ):
                assert await ahead.result(str(number)) is None
            await asyncio.sleep(0)
        left = getattr(ahead.unused_usage(), kind)
        assert left <= max(MIN_WAITING[kind] + (MAX_GUESSED_PAGES if kind == "pages" else 0), share * done)
        ahead.stop()

    asyncio.run(begin())


async def nothing() -> None:
    """Work which is done at once."""
