"""The memory store's library: documents and their origins."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from assay.core.errors import UnknownName
from assay.core.ports import CollectionRow, DocumentMove, FileStamp, Origin, StoredPlace
from assay.core.ports.collections import SLASH, others_collection_error, unfit_name
from assay.core.sources import CollectionSummary, Document, Snapshot
from assay.store import common
from assay.store.common import OwnedView

# Collections in the process: the part of the memory store's library that manages them.

Key = tuple[str, str]
"""The owner and the name of a collection, or the owner and the hash of a document."""


@dataclass(slots=True)
class StoredCollection:
    """A collection: the rows of its documents, its origins, and its readers."""

    rows: set[int] = field(default_factory=set)
    origins: dict[str, Origin] = field(default_factory=dict)
    readers: tuple[str, ...] = ()
    private: bool = False
    open: bool = False


class MemoryCollections(OwnedView):
    """`Collections` over the library's rows and members."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._rows: dict[Key, int] = {}
        self._collections: dict[Key, StoredCollection] = {}

    def collections(self) -> list[CollectionRow]:
        with self._lock:
            rows = [self._row(key, stored) for key, stored in self._readable_collections()]
        return sorted(rows, key=lambda row: row.name)

    def _row(self, key: Key, stored: StoredCollection) -> CollectionRow:
        mine = self._owner in (None, key[0])
        return CollectionRow(
            name=self._reference(key),
            documents=len(stored.rows),
            private=stored.private,
            origins=len(stored.origins) if mine else 0,
            owner=key[0],
            open=stored.open,
            readers=stored.readers if mine else (),
        )

    def resolve_names(self, collections: Iterable[str]) -> tuple[str, ...]:
        with self._lock:
            keys = (self._readable_key(name) for name in dict.fromkeys(collections))
            return tuple(SLASH.join(key) for key in keys if key is not None)

    def share(self, collection: str, *, open: bool, readers: Iterable[str] = ()) -> None:
        with self._lock:
            stored = self._own_collection(collection)
            if stored is None:
                raise UnknownName("collection", collection)
            stored.open, stored.readers = open, tuple(sorted(set(readers)))

    def mark(self, collection: str, *, private: bool) -> None:
        with self._lock:
            self._get_or_create(collection).private = private

    def private_among(self, collections: Iterable[str], documents: Iterable[str] = ()) -> list[str]:
        with self._lock:
            keys = {key for name in collections if (key := self._readable_key(name)) is not None}
            rows = set().union(*(self._collections[key].rows for key in keys))
            visible_rows, hashes = self._seen_rows(), set(documents)
            rows |= {row for (_, sha), row in self._rows.items() if sha in hashes and row in visible_rows}
            private_keys = (
                key
                for key, stored in self._collections.items()
                if stored.private and (key in keys or stored.rows & rows)
            )
            return sorted(self._reference(key) for key in private_keys)

    def remove(self, documents: Iterable[str], collection: str) -> None:
        with self._lock:
            stored, hashes = self._own_collection(collection), set(documents)
            if stored is not None:
                stored.rows.difference_update(row for (_, sha), row in self._rows.items() if sha in hashes)

    def drop(self, collection: str) -> None:
        with self._lock:
            if self._own_collection(collection) is not None:
                del self._collections[self._own_key(collection)]

    def origins(self, collection: str) -> list[Origin]:
        with self._lock:
            stored = self._collections.get(self._own_key(collection), StoredCollection())
            return [stored.origins[place] for place in sorted(stored.origins)]

    def add_origins(self, collection: str, origins: Iterable[Origin]) -> None:
        with self._lock:
            self._get_or_create(collection).origins.update((origin.place, origin) for origin in origins)

    def forget_origins(self, collection: str, origins: Iterable[str]) -> None:
        with self._lock:
            stored = self._own_collection(collection)
            for place in origins if stored is not None else ():
                stored.origins.pop(place, None)  # type: ignore[union-attr]

    # whose they are

    def _readable_collections(self) -> Iterator[tuple[Key, StoredCollection]]:
        """The collections that the owner may read."""
        for key, stored in self._collections.items():
            if self._owner in (None, key[0]) or stored.open or self._owner in stored.readers:
                yield key, stored

    def _seen_rows(self) -> set[int]:
        """The documents that the owner may read: their own, and those in readable collections."""
        own_rows = {row for (owner, _), row in self._rows.items() if self._owner in (None, owner)}
        return own_rows.union(*(stored.rows for _, stored in self._readable_collections()))

    def _own_key(self, name: str) -> Key:
        return (self._owner, name) if self._owner is not None else common.split_reference(name)

    def _readable_key(self, name: str) -> Key | None:
        """The collection with this name, if the owner may read it."""
        readable = dict(self._readable_collections())
        return next((key for key in (self._own_key(name), common.split_reference(name)) if key in readable), None)

    def _reference(self, key: Key) -> str:
        owner, name = key
        return name if owner == self._owner else common.reference_to(owner, name, alone=self._owner is None)

    def _own_collection(self, name: str) -> StoredCollection | None:
        """The owner's collection; None if there is none."""
        stored = self._collections.get(self._own_key(name))
        if stored is None and SLASH in name and self._readable_key(name) is not None:
            raise others_collection_error(name)
        return stored

    def _get_or_create(self, name: str) -> StoredCollection:
        """The owner's collection, created if it does not exist."""
        stored = self._own_collection(name)
        if stored is None and self._owner and SLASH in name:
            raise unfit_name(name)
        return self._collections.setdefault(self._own_key(name), StoredCollection()) if stored is None else stored


