"""Calls of a service take turns: not more at once than it is to get, whichever runs and processes they are of."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager

from assay.core.errors import StoreError
from assay.core.ports.permits import Permits

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
