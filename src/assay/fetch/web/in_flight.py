"""Work that several callers want at the same time, and that is done once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from assay.core.errors import FetchFailed

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class InFlight(Generic[T]):
    """Work in progress; if the caller that began it is cancelled, the next one continues."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.waiter_count = 0
        self.outcome: T | FetchFailed | None = None


async def share_work(going: dict[K, InFlight[T]], key: K, work: Callable[[], Awaitable[T]]) -> T:
    """Return the result of `work` to all who request it while it runs; nothing is kept for later.

    Raises:
        FetchFailed: raised by `work`, and shared by all who wait.
    """
    flight = going.setdefault(key, InFlight())
    flight.waiter_count += 1
    try:
        async with flight.turn:
            if flight.outcome is None:
                try:
                    flight.outcome = await work()
                except FetchFailed as failed:
                    flight.outcome = failed
    finally:
        flight.waiter_count -= 1
        if not flight.waiter_count:
            going.pop(key, None)
    if isinstance(flight.outcome, FetchFailed):
        raise FetchFailed(flight.outcome.reason)
    return flight.outcome
