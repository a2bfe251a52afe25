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
GUESSED = -1
"""Whose work it is which no lane's own search led to."""
GUESSES = 2
"""Pages of guessed searches which may wait for somebody to ask for them."""
ROLE = "ahead"
"""Under this role a run's usage has what nobody asked for in the end."""


class Ahead:
    """The work which was begun, by a key of whoever may ask for it."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._unasked: dict[str, tuple[int, Usage]] = {}

    def begin(self, key: str, work: Callable[[], Awaitable[Any]], cost: Usage = Usage(), lane: int = GUESSED) -> bool:
        """Begin; False when it was begun before, or when there is enough of it already. `lane` will likely ask."""
        going = sum(not task.done() for task in self._tasks.values())
        if key in self._tasks or key in self._unasked or going >= MOST:
            return False
        self._unasked[key] = (lane, cost)
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

    def unasked(self, lane: int | None = None) -> Usage:
        """What was begun and nobody has asked for so far; of one lane, or of all."""
        return sum((cost for own, cost in self._unasked.values() if lane in (None, own)), Usage())

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


def affords(rules: Speculation, budget: Budget, spent: Usage, kind: Kind) -> int:
    """How many pieces of a kind which were begun ahead may wait for somebody to ask.

    None where the budget counts that kind: what nobody asks for must not use up what agents may do. None when any other
    limit is near. Else a share of what the run has done of it.
    """
    if getattr(budget, kind) is not None or is_near(budget.usd, spent.usd) or is_near(budget.tokens, spent.tokens):
        return 0
    return max(LEAST[kind], int(rules.share * getattr(spent, kind))) if rules.share else 0


def leaves(allowed: int, ahead: Ahead, kind: Kind, lane: int, lanes: int) -> bool:
    """Whether of `allowed` pieces one is left to a lane, of so many at work.

    Lanes at work have equal parts, at least one each. Pages of guessed searches have a number of their own: they take
    nothing from lanes, whose guesses are better, until a share of what was done is more than either.
    """
    if not allowed:
        return False
    waiting: int = getattr(ahead.unasked(), kind)
    if kind == "searches":
        return waiting < allowed
    own, guessed = ahead.unasked(lane).pages, ahead.unasked(GUESSED).pages
    most = GUESSES if lane == GUESSED else max(1, allowed // max(1, lanes))
    return own < most and waiting < max(allowed, LEAST[kind] + min(guessed, GUESSES))


def is_near(limit: float | None, used: float) -> bool:
    """Whether most of a limit is used up."""
    return limit is not None and used >= LOW * limit


def page_key(url: str) -> str:
    """The key of the page at an address, however that is spelt."""
    return f"page {canonical(url)}"
