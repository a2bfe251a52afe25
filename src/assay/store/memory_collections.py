"""Collections in the process: the part of the memory store's library which knows them."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from assay.core.ports import CollectionRow, Origin


class MemoryCollections:
    """`Collections` over what the library keeps of rows and members."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._rows: dict[str, int] = {}
        self._collections: dict[str, set[int]] = {}
        self._private: set[str] = set()
        self._origins: dict[str, dict[str, Origin]] = {}

    def collections(self) -> list[CollectionRow]:
        """All of them, by name."""
        with self._lock:
            return [
                CollectionRow(
                    name=name,
                    documents=len(rows),
                    private=name in self._private,
                    origins=len(self._origins.get(name, ())),
                )
                for name, rows in sorted(self._collections.items())
            ]

    def mark(self, collection: str, *, private: bool) -> None:
        """Say of a collection whether it is private."""
        with self._lock:
            self._collections.setdefault(collection, set())
            (self._private.add if private else self._private.discard)(collection)

    def private_among(self, collections: Iterable[str], documents: Iterable[str] = ()) -> list[str]:
        """The private collections among these, or which share a document with them."""
        with self._lock:
            named = set(collections)
            rows = set().union(*(self._collections.get(name, set()) for name in named))
            rows |= {self._rows[sha] for sha in documents if sha in self._rows}
            return sorted(name for name in self._private if name in named or self._collections[name] & rows)

    def remove(self, documents: Iterable[str], collection: str) -> None:
        """Take documents out of a collection."""
        with self._lock:
            rows = {self._rows[sha] for sha in documents if sha in self._rows}
            self._collections.get(collection, set()).difference_update(rows)

    def drop(self, collection: str) -> None:
        """Forget a collection with its origins."""
        with self._lock:
            self._collections.pop(collection, None)
            self._origins.pop(collection, None)
            self._private.discard(collection)

    def origins(self, collection: str) -> list[Origin]:
        """Where a collection was added from, by place."""
        with self._lock:
            found = self._origins.get(collection, {})
            return [found[place] for place in sorted(found)]

    def remember(self, collection: str, origins: Iterable[Origin]) -> None:
        """Keep origins of a collection."""
        with self._lock:
            self._collections.setdefault(collection, set())
            self._origins.setdefault(collection, {}).update((each.place, each) for each in origins)

    def forget(self, collection: str, places: Iterable[str]) -> None:
        """Forget origins of a collection."""
        with self._lock:
            for place in places:
                self._origins.get(collection, {}).pop(place, None)
