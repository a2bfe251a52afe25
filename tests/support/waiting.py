"""Waiting until something is so: as long as it takes on a machine which is busy with other things too."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

Seen = TypeVar("Seen")

LONG = 120.0
"""Seconds after which nothing will happen any more."""
BETWEEN = 0.02
LATE = timedelta(minutes=1)
"""Before midnight: longer than nearly all tests take."""


async def until(is_so: Callable[[], object], seconds: float = LONG) -> None:
    """Wait until that is so."""
    async with asyncio.timeout(seconds):
        while not is_so():
            await asyncio.sleep(BETWEEN)


async def looked(
    look: Callable[[], Awaitable[Seen]], is_wanted: Callable[[Seen], object], seconds: float = LONG
) -> Seen:
    """Look again and again until what is seen is wanted, or has had its time; what was seen last."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while True:
        seen = await look()
        if is_wanted(seen) or loop.time() > end:
            return seen
        await asyncio.sleep(BETWEEN)


def past_midnight() -> None:
    """Wait for the next day where this one is about to end: a run says what day it is, and so does a second one."""
    now = datetime.now(UTC)
    if (later := now + LATE).date() != now.date():
        time.sleep((datetime.combine(later, datetime.min.time(), UTC) - now).total_seconds())
