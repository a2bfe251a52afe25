"""Permits: how many calls a service gets at once, by all processes together."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol


class Permits(Protocol):
    """Permits to call a service, each for a time: those of a process which died run out."""

    async def take(self, service: str, id: str, most: int, ttl: float) -> bool:
        """Have a permit of this `id` for `ttl` seconds, where fewer than `most` of the service are in force."""
        ...

    async def renew(self, id: str, ttl: float) -> None:
        """Hold on to it for `ttl` more seconds."""
        ...

    async def give_back(self, id: str) -> None:
        """The call has ended; nothing happens where the permit ran out."""
        ...


class RateLimiter(Protocol):
    """When a model may be called."""

    def turn(self, model: str) -> AbstractAsyncContextManager[None]:
        """Wait until it is this call's turn; the block is the call."""
        ...
