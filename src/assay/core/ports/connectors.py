"""Connectors: places of documents that are neither files nor pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from assay.core.ports.world import Clock
from assay.core.sources import Fetched


class Connector(Protocol):
    """Reads a place file by file. The name of its entry point is the scheme of its places (`git+https`).

    It is created without arguments. Its files are read like pages of the web: by media type, else by name.
    """

    def canonical(self, place: str) -> str:
        """Return the place in the form that is stored.

        Raises:
            UsageError: this connector does not handle it.
        """
        ...

    def reaches_out(self, place: str) -> bool:
        """Whether reading `place` contacts another machine."""
        ...

    def fetch(self, place: str, folder: Path, clock: Clock, largest: int) -> Iterator[Fetched]:
        """Yield the current files at `place`, none larger than `largest` bytes. Blocking.

        Args:
            folder: an empty folder for this call alone, deleted afterwards or when the caller no longer wants the
                answer.

        Raises:
            FetchFailed: the place cannot be read; the reason begins with its kind. Raised by the iteration.
        """
        ...


class ListedFile(msgspec.Struct, frozen=True):
    """A file of a place: its name there, and a tag that changes with its content ("" if there is none)."""

    name: str
    version: str = ""


@runtime_checkable
class ListingConnector(Connector, Protocol):
    """A connector whose places can be listed first and then read in parts, by several processes."""

    def list(self, place: str, folder: Path, clock: Clock, largest: int) -> tuple[str, list[ListedFile]]:
        """Return the place under a name that stays valid (a commit), and its files at this moment.

        That name is accepted as `place` too. Files larger than `largest` bytes are left out. Blocking.

        Args:
            folder: a folder for this place alone, used by this call and by `read`. A caller that no longer wants the
                answer deletes it: check now and then whether it exists, and stop when it is gone.

        Raises:
            FetchFailed: as `fetch`.
            UsageError: there are more files than can be read.
        """
        ...

    def read(self, place: str, files: Sequence[ListedFile], folder: Path, clock: Clock) -> Iterator[Fetched]:
        """Yield some files of a listed place, without those deleted since. Blocking.

        Raises:
            FetchFailed: as `fetch`.
        """
        ...
