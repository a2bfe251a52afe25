"""Which models are worth asking, by what came of attempts, and how many calls a service gets at once."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

import msgspec

from assay.core.errors import StoreError
from assay.core.messages import Reply
from assay.core.ports import Fact
from assay.core.ports.models import Permits
from assay.core.usage import Usage

# What came of an attempt, in a few words.

REFUSAL_SHOWN = 300
"""Code points of a refusal in an event."""


def named(name: str, reason: str) -> str:
    """Why the model `name` failed, with its whole name where the reason begins with that of its provider."""
    provider = name.partition(":")[0]
    rest = reason.removeprefix(provider)
    return f"{name}{rest}" if rest != reason and rest[:1] in (" ", ":") else f"{name}: {reason}"


def unspoken(reply: Reply) -> bool:
    """Whether a reply was cut at its cap before it said anything: all of it went into thinking, shown or not."""
    return reply.stop == "length" and not reply.text.strip() and not reply.calls


def refusal(reply: Reply) -> str:
    """A refusal in one line, with the model's own words where it said some."""
    words = " ".join(reply.text.split())
    short = words if len(words) <= REFUSAL_SHOWN else words[:REFUSAL_SHOWN] + "…"
    return f"it refused to answer{': ' if short else ''}{short}"


def counts(usage: Usage) -> dict[str, Fact]:
    """What a call took, for who watches it."""
    names = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens", "usd")
    return {name: getattr(usage, name) for name in names}


TTL = 15.0
"""Seconds after which the permit of a process that died is free again."""
RENEWAL = TTL / 3
POLL = 0.1
"""Seconds between two looks whether another process has given a permit back."""
log = logging.getLogger(__name__)


class PermitRateLimiter:
    """`RateLimiter` by permits: within a process the calls of a service come in the order in which they were asked
    for.
    """

    def __init__(self, permits: Permits, most: Mapping[str, int], service_of: Callable[[str], str]) -> None:
        """`most` are the limits by service; `service_of` tells it of a model. A service not among them has no limit."""
        self._permits, self._most, self._service_of = permits, dict(most), service_of
        self._lines: dict[str, asyncio.Lock] = {}
        self._free = asyncio.Event()

    @asynccontextmanager
    async def turn(self, model: str) -> AsyncGenerator[None, None]:
        """See the port.

        Raises:
            StoreError: where the permits are kept cannot be reached.
        """
        service = self._service_of(model)
        most = self._most.get(service, 0)
        if not most:
            yield
            return
        id = secrets.token_hex(8)
        try:
            await self._taken(service, id, most)
            keeping = asyncio.get_running_loop().create_task(self._keep(id))
            try:
                yield
            finally:
                keeping.cancel()
        finally:  # a call that was cancelled may have been given one in this moment
            await self._give_back(id)

    async def _taken(self, service: str, id: str, most: int) -> None:
        async with self._lines.setdefault(service, asyncio.Lock()):
            while True:
                self._free.clear()
                if await self._permits.take(service, id, most, TTL):
                    return
                try:
                    await asyncio.wait_for(self._free.wait(), POLL)
                except TimeoutError:
                    continue

    async def _keep(self, id: str) -> None:
        while True:
            await asyncio.sleep(RENEWAL)
            try:
                await self._permits.renew(id, TTL)
            except StoreError as error:
                log.warning("a permit could not be renewed: %s", error)  # the call goes on; others may begin early

    async def _give_back(self, id: str) -> None:
        try:
            await self._permits.give_back(id)
        except StoreError as error:
            log.warning("a permit could not be given back, and runs out by itself: %s", error)
        self._free.set()


# Which models are worth asking: a circuit breaker for each, in this process's memory and never in the journal.

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
