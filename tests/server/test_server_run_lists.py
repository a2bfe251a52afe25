"""The stream of how one's runs stand: read once for all who follow, told to each as it changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

import pytest

from assay.core.errors import StoreError
from assay.run.tasks import Tasks
from assay.server import broadcasts
from assay.server.broadcasts import RunLists

MANY = 50
TICK = 0.05


class CountedRuns:
    """Somebody's runs, and how often they were asked for."""

    def __init__(self, **runs: str) -> None:
        self.runs, self.queries = runs, 0

    async def read(self) -> dict[str, bytes]:
        self.queries += 1
        return {id: status.encode() for id, status in self.runs.items()}


@pytest.fixture
async def lists(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RunLists]:
    monkeypatch.setattr(broadcasts, "LOOK_SECONDS", TICK)
    tasks = Tasks()
    yield RunLists(asyncio.Event(), tasks)
    await tasks.close()


async def until(frames: AsyncIterator[bytes], content: bytes) -> bytes:
    """What a stream says up to something."""
    heard = b""
    async with asyncio.timeout(30):
        while content not in heard:
            heard += await anext(frames)
    return heard


async def all_until(followers: Iterable[AsyncIterator[bytes]], content: bytes) -> list[bytes]:
    return await asyncio.gather(*(until(each, content) for each in followers))


async def test_all_who_follow_cost_one_query_a_tick(lists: RunLists) -> None:
    """However many follow, the store is asked as often as for one: a change is told to all by one query."""
    runs = CountedRuns(second="running", first="completed")
    followers = [lists.frames("ana", runs.read, 10) for _ in range(MANY)]
    heard = await all_until(followers, b"running")
    assert {each.index(b"completed") < each.index(b"running") for each in heard} == {True}
    before = runs.queries
    runs.runs["second"] = "verified"
    again = await all_until(followers, b"verified")
    assert not [each for each in again if b"completed" in each]
    assert before + 1 <= runs.queries < MANY
    for each in followers:
        await each.aclose()  # type: ignore[attr-defined]


async def test_nobody_is_told_of_anothers_runs_and_nothing_is_read_for_nobody(lists: RunLists) -> None:
    hers, his = CountedRuns(a="hers"), CountedRuns(b="his")
    ana, bob = lists.frames("ana", hers.read, 10), lists.frames("bob", his.read, 10)
    assert b"his" not in await until(ana, b"hers")
    assert b"hers" not in await until(bob, b"his")
    await ana.aclose()  # type: ignore[attr-defined]
    async with asyncio.timeout(30):
        while "ana" in lists._lists:
            await asyncio.sleep(TICK)
    assert hers.queries >= 1
    before, others = hers.queries, his.queries
    async with asyncio.timeout(30):
        while his.queries < others + 3:
            await asyncio.sleep(TICK)
    assert hers.queries == before
    await bob.aclose()  # type: ignore[attr-defined]


async def test_each_hears_of_as_many_as_he_asked_for(lists: RunLists) -> None:
    runs = CountedRuns(third="c3", second="b2", first="a1")
    few = lists.frames("ana", runs.read, 2)
    heard = await until(few, b"c3")
    assert (b"b2" in heard, b"a1" in heard) == (True, False)
    await few.aclose()  # type: ignore[attr-defined]


async def test_who_follows_is_told_that_the_store_fails_and_may_come_back(lists: RunLists) -> None:
    runs = CountedRuns(first="running")

    async def failing() -> dict[str, bytes]:
        raise StoreError("the database is gone: look for it")

    frames = lists.frames("ana", failing, 10)
    with pytest.raises(StoreError, match="is gone"):
        await until(frames, b"running")
    again = lists.frames("ana", runs.read, 10)
    assert b"running" in await until(again, b"running")
    await again.aclose()  # type: ignore[attr-defined]


async def test_all_streams_end_with_the_server(lists: RunLists) -> None:
    runs = CountedRuns(first="running")
    frames = lists.frames("ana", runs.read, 10)
    await until(frames, b"running")
    lists._closing.set()
    async with asyncio.timeout(30):
        assert [each async for each in frames][-1].startswith(b"retry:")
