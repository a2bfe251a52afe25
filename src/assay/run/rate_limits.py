"""Circuit breakers, which say which models are worth calling, and limits on parallel calls to a service."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

import msgspec

from assay.core.errors import ModelError, StoreError
from assay.core.ports.models import Permits
from assay.run.tasks import wait_for_event

TTL = 15.0
"""Seconds after which the permit of a dead process is free again."""
RENEWAL = TTL / 3
POLL = 0.1
"""Seconds between two looks whether another process has returned a permit."""
log = logging.getLogger(__name__)


class PermitRateLimiter:
    """`RateLimiter` by permits. Within a process, calls to a service go in the order they were requested."""

    def __init__(self, permits: Permits, limits: Mapping[str, int], service_of: Callable[[str], str]) -> None:
        """`limits` are the limits by service; `service_of` maps a model to its service. Others have no limit."""
        self._permits, self._limits, self._service_of = permits, dict(limits), service_of
        self._lines: dict[str, asyncio.Lock] = {}
        self._free = asyncio.Event()

    @asynccontextmanager
    async def call_slot(self, model: str) -> AsyncGenerator[None, None]:
        """See the port.

        Raises:
            StoreError: the store of the permits cannot be reached.
        """
        service = self._service_of(model)
        limit = self._limits.get(service, 0)
        if not limit:
            yield
            return
        id = secrets.token_hex(8)
        try:
            await self._take_permit(service, id, limit)
            renewal = asyncio.get_running_loop().create_task(self._keep(id))
            try:
                yield
            finally:
                renewal.cancel()
        finally:  # a cancelled call may have just received one
            await self._give_back(id)

    async def _take_permit(self, service: str, id: str, limit: int) -> None:
        async with self._lines.setdefault(service, asyncio.Lock()):
            while True:
                self._free.clear()
                if await self._permits.take(service, id, limit, TTL):
                    return
                await wait_for_event(self._free, POLL)

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


# A circuit breaker for each model, in this process's memory and never in the journal.

FAILURES = 3
"""Failures in a row that open a breaker. An error that no retry would fix opens it at once."""
PAUSE = 30.0
MAX_PAUSE_SECONDS = 300.0
PROBE = 120.0
"""Seconds a probe may take before another is allowed."""
PATIENCE = 60.0
"""Seconds a call waits before it is retried; a service that asks for more is left alone at once."""


class _Breaker(msgspec.Struct):
    failures: int = 0
    pause: float = 0.0
    until: float = 0.0
    is_probing: bool = False


class CircuitBreakers:
    """The breakers of all models called so far, by name. Times are monotonic seconds.

    They also know how much room each model needs beyond its answers. No table has that; it is learned from replies cut
    at their cap that contain nothing but reasoning.
    """

    def __init__(self) -> None:
        self._breakers: dict[str, _Breaker] = {}
        self._rooms: dict[str, int] = {}
        self._unreachable_since: dict[str, float] = {}

    def granted_tokens(self, name: str) -> int:
        """Tokens granted to a model beyond its answer; 0 if it is not known to need any."""
        return self._rooms.get(name, 0)

    def grant_tokens(self, name: str, room: int) -> None:
        """Grant a model `room` more tokens from now on: a reply was cut before its answer began."""
        self._rooms[name] = max(room, self.granted_tokens(name))

    def usable_models(self, names: Sequence[str], now: float) -> tuple[str, ...]:
        """The models worth calling now, in the given order. If there is none, the one whose pause ends first."""
        good = tuple(name for name in names if not self.is_open(name, now))
        return good or (min(names, key=lambda name: self._breakers[name].until),)

    def record_start(self, name: str, now: float) -> None:
        """A call begins. With a half-open breaker it is the probe, and others wait for its outcome."""
        breaker = self._breakers.get(name)
        if breaker is not None and breaker.pause and now >= breaker.until:
            breaker.is_probing, breaker.until = True, now + PROBE

    def record_success(self, name: str) -> None:
        """A call was answered."""
        self._breakers.pop(name, None)
        self._unreachable_since.pop(name, None)

    def may_return(self, name: str, now: float, seconds: float) -> bool:
        """True if a service that cannot be reached has not been gone for so many seconds: it may be restarting."""
        return now - self._unreachable_since.setdefault(name, now) < seconds

    def record_failure(self, name: str, now: float, *, transient: bool, retry_after: float | None = None) -> None:
        """A call failed. A pause that the service asks for is kept. Further failures of an open breaker change
        nothing.
        """
        breaker = self._breakers.setdefault(name, _Breaker())
        breaker.failures += 1
        hopeless = not transient or breaker.failures >= FAILURES or (retry_after or 0.0) > PATIENCE
        if (hopeless and not breaker.pause) or breaker.is_probing:
            breaker.pause, breaker.is_probing = min(breaker.pause * 2 or PAUSE, MAX_PAUSE_SECONDS), False
            breaker.until = now + max(breaker.pause, min(retry_after or 0.0, MAX_PAUSE_SECONDS))

    def is_open(self, name: str, now: float) -> bool:
        """True if it must be left alone now: it failed, or its probe is in progress."""
        breaker = self._breakers.get(name)
        return breaker is not None and now < breaker.until


FIRST_PAUSE, RETURN_PAUSE = 0.5, 5.0
"""Seconds before the second attempt, and at most between attempts to reach a service that may be restarting."""


def pause_seconds(error: ModelError, attempt: int, *, waited_for: bool = False) -> float:
    """Seconds before the next attempt: what the provider asks for, else doubling."""
    pause = error.retry_after if error.retry_after is not None else FIRST_PAUSE * 2.0 ** min(attempt, 10)
    return min(pause, RETURN_PAUSE if waited_for else PATIENCE)
