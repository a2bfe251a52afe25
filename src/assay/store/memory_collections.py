"""Collections in the process: the part of the memory store's library which knows them."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Self

from assay.core.errors import UnknownName
from assay.core.ports import CollectionRow, Origin
from assay.store import common
from assay.store.common import SLASH

Key = tuple[str, str]
"""The owner and the name of a collection, or the owner and the hash of a document."""


@dataclass(slots=True)
class StoredCollection:
    """A collection: the rows of its documents, where they are from, and who may read it."""

    rows: set[int] = field(default_factory=set)
    origins: dict[str, Origin] = field(default_factory=dict)
    readers: tuple[str, ...] = ()
    private: bool = False
    open: bool = False


class MemoryCollections:
    """`Collections` over what the library keeps of rows and members."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._rows: dict[Key, int] = {}
        self._collections: dict[Key, StoredCollection] = {}
        self._owner: str | None = None

    def owned_by(self, owner: str | None) -> Self:
        """See the port."""
        view = copy.copy(self)
        view._owner = owner
        return view

    def collections(self) -> list[CollectionRow]:
        """All of them, by name."""
        with self._lock:
            rows = [self._row(key, held) for key, held in self._readable()]
        return sorted(rows, key=lambda row: row.name)

    def _row(self, key: Key, held: StoredCollection) -> CollectionRow:
        mine = self._owner in (None, key[0])
        return CollectionRow(
            name=self._reference(key),
            documents=len(held.rows),
            private=held.private,
            origins=len(held.origins) if mine else 0,
            owner=key[0],
            open=held.open,
            readers=held.readers if mine else (),
        )

    def referred(self, collections: Iterable[str]) -> tuple[str, ...]:
        """What who knows all calls these collections."""
        with self._lock:
            found = (self._meant(name) for name in dict.fromkeys(collections))
            return tuple(SLASH.join(key) for key in found if key is not None)

    def share(self, collection: str, *, open: bool, readers: Iterable[str] = ()) -> None:
        """Say who may read a collection."""
        with self._lock:
            held = self._mine(collection)
            if held is None:
                raise UnknownName("collection", collection)
            held.open, held.readers = open, tuple(sorted(set(readers)))

    def mark(self, collection: str, *, private: bool) -> None:
        """Say of a collection whether it is private."""
        with self._lock:
            self._made(collection).private = private

    def private_among(self, collections: Iterable[str], documents: Iterable[str] = ()) -> list[str]:
        """The private collections among these, or which share a document with them."""
        with self._lock:
            named = {key for name in collections if (key := self._meant(name)) is not None}
            rows = set().union(*(self._collections[key].rows for key in named))
            seen, hashes = self._seen_rows(), set(documents)
            rows |= {row for (_, sha), row in self._rows.items() if sha in hashes and row in seen}
            found = (
                key for key, held in self._collections.items() if held.private and (key in named or held.rows & rows)
            )
            return sorted(self._reference(key) for key in found)

    def remove(self, documents: Iterable[str], collection: str) -> None:
        """Take documents out of a collection."""
        with self._lock:
            held, hashes = self._mine(collection), set(documents)
            if held is not None:
                held.rows.difference_update(row for (_, sha), row in self._rows.items() if sha in hashes)

    def drop(self, collection: str) -> None:
        """Forget a collection with its origins."""
        with self._lock:
            if self._mine(collection) is not None:
                del self._collections[self._own(collection)]

    def origins(self, collection: str) -> list[Origin]:
        """Where a collection was added from, by place."""
        with self._lock:
            held = self._collections.get(self._own(collection), StoredCollection())
            return [held.origins[place] for place in sorted(held.origins)]

    def remember(self, collection: str, origins: Iterable[Origin]) -> None:
        """Keep origins of a collection."""
        with self._lock:
            self._made(collection).origins.update((each.place, each) for each in origins)

    def forget(self, collection: str, places: Iterable[str]) -> None:
        """Forget origins of a collection."""
        with self._lock:
            held = self._mine(collection)
            for place in places if held is not None else ():
                held.origins.pop(place, None)  # type: ignore[union-attr]

    # whose they are

    def _readable(self) -> Iterator[tuple[Key, StoredCollection]]:
        """The collections its owner may read."""
        for key, held in self._collections.items():
            if self._owner in (None, key[0]) or held.open or self._owner in held.readers:
                yield key, held

    def _seen_rows(self) -> set[int]:
        """The documents its owner may read: his own, and those in the collections he may read."""
        own = {row for (owner, _), row in self._rows.items() if self._owner in (None, owner)}
        return own.union(*(held.rows for _, held in self._readable()))

    def _own(self, name: str) -> Key:
        return (self._owner, name) if self._owner is not None else common.split_reference(name)

    def _meant(self, name: str) -> Key | None:
        """The collection of this name which its owner may read."""
        readable = dict(self._readable())
        return next((key for key in (self._own(name), common.split_reference(name)) if key in readable), None)

    def _reference(self, key: Key) -> str:
        owner, name = key
        return name if owner == self._owner else common.reference_to(owner, name, alone=self._owner is None)

    def _mine(self, name: str) -> StoredCollection | None:
        """A collection of its owner's, None where there is none.

        Raises:
            UsageError: it is another's.
        """
        held = self._collections.get(self._own(name))
        if held is None and SLASH in name and self._meant(name) is not None:
            raise common.anothers(name)
        return held

    def _made(self, name: str) -> StoredCollection:
        """A collection of its owner's, which is made when it is not there.

        Raises:
            UsageError: it is another's, or no name a collection of his can have.
        """
        held = self._mine(name)
        if held is None and self._owner and SLASH in name:
            raise common.unfit_name(name)
        return self._collections.setdefault(self._own(name), StoredCollection()) if held is None else held
