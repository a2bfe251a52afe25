"""How often a provider is asked, and when it is left alone."""

from __future__ import annotations

import asyncio

from assay.core.errors import SearchError

REST = 60.0
"""Seconds a provider which does not answer is left alone."""
SLOW = 4.0
"""Seconds: who fails after waiting this long is left alone at once, others after the second failure in a row."""


class Pace:
    """Lets questions through one after the other, `pause` seconds apart."""

    def __init__(self, pause: float) -> None:
        self.pause = pause
        self._turn = asyncio.Lock()
        self._next = 0.0

    async def turn(self) -> None:
        """Wait for one; the run's own deadline ends the wait."""
        async with self._turn:
            now = asyncio.get_running_loop().time()
            await asyncio.sleep(max(0.0, self._next - now))
            self._next = max(self._next, now) + self.pause


class Rest:
    """Whether a provider is worth asking: one out of reach would cost every question its whole time limit."""

    def __init__(self) -> None:
        self._failures = 0
        self._until = 0.0
        self._reason = ""

    def check(self) -> None:
        """Raises SearchFailed: it failed a moment ago, in the same words."""
        if asyncio.get_running_loop().time() < self._until:
            raise SearchError(self._reason)

    def failed(self, reason: str, seconds: float) -> None:
        """It failed, after so many seconds."""
        self._failures += 1
        if self._failures > 1 or seconds >= SLOW:
            self._until, self._reason = asyncio.get_running_loop().time() + REST, reason

    def answered(self) -> None:
        """It works."""
        self._failures, self._until = 0, 0.0
