"""Which models are worth asking: a circuit breaker for each, in this process's memory and never in the journal.

Closed: ask. Open, after failures: the fallbacks are asked instead. Half-open, when its pause is over: one call is let
through as a probe; its success closes the breaker, its failure opens it for twice as long. (M. Nygard, Release It!)
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

FAILURES = 3
"""Failures in a row which open a breaker; one that no other try would mend opens it at once."""
PAUSE = 30.0
LONGEST = 300.0
PROBE = 120.0
"""Seconds a probe may take before another is let through."""
PATIENCE = 60.0
"""Seconds a call waits before its next try; a service which asks for more is left alone at once."""


class _Breaker(msgspec.Struct):
    failures: int = 0
    pause: float = 0.0
    until: float = 0.0
    probing: bool = False


class CircuitBreakers:
    """The breakers of all models asked so far, by name. Times are monotonic seconds.

    And how much room each wants beyond its answers, which no table knows: that was seen by a reply cut at its cap which
    held nothing but thinking.
    """

    def __init__(self) -> None:
        self._breakers: dict[str, _Breaker] = {}
        self._rooms: dict[str, int] = {}

    def room(self, name: str) -> int:
        """Tokens a model is granted beyond those of its answer, 0 where it was not seen to need any."""
        return self._rooms.get(name, 0)

    def crowded(self, name: str, room: int) -> None:
        """A reply of the model was cut before its answer began; from now on it is granted `room` tokens more."""
        self._rooms[name] = max(room, self.room(name))

    def usable(self, names: Sequence[str], now: float) -> tuple[str, ...]:
        """Those worth asking now, in the order given; where none is, the one whose pause ends first."""
        good = tuple(name for name in names if not self.is_open(name, now))
        return good or (min(names, key=lambda name: self._breakers[name].until),)

    def asked(self, name: str, now: float) -> None:
        """A call begins; of a half-open breaker it is the probe, and others wait for its outcome."""
        breaker = self._breakers.get(name)
        if breaker is not None and breaker.pause and now >= breaker.until:
            breaker.probing, breaker.until = True, now + PROBE

    def succeeded(self, name: str) -> None:
        """A call was answered."""
        self._breakers.pop(name, None)

    def failed(self, name: str, now: float, *, transient: bool, retry_after: float | None = None) -> None:
        """A call failed; a pause the service asks for is kept. Further failures of an open breaker say nothing new."""
        breaker = self._breakers.setdefault(name, _Breaker())
        breaker.failures += 1
        hopeless = not transient or breaker.failures >= FAILURES or (retry_after or 0.0) > PATIENCE
        if (hopeless and not breaker.pause) or breaker.probing:
            breaker.pause, breaker.probing = min(breaker.pause * 2 or PAUSE, LONGEST), False
            breaker.until = now + max(breaker.pause, min(retry_after or 0.0, LONGEST))

    def is_open(self, name: str, now: float) -> bool:
        """Whether it is to be left alone now: it failed, or its probe is under way."""
        breaker = self._breakers.get(name)
        return breaker is not None and now < breaker.until
