"""Blocking context managers, entered and left in threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from assay.run.tasks import enter_in_threads

SECONDS = 20


class Door:
    """A block that is entered once it `may` be; it notes when it is `tried` and `left`."""

    def __init__(self) -> None:
        self.tried, self.may, self.left = threading.Event(), threading.Event(), threading.Event()

    @contextmanager
    def opened(self) -> Iterator[str]:
        self.tried.set()
        assert self.may.wait(SECONDS)
        try:
            yield "inside"
        finally:
            self.left.set()


async def test_the_block_is_left_whatever_happens_inside() -> None:
    door = Door()
    door.may.set()

    async def fail() -> None:
        async with enter_in_threads(door.opened()) as found:
            assert (found, door.left.is_set()) == ("inside", False)
            raise KeyError

    with pytest.raises(KeyError):
        await fail()
    assert door.left.is_set()


async def test_a_block_whose_caller_is_cancelled_while_a_thread_enters_it_is_left() -> None:
    door = Door()

    async def enter() -> None:
        async with enter_in_threads(door.opened()):
            raise AssertionError("the caller was cancelled")

    task = asyncio.create_task(enter())
    assert await asyncio.to_thread(door.tried.wait, SECONDS)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not door.left.is_set()
    door.may.set()
    assert await asyncio.to_thread(door.left.wait, SECONDS)
