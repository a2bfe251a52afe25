"""Collections of a library: what they hold, where that was added from, and whether it stays on this machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol, Self

import msgspec

SLASH = "/"
"""Stands between the owner and the name of another's collection."""


class CollectionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A collection in a list: how many documents it holds, from how many places, and whether it is private.

    `owner` is whose it is, empty for the one local user. Beside him it is read by all where it is `open`, else by its
    `readers`, whom only its owner is told. Another's is called OWNER/NAME.
    """

    name: str
    documents: int
    private: bool = False
    origins: int = 0
    owner: str = ""
    open: bool = False
    readers: tuple[str, ...] = ()


class SkippedFile(msgspec.Struct, frozen=True):
    """A file or page of a place which gave no document, or (`partly`) not all it holds, and why."""

    path: str
    reason: str
    partly: bool = False


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """A place a collection was added from, so that it can be looked at again.

    `place` is an absolute path (or glob), an address, or what a connector understands; `kind` is `files`, `page`,
    `crawl` or a connector's name, `options` are what it was asked with. `documents` (hashes) are what the place gave
    last, at `synced_at`; `left_out` has the addresses of documents a person took out: a sync does not bring them back.
    `skipped` has what could not be read then, or was left out on purpose.
    """

    place: str
    kind: str
    options: dict[str, str] = {}
    documents: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    synced_at: str = ""
    skipped: tuple[SkippedFile, ...] = ()


class Collections(Protocol):
    """The part of a library which knows its collections. Blocking; call from a worker thread.

    A name is a collection of one's own, OWNER/NAME another's which one may read: what is said to change raises a
    `UsageError` then.
    """

    def owned_by(self, owner: str | None) -> Self:
        """The same library as one owner knows it: his own collections and documents, and what others let him read.

        None knows all, and makes what belongs to the local user.
        """
        ...

    def collections(self) -> list[CollectionRow]:
        """All of them, by name; those made for one run too."""
        ...

    def referred(self, collections: Iterable[str]) -> tuple[str, ...]:
        """What who knows all calls these collections, those which may be read; OWNER/NAME, in the order given."""
        ...

    def share(self, collection: str, *, open: bool, readers: Iterable[str] = ()) -> None:
        """Say who may read a collection beside its owner: all, or these; nobody any more where neither is said.

        Raises:
            UnknownName: there is no such collection of one's own.
        """
        ...

    def mark(self, collection: str, *, private: bool) -> None:
        """Say of a collection whether it is private; it is made when it is not there."""
        ...

    def private_among(self, collections: Iterable[str], documents: Iterable[str] = ()) -> list[str]:
        """The names of the private collections which are among these, or hold one of their documents or of
        `documents` (hashes): what is private stays so in every other collection it is put into.
        """
        ...

    def remove(self, documents: Iterable[str], collection: str) -> None:
        """Take documents (hashes) out of a collection, in one transaction; they stay in the library."""
        ...

    def drop(self, collection: str) -> None:
        """Forget a collection with its origins; its documents stay in the library."""
        ...

    def origins(self, collection: str) -> list[Origin]:
        """Where a collection was added from, by place."""
        ...

    def remember(self, collection: str, origins: Iterable[Origin]) -> None:
        """Keep origins of a collection (made when it is not there), in the place of those of the same place."""
        ...

    def forget(self, collection: str, places: Iterable[str]) -> None:
        """Forget origins of a collection."""
        ...


# Documents which are being added in the background: what each came to, so that any process can tell.

AdditionState = Literal["waiting", "reading", "done", "failed"]
AdditionKind = Literal["add", "crawl", "sync"]
ENDED: frozenset[AdditionState] = frozenset(("done", "failed"))


class AdditionStart(msgspec.Struct, frozen=True, kw_only=True):
    """How an addition is begun, beside what it reads; without a name it is called by that."""

    name: str = ""
    kind: AdditionKind = "add"
    options: dict[str, int] = {}


class Addition(msgspec.Struct, frozen=True, kw_only=True):
    """Documents on their way into a collection; `seq` counts what was said of it.

    `name` is what a person calls it, `sources` are what is read: paths and addresses. `kind` says how: the site at an
    address is crawled by `options` (pages, depth), of a collection all it was added from is looked at again. `line` is
    the last word on how it goes; `documents` were found so far, `added` of them are new. `holder` is the process that
    reads.
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
    """What is being added, or was. Blocking; call from a worker thread."""

    def owned_by(self, owner: str | None) -> Self:
        """The same as one owner knows it: what he adds; None knows all."""
        ...

    def put(self, addition: Addition) -> None:
        """Keep an addition, in the place of what was known of it; it is the owner's of this view, where it has one."""
        ...

    def find(self, id: str) -> Addition:
        """An addition by its id.

        Raises:
            UnknownName: there is none.
        """
        ...

    def all(self, limit: int = 100) -> list[Addition]:
        """Newest first."""
        ...

    def forget(self, before: str) -> None:
        """Forget those which ended before a moment (ISO 8601 UTC)."""
        ...
