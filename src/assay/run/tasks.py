"""Tasks beside runs, of a process which lives long: started by name, ended with the process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

log = logging.getLogger(__name__)


class Tasks:
    """What goes on in the background of a process. One which fails is told to the log, and the others go on."""

    def __init__(self) -> None:
        self._going: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Begin `work`; `name` is how the log calls it."""
        task = asyncio.create_task(work, name=name)
        self._going.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._going.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s failed: %s", task.get_name(), error, exc_info=error)

    async def close(self) -> None:
        """End all that goes on."""
        going = list(self._going)
        for task in going:
            task.cancel()
        await asyncio.gather(*going, return_exceptions=True)


def heard(news: str, event: asyncio.Event) -> Callable[[str], None]:
    """Sets an event of the running loop when `news` is told, from any thread."""
    loop = asyncio.get_running_loop()

    def told(what: str) -> None:
        if what == news:
            with suppress(RuntimeError):  # the loop has ended in this moment
                loop.call_soon_threadsafe(event.set)

    return told


async def together(*work: Coroutine[Any, Any, None]) -> None:
    """Do all at once; when one fails, or who waits is cancelled, the others are ended first."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
