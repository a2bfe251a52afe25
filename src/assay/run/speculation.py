"""Work begun before anybody asks for it, because somebody likely will: what it may take, and what came of it.

It changes no result. Nothing of it is stored with the run, nothing depends on it, and who asks for what was not begun
does it then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from assay.core.brief import Speculation
from assay.core.usage import Budget, Usage
from assay.core.web_addresses import canonical
from assay.run.budget import LOW

Kind = Literal["searches", "pages"]
KINDS: tuple[Kind, ...] = ("searches", "pages")
MOST = 4
"""Pieces of such work at once in one execution; what comes on top is left until it is asked for."""
LEAST: dict[Kind, int] = {"searches": 2, "pages": 3}
"""So many pieces may wait for somebody to ask for them where a share of what a run has done would be less."""
ROLE = "ahead"
"""Under this role a run's usage has what nobody asked for in the end."""


class Ahead:
    """The work which was begun, by a key of whoever may ask for it."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._unasked: dict[str, Usage] = {}

    def begin(self, key: str, work: Callable[[], Awaitable[Any]], cost: Usage = Usage()) -> bool:
        """Begin; False when it was begun before, or when there is enough of it already."""
        going = sum(not task.done() for task in self._tasks.values())
        if key in self._tasks or key in self._unasked or going >= MOST:
            return False
        self._unasked[key] = cost
        task = self._tasks[key] = asyncio.get_running_loop().create_task(_run(work), name=key)
        task.add_done_callback(_seen)
        return True

    async def result(self, key: str) -> Any | None:
        """What came of it, to whoever asks first; None when it was not begun, or was stopped.

        Raises:
            AssayError: what the work raised.
        """
        self._unasked.pop(key, None)
        task = self._tasks.get(key)
        if task is None:
            return None
        await asyncio.wait((task,))  # who stops waiting does not stop the work: the next one may want it
        self._tasks.pop(key, None)
        return None if task.cancelled() else task.result()

    @property
    def unasked(self) -> Usage:
        """What was begun and nobody has asked for so far."""
        return sum(self._unasked.values(), Usage())

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


def affords(rules: Speculation, budget: Budget, spent: Usage, unasked: Usage, kind: Kind) -> bool:
    """Whether one more piece of a kind may be begun ahead.

    Not where the budget counts that kind: what nobody asks for must not use up what agents may do. Not when any other
    limit is near. And no more than a share of what the run has done of it waits for somebody to ask.
    """
    if getattr(budget, kind) is not None or is_near(budget.usd, spent.usd) or is_near(budget.tokens, spent.tokens):
        return False
    if not rules.share:
        return False
    return bool(getattr(unasked, kind) < max(LEAST[kind], rules.share * getattr(spent, kind)))


def is_near(limit: float | None, used: float) -> bool:
    """Whether most of a limit is used up."""
    return limit is not None and used >= LOW * limit


def page_key(url: str) -> str:
    """The key of the page at an address, however that is spelt."""
    return f"page {canonical(url)}"
