"""The places of documents that a user names: paths, addresses of pages, and what connectors read and list."""

from __future__ import annotations

import glob
import itertools
import os
import shutil
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

import msgspec

from assay import plugins
from assay.core.errors import UnknownName, UsageError
from assay.core.lazy import regex
from assay.core.ports import (
    Clock,
    CollectionRow,
    Connector,
    GuardedConnector,
    Library,
    ListedFile,
    ListingConnector,
    Origin,
    SkippedFile,
)
from assay.core.ports.collections import SLASH
from assay.core.sources import UNSORTED, Fetched
from assay.core.ways import suggest_command
from assay.evidence.ingest import absolute_paths, printable
from assay.services.home_paths import scratch_folder

# Places that connectors list, for a job that reads them in parts: repositories, object stores.


class ListedPlace(msgspec.Struct, frozen=True):
    """A place as a user named it, with its name that stays valid while a job reads it, and its files."""

    place: str
    pinned_place: str
    files: tuple[ListedFile, ...]


class _HeldFolder:
    """A place's folder, created when needed, and the number of its users."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.folder: Path | None = None
        self.users = 0
        self._discarded: list[Path] = []

    def ensure_folder(self) -> Path:
        if self.folder is None:
            self.folder = scratch_folder()
        return self.folder

    def clear(self) -> None:
        """Move the folder away at once, although its users may still write there."""
        folder, self.folder = self.folder, None
        if folder is not None:
            self._discarded.append(folder.rename(folder.with_name(f"{folder.name}-gone")))
        self.sweep()

    def sweep(self) -> None:
        """Delete folders moved away, if nobody writes there any more."""
        for folder in list(self._discarded):
            shutil.rmtree(folder, ignore_errors=True)
        self._discarded = [folder for folder in self._discarded if folder.exists()]


class ListedPlaces:
    """The places fetched by this process: a repository is fetched once, and not again for each of its parts.

    Readers name a place's connector (`connector_of`), because it depends on who named the place.
    """

    def __init__(self) -> None:
        self._folders: defaultdict[str, _HeldFolder] = defaultdict(_HeldFolder)
        self._guard = threading.Lock()

    def list_files(
        self, connector: Connector, place: str, pinned_place: str, clock: Clock, largest: int
    ) -> ListedPlace | None:
        """The files of a place, or of its version `pinned_place`; None if it cannot be listed.

        Raises:
            FetchFailed: it cannot be fetched.
            UsageError: it has more files than a job reads.
        """
        if not isinstance(connector, ListingConnector):
            return None
        place = connector.canonical(place)
        with self._use(place) as held_folder, held_folder.lock:
            current_place, files = connector.list(pinned_place or place, held_folder.ensure_folder(), clock, largest)
        return ListedPlace(place, current_place, tuple(files))

    def read(self, connector: Connector, listed_place: ListedPlace, clock: Clock) -> Iterator[Fetched]:
        """Yield some files of a place, those in `listed_place`.

        Raises:
            FetchFailed: they cannot be fetched.
            UsageError: this release cannot list such a place.
        """
        if not isinstance(connector, ListingConnector):
            raise UsageError(f"{listed_place.place} cannot be read in parts: update its connector")
        with self._use(listed_place.place) as held_folder:
            with held_folder.lock:  # the first file: fetch the place, if that is not done
                files = connector.read(
                    listed_place.pinned_place, listed_place.files, held_folder.ensure_folder(), clock
                )
                first = next(files, None)
            if first is not None:
                yield first
                yield from files

    def stop(self, place: str) -> None:
        """End the work on a place: whatever fetches or lists it finds its folder gone."""
        with self._guard:
            held_folder = self._folders.get(connector_of(place).canonical(place))
        if held_folder is not None:
            held_folder.clear()

    def forget(self, place: str) -> None:
        """Delete the copy of a place, unless somebody reads it now; a later reader fetches it again."""
        place = connector_of(place).canonical(place)
        with self._guard:
            held_folder = self._folders.get(place)
            if held_folder is None or held_folder.users:
                return
            del self._folders[place]
        held_folder.clear()

    def close(self) -> None:
        """Delete all copies."""
        for held_folder in self._folders.values():
            held_folder.clear()
        self._folders.clear()

    @contextmanager
    def _use(self, place: str) -> Iterator[_HeldFolder]:
        with self._guard:
            held_folder = self._folders[place]
            held_folder.users += 1
        try:
            yield held_folder
        finally:
            with self._guard:
                held_folder.users -= 1
            held_folder.sweep()


def connector_of(place: str, allow: Sequence[str] | None = None) -> Connector:
    """The connector for a place; `allow` guards it (see `Context.allowed_hosts` and `GuardedConnector`).

    Raises:
        UnknownName: no such connector is installed.
        ConfigError: `allow` contains something that is neither a host nor a network.
    """
    connector: Connector = plugins.load("connectors", place.partition(":")[0])()
    return connector if allow is None or not isinstance(connector, GuardedConnector) else connector.guarded(allow)


FILES, PAGE, CRAWL = "files", "page", "crawl"
MAX_NAME_CHARS = 100
MEMBER = "!/"
"""Separates the path of an archive from that of a file in it."""
MAX_SKIPPED_FILES = 1_000
"""Skipped files stored for one place."""

IN_MEMORY = (
    "(this Assay is in memory and has no collections; to use those of the command line, name their home: "
    "home=assay.Settings().home)"
)

_SELECTION = regex(r"set-[0-9a-f]{16}")


class InputPlaces(msgspec.Struct, frozen=True):
    """Places by kind: addresses of pages, what connectors understand, paths and globs."""

    urls: tuple[str, ...]
    connector_places: tuple[str, ...]
    paths: tuple[str, ...]


def sort_places(place_names: Iterable[str]) -> InputPlaces:
    """Sort the places that a user named by kind."""
    schemes = tuple(f"{name}:" for name in plugins.names("connectors"))
    urls, connector_places, paths = [], [], []
    for place in dict.fromkeys(place_names):
        if place.lower().startswith(("http://", "https://")):
            urls.append(place)
        elif schemes and place.startswith(schemes):
            connector_places.append(place)
        else:
            paths.append(place)
    return InputPlaces(tuple(urls), tuple(connector_places), tuple(paths))


def absolute_path(path: str) -> str:
    """A path or a glob as it is stored: valid from any folder."""
    return os.path.abspath(Path(path).expanduser())


def may_contain(origin: Origin, folders: Iterable[str]) -> bool:
    """True if one of these folders is where files of an origin were looked for: in its folder, or where its glob may
    lead.
    """
    if origin.kind != FILES:
        return False
    base = str(_fixed_part(Path(origin.place))).rstrip(os.sep)
    return any(folder == base or folder.startswith(f"{base}{os.sep}") for folder in folders)


def _fixed_part(path: Path) -> Path:
    """The part of a path before the first with signs of a glob."""
    return Path(*itertools.takewhile(lambda part: not glob.has_magic(part), path.parts))


def files_of(paths: Iterable[str]) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The files (absolute) of each place (absolute), and by path why there are none."""
    files_by_place: dict[str, list[str]] = {}
    missing: dict[str, str] = {}
    for path in paths:
        files: list[str] = []
        try:
            files = absolute_paths([path])
        except UsageError as error:
            missing[path] = str(error)
        files_by_place[absolute_path(path)] = [printable(file) for file in files]
    return files_by_place, missing


