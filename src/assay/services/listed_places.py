"""Places which connectors list, for a job which reads them in parts: repositories, object stores."""

from __future__ import annotations

import shutil
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


class _Held:
    """A place's folder, made when it is needed, and for how many it is needed now."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.folder: Path | None = None
        self.users = 0
        self._gone: list[Path] = []

    def opened(self) -> Path:
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="assay-place-"))
        return self.folder

    def clear(self) -> None:
        """Take the folder away: at once, though who works in it may still write there."""
        folder, self.folder = self.folder, None
        if folder is not None:
            self._gone.append(folder.rename(folder.with_name(f"{folder.name}.gone")))
        self.sweep()

    def sweep(self) -> None:
        """Delete what was taken away, as far as nobody writes there."""
        for folder in list(self._gone):
            shutil.rmtree(folder, ignore_errors=True)
        self._gone = [folder for folder in self._gone if folder.exists()]


class ListedPlaces:
    """What this process has of such places: a repository is fetched once here, and not again for each of its parts."""

    def __init__(self) -> None:
        self._held: defaultdict[str, _Held] = defaultdict(_Held)
        self._guard = threading.Lock()

    def listed(self, place: str, kept: str, clock: Clock, largest: int) -> ListedPlace | None:
        """The files of a place, or of what it was when it was listed as `kept`; None where it cannot be listed.

        Raises:
            FetchFailed: it cannot be had.
            UsageError: it holds more than a job reads.
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
        with self._using(place) as held:
            with held.lock:  # the first file: the place is fetched for it, where it was not yet
                found = connector.read(kept, files, held.opened(), clock)
                first = next(found, None)
            if first is not None:
                yield first
                yield from found

    def stop(self, place: str) -> None:
        """End what goes on at a place: what fetches or lists it finds its folder gone."""
        with self._guard:
            held = self._held.get(connector_of(place).canonical(place))
        if held is not None:
            held.clear()

    def forget(self, place: str) -> None:
        """Delete what was fetched of a place, unless somebody reads it now; who reads it later fetches it again."""
        place = connector_of(place).canonical(place)
        with self._guard:
            held = self._held.get(place)
            if held is None or held.users:
                return
            del self._held[place]
        held.clear()

    def close(self) -> None:
        """Delete what was fetched."""
        for held in self._held.values():
            held.clear()
        self._held.clear()

    @contextmanager
    def _at(self, place: str) -> Iterator[Path]:
        """The folder of a place, for one who works in it."""
        with self._using(place) as held, held.lock:
            yield held.opened()

    @contextmanager
    def _using(self, place: str) -> Iterator[_Held]:
        with self._guard:
            held = self._held[place]
            held.users += 1
        try:
            yield held
        finally:
            with self._guard:
                held.users -= 1
            held.sweep()


def connector_of(place: str) -> Connector:
    """What reaches a place.

    Raises:
        UnknownName: no such connector is installed.
    """
    made: Connector = plugins.load("connectors", place.partition(":")[0])()
    return made
