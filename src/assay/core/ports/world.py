"""The world: all a run can reach."""

from __future__ import annotations

from typing import Protocol

import msgspec

from assay.core.ports.documents import Blobs, Library, Search
from assay.core.ports.models import Model
from assay.core.sources import Document


class Clock(Protocol):
    """Time: wall clock for records, monotonic for limits, sleep for retries."""

    def now(self) -> str:
        """ISO 8601 UTC with milliseconds and `Z`."""
        ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class Pages(Protocol):
    """Pages of the web, as documents of the library."""

    async def read(self, url: str) -> tuple[Document, ...]:
        """What is on the page at `url`; stored before it is given. At least one document.

        Raises:
            FetchFailed: it cannot be had or read; the reason begins with its kind.
        """
        ...


class World(msgspec.Struct, frozen=True, kw_only=True):
    """What a run can reach: models by name, search providers, documents, time; pages, where it may read the web."""

    models: dict[str, Model]
    searches: tuple[Search, ...]
    library: Library
    blobs: Blobs
    clock: Clock
    pages: Pages | None = None
