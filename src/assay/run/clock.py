"""The time of this machine."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from functools import lru_cache


class SystemClock:
    """Implements `core.ports.Clock`."""

    def now(self) -> str:
        return stamp(time.time_ns())

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def stamp(nanoseconds: int) -> str:
    """Nanoseconds since 1970 as ISO 8601, UTC, with milliseconds and `Z`."""
    second, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{_second(second)}.{rest // 1_000_000:03}Z"


@lru_cache(maxsize=1)
def _second(second: int) -> str:
    # Every event asks for the time, some hundred in a second.
    return datetime.fromtimestamp(second, UTC).isoformat(timespec="seconds")[:19]