def is_unavailable(origin: Origin, library: Library) -> bool:
    """True if the folder that gave documents is not there, or has nothing in it: a drive that is not mounted looks so.

    A file that is missing from a folder with others was deleted.
    """
    if not origin.documents:
        return False
    path = Path(os.path.realpath(origin.place))  # a drive is often named by a link to it
    folder = path if path.is_dir() else _fixed_part(path) if glob.has_magic(origin.place) else path.parent
    if _is_empty_folder(folder):
        return True
    below = f"{path.as_uri()}/"
    return not os.path.lexists(path) and any(
        document.url.startswith(below) for document in library.documents_by_hash(origin.documents)
    )


def _is_empty_folder(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except FileNotFoundError:
        return True
    except OSError:  # there is something, which cannot be read
        return False


def documents_of(
    files: Sequence[str], documents_by_name: Mapping[str, tuple[str, ...]], library: Library | None
) -> tuple[str, ...]:
    """The documents of these files as just read; for an unreadable file, with a library, its last readable version."""
    documents_by_path = {os.path.abspath(name): documents for name, documents in documents_by_name.items()}
    gave: dict[str, None] = {}
    for file in files:
        if file in documents_by_path:
            gave.update(dict.fromkeys(documents_by_path[file]))
        elif library is not None:
            gave.update(dict.fromkeys(_previous_documents(file, library)))
    return tuple(gave)


def skipped_files(files: Iterable[str], skipped: Mapping[str, tuple[SkippedFile, ...]]) -> tuple[SkippedFile, ...]:
    """The skipped ones of these files, at most `MAX_SKIPPED_FILES`, with absolute paths."""
    skipped_by_path = {os.path.abspath(name): (name, entries) for name, entries in skipped.items()}
    return tuple(
        msgspec.structs.replace(entry, path=f"{file}{entry.path.removeprefix(skipped_by_path[file][0])}")
        for file in files
        if file in skipped_by_path
        for entry in skipped_by_path[file][1]
    )[:MAX_SKIPPED_FILES]


def keep_earlier_skipped(after: Origin, before: Origin | None, unchanged: Collection[str]) -> Origin:
    """An origin with earlier skipped files of archives that were not opened this time, since they have not changed."""
    if before is None:
        return after
    same = {os.path.abspath(name) for name in unchanged}
    earlier = (
        skipped_file
        for skipped_file in before.skipped
        if skipped_file.path.partition(MEMBER)[0] in same and MEMBER in skipped_file.path
    )
    return msgspec.structs.replace(after, skipped=tuple(dict.fromkeys((*after.skipped, *earlier)))[:MAX_SKIPPED_FILES])


def _previous_documents(file: str, library: Library) -> tuple[str, ...]:
    try:
        is_empty = os.path.getsize(file) == 0
    except (OSError, ValueError):
        is_empty = False
    stamp = None if is_empty else library.stamps([file]).get(file)
    return () if stamp is None else stamp.documents


Purpose = Literal["asked", "checked"]
_SENT = regex(rf"(?:{'|'.join(get_args(Purpose))})-\d{{4}}-\d\d-\d\d-\d{{6}}")


def sent_collection_name(purpose: Purpose) -> str:
    """The name of a new collection for files that came with a question or a text."""
    return f"{purpose}-{datetime.now(UTC):%Y-%m-%d-%H%M%S}"


def is_sent_collection(row: CollectionRow) -> bool:
    """True if a collection has such a name: each question and text makes one, so lists offer them apart."""
    return bool(_SENT.fullmatch(row.name.removeprefix(f"{row.owner}{SLASH}")))


def sent_at(name: str) -> str:
    """The moment (ISO 8601) in the name of a collection for files that came with a form; "" for any other name."""
    moment = name.partition("-")[2] if _SENT.fullmatch(name) else ""
    return moment and datetime.strptime(moment, "%Y-%m-%d-%H%M%S").replace(tzinfo=UTC).isoformat()


def is_user_collection(row: CollectionRow) -> bool:
    """True if a user created this collection, rather than a run for itself."""
    name = row.name.removeprefix(f"{row.owner}{SLASH}")
    return name != UNSORTED and not _SELECTION.fullmatch(name)


def check_collection_name(name: str) -> str:
    """Return the name if a collection may have it.

    Raises:
        UsageError: it may not.
    """
    good = name.isprintable() and name == name.strip() and 0 < len(name) <= MAX_NAME_CHARS
    if not good or name.startswith(("@", "-")) or name == UNSORTED or _SELECTION.fullmatch(name):
        raise UsageError(
            f"{printable(name)[:MAX_NAME_CHARS]!r} cannot be a collection's name: up to {MAX_NAME_CHARS} printable "
            f"characters, not beginning with @ or -, and not {UNSORTED!r} or 'set-…'"
        )
    return name


def split_collections(
    place_names: Iterable[str], library: Library, *, in_memory: bool = False
) -> tuple[list[str], list[str]]:
    """The existing collections in what was named (`@NAME`), and the rest.

    Raises:
        UnknownName: there is no such collection.
    """
    references: list[str] = []
    other_places: list[str] = []
    for place in place_names:
        (references if place.startswith("@") else other_places).append(place)
    names = list(dict.fromkeys(place.removeprefix("@") for place in references))
    if names:
        rows = library.collections()
        existing, user_collections = {row.name for row in rows}, [row.name for row in rows if is_user_collection(row)]
        for name in names:
            if name not in existing:
                raise unknown_collection(
                    name, user_collections, IN_MEMORY if in_memory and not user_collections else ""
                )
    return names, other_places


def unknown_collection(name: str, known: Iterable[str], hint: str = "") -> UsageError:
    """The error for an unknown collection; `hint` says what to do about it, by default to add it."""
    if not name.strip():
        return UsageError("the name of a collection is empty: write one, such as @papers")
    known = list(known)
    if hint:
        return UnknownName("collection", name, known, hint)
    to_make = f"to make it: {suggest_command('add', name)}"
    return UnknownName("collection", name, known, f"({'' if known else 'there are no collections yet; '}{to_make})")


def exclude_documents(origin: Origin, documents: Mapping[str, str]) -> Origin:
    """An origin from which a person removed documents (hash → address)."""
    excluded = [sha for sha in origin.documents if sha in documents]
    if not excluded:
        return origin
    return msgspec.structs.replace(
        origin,
        documents=tuple(sha for sha in origin.documents if sha not in documents),
        left_out=tuple(dict.fromkeys((*origin.left_out, *(documents[sha] for sha in excluded)))),
    )
