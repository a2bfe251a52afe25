"""Background tasks, and calls between threads and the event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from typing import Any, TypeVar

T = TypeVar("T")

log = logging.getLogger(__name__)


class Tasks:
    """The background tasks of a process. If one fails, it is logged and the others go on."""

    def __init__(self) -> None:
        self._going: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Start `work`; `name` is for the log."""
        task = asyncio.create_task(work, name=name)
        self._going.add(task)
        task.add_done_callback(self._on_done)
        return task

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        self._going.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s failed: %s", task.get_name(), error, exc_info=error)

    async def close(self) -> None:
        """End all tasks."""
        going = list(self._going)
        for task in going:
            task.cancel()
        await asyncio.gather(*going, return_exceptions=True)


def retrieve_failure(task: asyncio.Task[Any]) -> None:
    """Retrieve a failure, so that it is not logged: whoever waits for the task gets it, and nobody has to wait."""
    if not task.cancelled():
        task.exception()


def loop_listener(call: Callable[[str], object]) -> Callable[[str], None]:
    """A listener that lets the running loop call `call`, from any thread.

    It does nothing once the loop has ended: the thread that tells it is often the one that writes the store.
    """
    loop = asyncio.get_running_loop()

    def report(topic: str) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(call, topic)

    return report


def event_setter(news: str, event: asyncio.Event) -> Callable[[str], None]:
    """A listener that sets an event of the running loop when `news` is reported, from any thread."""
    wake = loop_listener(lambda _: event.set())

    def report(topic: str) -> None:
        if topic == news:
            wake(topic)

    return report


async def wait_for_event(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait until an event is set, for so many seconds at most (None: for ever); return whether it is set."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False


@asynccontextmanager
async def enter_in_threads(block: AbstractContextManager[T]) -> AsyncIterator[T]:
    """Enter and leave a blocking context manager in threads; it is not told of errors.

    If the caller is cancelled while a thread enters it, it is left as soon as it is entered.
    """
    enter_task = asyncio.create_task(asyncio.to_thread(block.__enter__))

    def leave(task: asyncio.Task[T]) -> None:
        if not task.cancelled() and task.exception() is None:
            asyncio.get_running_loop().run_in_executor(None, block.__exit__, None, None, None)

    try:
        value = await asyncio.shield(enter_task)
    except asyncio.CancelledError:
        enter_task.add_done_callback(leave)
        raise
    try:
        yield value
    finally:
        await asyncio.to_thread(block.__exit__, None, None, None)


async def run_together(*work: Coroutine[Any, Any, None]) -> None:
    """Do all at once. If one fails or the caller is cancelled, the others are ended first."""
    tasks = [asyncio.create_task(coroutine) for coroutine in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
