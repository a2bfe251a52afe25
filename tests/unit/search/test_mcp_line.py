"""A connection held for many questions: opened once, again after it failed, closed when nobody asks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from assay.search.mcp_line import ConnectionClosed, SharedConnection


class Lost(Exception):
    """The connection is gone."""


class There:
    """Gives connections, numbered; the first `bad` of them cannot be made."""

    def __init__(self, bad: int = 0) -> None:
        self.opened = self.closed = 0
        self.bad = bad
        self.threads: set[int] = set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[int]:
        self.opened += 1
        if self.opened <= self.bad:
            raise Lost("nobody there")
        self.threads.add(threading.get_ident())
        yield self.opened
        self.closed += 1


def line(there: There, idle: float = 30.0) -> SharedConnection[int]:
    return SharedConnection(there.open, lambda: (Lost,), idle)


async def number(connection: int) -> int:
    await asyncio.sleep(0.01)
    return connection


async def test_one_connection_for_many_questions_at_once():
    there = There()
    made = line(there)
    assert await asyncio.gather(*(made.ask(number) for _ in range(20))) == [1] * 20
    assert await made.ask(number) == 1
    await made.close()
    assert (there.opened, there.closed) == (1, 1)
    assert there.threads
    assert threading.get_ident() not in there.threads


async def test_a_connection_which_has_failed_is_made_anew_and_the_question_asked_again():
    there = There()
    made = line(there)

    async def lost_on_the_first(connection: int) -> int:
        if connection == 1:
            raise Lost("gone")
        return connection

    assert await made.ask(number) == 1
    assert await made.ask(lost_on_the_first) == 2
    assert await made.ask(number) == 2
    await made.close()


async def test_a_fresh_connection_which_fails_is_not_tried_again():
    there = There(bad=1)
    made = line(there)
    with pytest.raises(Lost, match="nobody there"):
        await made.ask(number)
    assert await made.ask(number) == 2
    await made.close()


async def test_who_stops_waiting_ends_the_connection_and_the_next_gets_an_answer_of_its_own():
    there = There()
    made = line(there)

    async def slow(connection: int) -> int:
        await asyncio.sleep(30)
        return connection

    assert await made.ask(number) == 1
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await made.ask(slow)
    assert await made.ask(number) == 2
    await made.close()


async def test_who_asks_beside_one_that_stops_waiting_is_asked_for_again():
    there = There()
    made = line(there)

    async def slow_on_the_first(connection: int) -> int:
        await asyncio.sleep(30 if connection == 1 else 0)
        return connection

    assert await made.ask(number) == 1
    beside = asyncio.ensure_future(made.ask(slow_on_the_first))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await made.ask(slow_on_the_first)
    async with asyncio.timeout(25):
        assert await beside == 2
    await made.close()
    assert there.opened == there.closed == 2


async def test_it_closes_when_nobody_asks_and_opens_for_who_does():
    there = There()
    made = line(there, idle=0.05)
    assert await made.ask(number) == 1
    async with asyncio.timeout(25):
        while not there.closed:
            await asyncio.sleep(0.01)
    assert await made.ask(number) == 2
    await made.close()
    await made.close()
    assert (there.opened, there.closed) == (2, 2)


async def test_a_long_question_is_not_cut_off_by_the_idle_time():
    there = There()
    made = line(there, idle=0.05)

    async def long(connection: int) -> int:
        await asyncio.sleep(0.3)
        return connection

    assert await made.ask(long) == 1
    assert there.opened == 1
    await made.close()


async def test_what_is_closed_at_once_says_so():
    there = There()
    made = line(there)
    asking = asyncio.ensure_future(made.ask(number))
    await asyncio.sleep(0)
    await made.close()
    with suppress(ConnectionClosed):
        assert await asking == 1
    assert there.opened == there.closed
