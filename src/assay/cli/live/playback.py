"""A stored run as it went: its events in its own rhythm, faster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from assay.cli.live.times import moment
from assay.core.events import Envelope, RunResumed, RunWaiting

LONGEST = 10.0
"""Seconds a replay takes at most when nobody says how fast."""


class ReplayPlayer:
    """The events of a run with the time between them; when nobody worked on the run, no time passes.

    Args:
        speed: how many times faster than it was; 0 is at once, None as fast as it takes to need `LONGEST`.
    """

    def __init__(self, events: Sequence[Envelope], speed: float | None = None) -> None:
        self._events, self._gaps = events, gaps(events)
        total = sum(self._gaps)
        self.speed = max(1.0, total / LONGEST) if speed is None else speed
        self._last = moment(events[0].at) if events else datetime.now(UTC)
        self._shown_at = 0.0

    def now(self) -> datetime:
        """The time in the run, which goes on between its events."""
        since = asyncio.get_running_loop().time() - self._shown_at if self._shown_at else 0.0
        return self._last + timedelta(seconds=since * self.speed)

    async def __aiter__(self) -> AsyncIterator[Envelope]:
        loop = asyncio.get_running_loop()
        due = loop.time()
        for envelope, gap in zip(self._events, self._gaps, strict=True):
            due += gap / self.speed if self.speed else 0.0
            await asyncio.sleep(max(0.0, due - loop.time()))
            self._last, self._shown_at = moment(envelope.at), loop.time()
            yield envelope


def gaps(events: Sequence[Envelope]) -> list[float]:
    """Seconds before each event in which somebody worked on the run; none is negative."""
    between = [0.0] * min(len(events), 1)
    for before, after in pairwise(events):
        idle = after.type == RunResumed.kind or before.type == RunWaiting.kind
        seconds = (moment(after.at) - moment(before.at)).total_seconds()
        between.append(0.0 if idle else max(0.0, seconds))
    return between