class MemoryLibrary(MemoryCollections):
    """`Library` in the process; safe to use from several threads."""

    def __init__(self) -> None:
        super().__init__()
        self._snapshots: dict[Key, Snapshot] = {}
        self._documents: list[Document] = []  # the document of row n is at n - 1
        self._lookups: list[str] = []
        self._owners: list[str] = []
        self._stamps: dict[Key, FileStamp] = {}

    def add(
        self,
        documents: Sequence[tuple[Snapshot, Document]],
        collection: str,
        files: Sequence[FileStamp] = (),
        moves: Sequence[DocumentMove] = (),
    ) -> None:
        with self._lock:
            me = self._owner or ""
            for snapshot, document in documents:
                self._snapshots.setdefault((me, snapshot.sha256), snapshot)
                if (me, document.sha256) not in self._rows:
                    self._documents.append(document)
                    self._lookups.append(common.document_lookup_text(document))
                    self._owners.append(me)
                    self._rows[me, document.sha256] = len(self._documents)
            self.include((document.sha256 for _, document in documents), collection)
            self._stamps.update(((me, stamp.path), stamp) for stamp in files)
            for move in moves:
                self._move(move)

    def _move(self, move: DocumentMove) -> None:
        row = self._rows.get((self._owner or "", move.sha256))
        if row is None or self._documents[row - 1].url != move.before:
            return
        document = msgspec.structs.replace(self._documents[row - 1], url=move.url, name=move.name)
        self._documents[row - 1], self._lookups[row - 1] = document, common.document_lookup_text(document)

    def collection_for(self, documents: Iterable[str]) -> str:
        name, hashes = common.collection_of_set(documents)
        with self._lock:
            rows = self._rows_of(hashes)
            self._get_or_create(name).rows = rows
        return name

    def include(self, documents: Iterable[str], collection: str) -> None:
        with self._lock:
            rows = self._rows_of(documents)
            self._get_or_create(collection).rows.update(rows)

    def document(self, sha256: str) -> Document | None:
        with self._lock:
            row = self._row_of(sha256)
            return None if row is None else self._documents[row - 1]

    def documents_by_hash(self, documents: Collection[str]) -> list[Document]:
        return [document for sha in dict.fromkeys(documents) if (document := self.document(sha)) is not None]

    def existing_documents(self, documents: Iterable[str]) -> set[str]:
        with self._lock:
            return {sha for sha in documents if self._row_of(sha) is not None}

    def stored_places(self, documents: Iterable[str]) -> dict[str, StoredPlace]:
        with self._lock:
            rows = {sha: self._rows.get((self._owner or "", sha)) for sha in documents}
            found = {sha: (row, self._documents[row - 1]) for sha, row in rows.items() if row is not None}
            return {sha: StoredPlace(row, each.url, each.snapshot_sha256) for sha, (row, each) in found.items()}

    def snapshot(self, sha256: str) -> Snapshot | None:
        with self._lock:
            visible_rows = self._seen_rows()
            owners = {
                self._owners[row - 1] for row in visible_rows if self._documents[row - 1].snapshot_sha256 == sha256
            }
            order = sorted(owners, key=lambda owner: (owner != (self._owner or ""), owner))
            return next((self._snapshots[owner, sha256] for owner in order), None)

    def find(self, reference: str, collections: Sequence[str]) -> list[Document]:
        lookup = common.lookup_reference(reference)
        if not lookup:
            return []
        with self._lock:
            ranking = []
            for row in self.members(collections):
                document = self._documents[row - 1]
                rank = common.rank(lookup, document.sha256, self._lookups[row - 1])
                if rank is not None:
                    ranking.append((rank, self._owners[row - 1] != (self._owner or ""), row, document))
        best = [document for *_, document in sorted(ranking, key=lambda found: found[:3])[: common.MAX_FOUND]]
        # the owner's and a shared copy are one document
        return list({candidate.sha256: candidate for candidate in reversed(best)}.values())[::-1]

    def documents(self, collections: Sequence[str], limit: int | None = None) -> list[Document]:
        with self._lock:
            rows = sorted(self.members(collections))
            return [self._documents[row - 1] for row in rows[: None if limit is None else max(limit, 0)]]

    def members(self, collections: Sequence[str]) -> set[int]:
        with self._lock:
            keys = [key for name in collections if (key := self._readable_key(name)) is not None]
            return set().union(*(self._collections[key].rows for key in keys))

    def count(self, collections: Sequence[str]) -> int:
        return len(self.members(collections))

    def documents_after(self, row: int, limit: int) -> list[tuple[int, Document]]:
        with self._lock:
            first = max(row, 0)
            if self._owner is None:
                return list(enumerate(self._documents[first : first + max(limit, 0)], first + 1))
            visible_rows = sorted(visible_row for visible_row in self._seen_rows() if visible_row > first)
            return [(visible_row, self._documents[visible_row - 1]) for visible_row in visible_rows[: max(limit, 0)]]

    def documents_at(self, rows: Collection[int]) -> dict[int, Document]:
        with self._lock:
            visible_rows = range(1, len(self._documents) + 1) if self._owner is None else self._seen_rows()
            return {row: self._documents[row - 1] for row in rows if row in visible_rows}

    def last_row(self) -> int:
        return len(self._documents)

    def summary(self, collections: Sequence[str], names: int = 30) -> CollectionSummary:
        documents = self.documents(collections)
        dates = [document.published for document in documents if document.published]
        return CollectionSummary(
            documents=len(documents),
            kinds=common.by_frequency(Counter(document.media_type for document in documents).items()),
            languages=common.by_frequency(Counter(document.language for document in documents).items()),
            published=(min(dates), max(dates)) if dates else ("", ""),
            names=tuple(document.name for document in documents if document.name)[: max(names, 0)],
        )

    def stamps(self, paths: Sequence[str]) -> dict[str, FileStamp]:
        with self._lock:
            stamps = {path: self._stamps.get((self._owner or "", path)) for path in paths}
        return {path: stamp for path, stamp in stamps.items() if stamp is not None}

    def files_of(self, documents: Collection[str]) -> dict[str, tuple[str, ...]]:
        """See the port."""
        with self._lock:
            mine = [
                (path, stamp.documents) for (owner, path), stamp in self._stamps.items() if owner == (self._owner or "")
            ]
        return common.files_of(documents, mine)

    def _rows_of(self, documents: Iterable[str]) -> set[int]:
        rows = set()
        for sha in documents:
            row = self._row_of(sha)
            if row is None:
                raise common.unknown_document(sha)
            rows.add(row)
        return rows

    def _row_of(self, sha: str) -> int | None:
        """The row of the text with this hash: the owner's, else the first one the owner may read."""
        own_row = self._rows.get((self._owner or "", sha))
        if own_row is not None:
            return own_row
        theirs = sorted(row for (_, document_sha), row in self._rows.items() if document_sha == sha)
        visible_rows = self._seen_rows() if theirs else set()
        return next((row for row in theirs if row in visible_rows), None)
