"""Connectors: places documents are in which are neither files nor pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

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
            folder: an empty folder of this call's own, deleted after it, or when the answer is wanted no more.

        Raises:
            FetchFailed: it cannot be had; the reason begins with its kind. Raised by the iteration.
        """
        ...


class ListedFile(msgspec.Struct, frozen=True):
    """A file of a place: its name there, and what tells this content of it from another ("" where nothing does)."""

    name: str
    version: str = ""


@runtime_checkable
class ListingConnector(Connector, Protocol):
    """A connector whose places can be listed first and then read in parts, by several processes."""

    def list(self, place: str, folder: Path, clock: Clock, largest: int) -> tuple[str, list[ListedFile]]:
        """The place as it is at this moment, under a name which stays true (a commit), and its files.

        It may be given that name again. Files of more than `largest` bytes are left out. Blocking.

        Args:
            folder: a folder of this place's own, for this call and for `read`. Who wants the answer no more deletes
                it: look for it now and then, and end when it is gone.

        Raises:
            FetchFailed: as `fetch`.
            UsageError: there is more than anybody reads.
        """
        ...

    def read(self, place: str, files: Sequence[ListedFile], folder: Path, clock: Clock) -> Iterator[Fetched]:
        """Some files of a place which was listed; one that is gone since is left out. Blocking.

        Raises:
            FetchFailed: as `fetch`.
        """
        ...
