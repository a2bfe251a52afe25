"""Connectors: places documents are in which are neither files nor pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from assay.core.ports.world import Clock
from assay.core.sources import Fetched


class Connector(Protocol):
    """Gives what is in a place, file by file. An entry point's name is the scheme of its places (`git+https`).

    It is made without arguments. What it gives is read like a page of the web: by its media type, else its name.
    """

    def canonical(self, place: str) -> str:
        """The place as it is remembered.

        Raises:
            UsageError: it is none of this connector's.
        """
        ...

    def reaches_out(self, place: str) -> bool:
        """Whether another machine is asked for `place`."""
        ...

    def fetch(self, place: str, folder: Path, clock: Clock, largest: int) -> Iterator[Fetched]:
        """The files at `place`, as they are now; none of more than `largest` bytes. Blocking.

        Args:
            folder: an empty folder of this call's own, deleted after it.

        Raises:
            FetchFailed: it cannot be had; the reason begins with its kind. Raised by the iteration.
        """
        ...
