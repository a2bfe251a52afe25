"""Work begun before anybody asks for it, because somebody probably will: its limits and its results.

It changes no result. It is not stored with the run, and nothing depends on it. What was not begun is done when it is
asked for.
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
"""The most pieces of such work at once in one execution; others wait until they are asked for."""
LEAST: dict[Kind, int] = {"searches": 2, "pages": 3}
"""How many pieces may wait to be asked for, at least, even if a share of the run's own work would be less."""
GUESSED = -1
"""The owner of work that no lane's own search led to."""
GUESSES = 2
"""How many pages from guessed searches may wait to be asked for."""
ROLE = "ahead"
"""The role under which a run's usage counts work that nobody asked for in the end."""


class Ahead:
    """Work that was begun, by the key under which it may be asked for."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._unasked: dict[str, tuple[int, Usage]] = {}

    def begin(self, key: str, work: Callable[[], Awaitable[Any]], cost: Usage = Usage(), lane: int = GUESSED) -> bool:
        """Begin; False if it was begun before or there is enough of it. `lane` will probably ask."""
        going = sum(not task.done() for task in self._tasks.values())
        if key in self._tasks or key in self._unasked or going >= MOST:
            return False
        self._unasked[key] = (lane, cost)
        task = self._tasks[key] = asyncio.get_running_loop().create_task(_run(work), name=key)
        task.add_done_callback(_seen)
        return True

    async def result(self, key: str) -> Any | None:
        """Return its result to whoever asks first; None if it was not begun, or was stopped.

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
        """The usage of work that nobody has asked for so far; of one lane, or of all."""
        return sum((cost for own, cost in self._unasked.values() if lane in (None, own)), Usage())

    def tasks(self) -> list[asyncio.Task[Any]]:
        """The tasks in progress."""
        return list(self._tasks.values())

    def stop(self) -> None:
        """End the work that nobody has asked for so far."""
        for task in self._tasks.values():
            task.cancel()


async def _run(work: Callable[[], Awaitable[Any]]) -> Any:
    return await work()


def _seen(task: asyncio.Task[Any]) -> None:
    """Retrieve a failure that nobody asks for, so that it is not logged."""
    if not task.cancelled():
        task.exception()


def affords(rules: Speculation, budget: Budget, spent: Usage, kind: Kind) -> int:
    """How many pieces of a kind, begun ahead, may wait to be asked for.

    0 if the budget counts that kind, since unused work must not reduce what agents may do, and 0 if any other limit is
    near. Else a share of what the run has done of it.
    """
    if getattr(budget, kind) is not None or is_near(budget.usd, spent.usd) or is_near(budget.tokens, spent.tokens):
        return 0
    return max(LEAST[kind], int(rules.share * getattr(spent, kind))) if rules.share else 0


def leaves(allowed: int, ahead: Ahead, kind: Kind, lane: int, lanes: int) -> bool:
    """Whether one of the `allowed` pieces is left for a lane, with `lanes` at work.

    Lanes at work have equal parts, at least one each. Pages from guessed searches are counted apart, so they take
    nothing from lanes, whose guesses are better, until a share of the run's own work exceeds both.
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
    """Whether most of a limit is used."""
    return limit is not None and used >= LOW * limit


def page_key(url: str) -> str:
    """The key of the page at an address, however it is spelt."""
    return f"page {canonical(url)}"
