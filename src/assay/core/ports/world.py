"""The world: all a run can reach."""

from __future__ import annotations

from typing import Protocol

import msgspec

from assay.core.ports.documents import Blobs, Library, Search
from assay.core.ports.models import Model


class Clock(Protocol):
    """Time: wall clock for records, monotonic for limits, sleep for retries."""

    def now(self) -> str:
        """ISO 8601 UTC with milliseconds and `Z`."""
        ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class World(msgspec.Struct, frozen=True, kw_only=True):
    """What a run can reach: models by name, search providers, documents, time."""

    models: dict[str, Model]
    searches: tuple[Search, ...]
    library: Library
    blobs: Blobs
    clock: Clock
