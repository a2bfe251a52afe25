"""Processors shared by all who want them, in simulated time."""

from __future__ import annotations

import heapq
import itertools

import simpy


class Cores:
    """Processors which all who want them share evenly; nobody uses more than one. `others` want them all the time."""

    def __init__(self, env: simpy.Environment, cores: float, others: float) -> None:
        self._env, self._cores, self._others = env, cores, others
        self._wanted: list[tuple[float, int, simpy.Event]] = []
        self._numbers = itertools.count()
        self._given, self._at = 0.0, env.now
        """Seconds of a core each has had who was there from the beginning, by the moment `_at`."""
        self._last: simpy.Event | None = None

    def use(self, seconds: float) -> simpy.Event:
        """What happens when this has had so many seconds of a core."""
        self._advance()
        done = self._env.event()
        heapq.heappush(self._wanted, (self._given + seconds, next(self._numbers), done))
        self._plan()
        return done

    def _rate(self) -> float:
        return min(1.0, self._cores / (self._others + len(self._wanted))) if self._wanted else 0.0

    def _advance(self) -> None:
        self._given += (self._env.now - self._at) * self._rate()
        self._at = self._env.now

    def _plan(self) -> None:
        """Look again when the first has had what it wanted, unless somebody comes before."""
        if not self._wanted:
            return
        self._last = next_one = self._env.timeout(max(self._wanted[0][0] - self._given, 0.0) / self._rate())
        next_one.callbacks.append(self._look)

    def _look(self, planned: simpy.Event) -> None:
        if planned is not self._last:
            return
        self._advance()
        first = self._wanted[0][0]  # it is due, whatever was lost by rounding
        while self._wanted and self._wanted[0][0] <= first:
            heapq.heappop(self._wanted)[2].succeed()
        self._plan()
