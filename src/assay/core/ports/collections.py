"""Collections of a library: their documents, the places and files these came from, and whether they are private."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, Protocol, Self

import msgspec

from assay.core.errors import UsageError

SLASH = "/"
"""Separates the owner from the name of another owner's collection."""


def others_collection_error(reference: str) -> UsageError:
    """The error for changing another owner's collection."""
    return UsageError(
        f"the collection {reference!r} is another user's: you may read it only; add documents to one of your own"
    )


def unfit_name(name: str) -> UsageError:
    """The error for a new collection with a name that looks like another owner's."""
    return UsageError(
        f"a new collection cannot be called {name!r}: a slash stands between the owner and the name of another user's "
        "collection, and you may read none of this name; use a name without one"
    )


class CollectionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A collection in a list: the number of its documents and places, and whether it is private.

    `owner` is the user it belongs to, empty for the one local user. Others may read it if it is `open` or if they are
    among its `readers`; only the owner sees that list. Another owner's collection is called OWNER/NAME.
    """

    name: str
    documents: int
    private: bool = False
    origins: int = 0
    owner: str = ""
    open: bool = False
    readers: tuple[str, ...] = ()


class SkippedFile(msgspec.Struct, frozen=True):
    """A file or page of a place that gave no document, or (`partly`) not all of its contents, and why."""

    path: str
    reason: str
    partly: bool = False


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """A place that documents were added from, so that it can be synced again.

    `place` is an absolute path (or glob), an address, or what a connector understands. `kind` is `files`, `page`,
    `crawl` or a connector's name; `options` are its parameters. `documents` (hashes) are what the place gave at the
    last sync, at `synced_at`. `left_out` has the addresses of documents that a person removed: a sync does not bring
    them back. `skipped` lists what could not be read at the last sync, or was left out on purpose.
    """

    place: str
    kind: str
    options: dict[str, str] = {}
    documents: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    synced_at: str = ""
    skipped: tuple[SkippedFile, ...] = ()


class Collections(Protocol):
    """The part of a library that manages its collections. Blocking; call from a worker thread.

    A name is one of the owner's own collections, or OWNER/NAME for another's that the owner may read. Methods that
    change a collection raise a `UsageError` for the latter.
    """

    def owned_by(self, owner: str | None) -> Self:
        """Return the same library as one owner sees it: their own collections and documents, and what others share with
        them.

        None sees everything; what it creates belongs to the local user.
        """

    def collections(self) -> list[CollectionRow]:
        """All collections by name, including those made for a single run."""

    def resolve_names(self, collections: Iterable[str]) -> tuple[str, ...]:
        """Translate names into those of the view of all owners, in this order; leave out what may not be read."""

    def share(self, collection: str, *, open: bool, readers: Iterable[str] = ()) -> None:
        """Set who may read a collection beside its owner: everyone, these readers, or (if neither is given) nobody.

        Raises:
            UnknownName: the owner has no such collection.
        """

    def mark(self, collection: str, *, private: bool) -> None:
        """Set whether a collection is private, and create it if it does not exist."""

    def private_among(self, collections: Iterable[str], documents: Iterable[str] = ()) -> list[str]:
        """Return the names of private collections that are among `collections` or share a document with them.

        The documents in `documents` (hashes) count too. A private document stays private in every other collection it
        is added to.
        """

    def remove(self, documents: Iterable[str], collection: str) -> None:
        """Take documents (hashes) out of a collection, in one transaction. They stay in the library."""

    def drop(self, collection: str) -> None:
        """Delete a collection and its origins. Its documents stay in the library."""

    def origins(self, collection: str) -> list[Origin]:
        """The places a collection was added from, ordered by place."""

    def add_origins(self, collection: str, origins: Iterable[Origin]) -> None:
        """Store origins of a collection (created if it does not exist); an origin with the same place is replaced."""

    def forget_origins(self, collection: str, origins: Iterable[str]) -> None:
        """Delete origins of a collection."""


# Documents being added in the background, with their progress, so that any process can report it.

AdditionState = Literal["waiting", "reading", "done", "failed"]
AdditionKind = Literal["add", "crawl", "sync"]
ADDITION_ENDED: frozenset[AdditionState] = frozenset(("done", "failed"))


class AdditionStart(msgspec.Struct, frozen=True, kw_only=True):
    """How to begin an addition, apart from what it reads. Without a name it is named after its sources."""

    name: str = ""
    kind: AdditionKind = "add"
    options: dict[str, int] = {}


class Addition(msgspec.Struct, frozen=True, kw_only=True):
    """Documents on their way into a collection. `seq` counts its updates.

    `name` is what a person calls it; `sources` are the paths and addresses to read. `kind` says how: a crawl follows
    the site at an address within `options` (pages, depth), a sync looks again at every place a collection was added
    from. `line` is the latest progress message. `documents` counts those found so far, `added` the new ones. `holder`
    is the process that reads.
    """

    id: str
    collection: str
    name: str
    sources: tuple[str, ...]
    created_at: str
    updated_at: str
    state: AdditionState = "waiting"
    seq: int = 1
    line: str = ""
    documents: int = 0
    added: int = 0
    warnings: tuple[str, ...] = ()
    error: str = ""
    holder: str = ""
    owner: str = ""
    kind: AdditionKind = "add"
    options: dict[str, int] = {}


class Additions(Protocol):
    """Additions in progress or ended. Blocking; call from a worker thread."""

    def owned_by(self, owner: str | None) -> Self:
        """Return the same as one owner sees it: their own additions. None sees all."""

    def put(self, addition: Addition) -> None:
        """Store an addition, replacing its earlier state. It belongs to the owner of this view, if there is one."""

    def find(self, id: str) -> Addition:
        """Return the addition with this id.

        Raises:
            UnknownName: there is none.
        """

    def all(self, limit: int = 100) -> list[Addition]:
        """Additions, newest first."""

    def forget(self, before: str) -> None:
        """Delete the additions that ended before a moment (ISO 8601 UTC)."""


# Files: archives of them, and what a library knows of those that its documents came from.


class ArchiveMember(msgspec.Struct, frozen=True, kw_only=True):
    """A file in an archive: its printable path there, and its bytes, or the `problem` that prevents reading it."""

    name: str
    data: bytes = b""
    problem: str = ""


class Archive(Protocol):
    """Opens files that contain files. `name` includes a version ("zip/1"); `suffixes` are lower case (".zip")."""

    @property
    def name(self) -> str: ...

    @property
    def suffixes(self) -> tuple[str, ...]: ...

    def members(self, data: bytes, name: str, largest: int) -> Iterator[ArchiveMember]:
        """Yield the files in `data` in order, unpacked one at a time, without folders and hidden files.

        A member larger than `largest` bytes has a problem instead of data. Sizes are counted while unpacking: the
        archive's own figures are not trusted.

        Raises:
            ExtractError: the archive cannot be opened, or unpacks to an absurd size. Raised by the iteration.
        """


class FileStamp(msgspec.Struct, frozen=True, kw_only=True):
    """How a file looked when it was read, and which documents it gave, so that an unchanged file is not read twice.

    `extractor` names the version that read it, since a newer one reads it again. `warnings` are what was reported about
    a file of which only a part could be read; they are repeated for the unchanged file.
    """

    path: str
    size: int
    mtime_ns: int
    documents: tuple[str, ...]
    extractor: str = ""
    warnings: tuple[str, ...] = ()


class StoredPlace(msgspec.Struct, frozen=True):
    """Where an owner's document was read, with its row number in the library, and the hash of what was read there."""

    row: int
    url: str
    snapshot_sha256: str


class DocumentMove(msgspec.Struct, frozen=True, kw_only=True):
    """A document that was read again from another place, since the file it came from is gone.

    It has the address `before`, and gets `url` and `name`. If its address is another one by now, it stays as it is.
    """

    sha256: str
    before: str
    url: str
    name: str
