"""Places which connectors list, for a job which reads them in parts: repositories, object stores."""

from __future__ import annotations

import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from assay import plugins
from assay.core.errors import UsageError
from assay.core.ports import Clock, Connector, ListedFile, ListingConnector
from assay.core.sources import Fetched


class ListedPlace(msgspec.Struct, frozen=True):
    """A place as a person named it, under the name which stays true while a job reads it, and its files."""

    place: str
    kept: str
    files: tuple[ListedFile, ...]


class ListedPlaces:
    """What this process has of such places: a repository is fetched once here, and not again for each of its parts."""

    def __init__(self) -> None:
        self._folders: dict[str, tempfile.TemporaryDirectory[str]] = {}
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._guard = threading.Lock()

    def listed(self, place: str, kept: str, clock: Clock, largest: int) -> ListedPlace | None:
        """The files of a place, or of what it was when it was listed as `kept`; None where it cannot be listed.

        Raises:
            FetchFailed: it cannot be had.
        """
        connector = connector_of(place)
        if not isinstance(connector, ListingConnector):
            return None
        place = connector.canonical(place)
        with self._at(place) as folder:
            now, files = connector.list(kept or place, folder, clock, largest)
        return ListedPlace(place, now, tuple(files))

    def read(self, place: str, kept: str, files: Sequence[ListedFile], clock: Clock) -> Iterator[Fetched]:
        """Some files of a place which was listed as `kept`.

        Raises:
            FetchFailed: they cannot be had.
            UsageError: this release cannot list such a place.
        """
        connector = connector_of(place)
        if not isinstance(connector, ListingConnector):
            raise UsageError(f"{place} cannot be read in parts: update its connector")
        with self._at(place) as folder:  # the first file: the place is fetched for it, where it was not yet
            found = connector.read(kept, files, folder, clock)
            first = next(found, None)
        if first is not None:
            yield first
            yield from found

    def close(self) -> None:
        """Delete what was fetched."""
        for folder in self._folders.values():
            folder.cleanup()
        self._folders.clear()

    @contextmanager
    def _at(self, place: str) -> Iterator[Path]:
        """The folder of a place, for one who works in it."""
        with self._guard:
            lock = self._locks[place]
        with lock:
            if place not in self._folders:
                self._folders[place] = tempfile.TemporaryDirectory(prefix="assay-place-")
            yield Path(self._folders[place].name)


def connector_of(place: str) -> Connector:
    """What reaches a place.

    Raises:
        UnknownName: no such connector is installed.
    """
    made: Connector = plugins.load("connectors", place.partition(":")[0])()
    return made
