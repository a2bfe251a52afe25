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
        self.waiting = 0
        self.outcome: T | FetchFailed | None = None


async def share_work(going: dict[K, InFlight[T]], key: K, work: Callable[[], Awaitable[T]]) -> T:
    """Return the result of `work` to all who request it while it runs; nothing is kept for later.

    Raises:
        FetchFailed: raised by `work`, and shared by all who wait.
    """
    each = going.setdefault(key, InFlight())
    each.waiting += 1
    try:
        async with each.turn:
            if each.outcome is None:
                try:
                    each.outcome = await work()
                except FetchFailed as failed:
                    each.outcome = failed
    finally:
        each.waiting -= 1
        if not each.waiting:
            going.pop(key, None)
    if isinstance(each.outcome, FetchFailed):
        raise FetchFailed(each.outcome.reason)
    return each.outcome
