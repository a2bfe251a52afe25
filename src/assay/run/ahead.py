"""Work begun before anybody asks for it, because somebody likely will."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

MOST = 4
"""Pieces of such work at once in one execution; what comes on top is left until it is asked for."""


class Ahead:
    """Nothing here is stored and nothing depends on it: who asks for what was not begun does it then."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[Any]] = {}

    def begin(self, key: str, work: Callable[[], Awaitable[Any]]) -> bool:
        """Begin; False when it was begun before, or when there is enough of it already."""
        going = sum(not task.done() for task in self._tasks.values())
        if key in self._tasks or going >= MOST:
            return False
        task = self._tasks[key] = asyncio.get_running_loop().create_task(_run(work), name=key)
        task.add_done_callback(_seen)
        return True

    async def result(self, key: str) -> Any | None:
        """What came of it, to whoever asks first; None when it was not begun, or was stopped.

        Raises:
            AssayError: what the work raised.
        """
        task = self._tasks.get(key)
        if task is None:
            return None
        await asyncio.wait((task,))  # who stops waiting does not stop the work: the next one may want it
        self._tasks.pop(key, None)
        return None if task.cancelled() else task.result()

    def tasks(self) -> list[asyncio.Task[Any]]:
        """What goes on."""
        return list(self._tasks.values())

    def stop(self) -> None:
        """End what nobody has asked for so far."""
        for task in self._tasks.values():
            task.cancel()


async def _run(work: Callable[[], Awaitable[Any]]) -> Any:
    return await work()


def _seen(task: asyncio.Task[Any]) -> None:
    """A failure nobody asks for is nobody's business."""
    if not task.cancelled():
        task.exception()
