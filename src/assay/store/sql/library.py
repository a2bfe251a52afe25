"""The library in SQL, and what is being added to it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Any

import msgspec
from sqlalchemy import Column, ColumnElement, Connection, Select, bindparam, case, delete, func, select, true

from assay.core.errors import UnknownName
from assay.core.ports import DocumentMove, FileStamp, StoredPlace
from assay.core.ports.collections import ADDITION_ENDED, Addition
from assay.core.sources import CollectionSummary, Document, Snapshot
from assay.store import common
from assay.store.common import OwnedView
from assay.store.sql import document_places, sqlite
from assay.store.sql.database import Database, retry_while_away
from assay.store.sql.shelves import OwnerView, SqlCollections, batches, encode_path
from assay.store.sql.tables import additions, collections, documents, files, members, snapshots

_FIELDS = Document.__struct_fields__
_COLUMNS = tuple(documents.c[name] for name in _FIELDS)

_LAST_ROW = select(func.max(documents.c.row))

_ADD_SNAPSHOT = sqlite.insert(snapshots).on_conflict_do_nothing(index_elements=["sha256", "owner"])
_ADD_DOCUMENT = sqlite.insert(documents).on_conflict_do_nothing(index_elements=["sha256", "owner"])

_STAMP = sqlite.insert(files)
_STAMP = _STAMP.on_conflict_do_update(
    index_elements=["path", "owner"],
    set_={name: _STAMP.excluded[name] for name in FileStamp.__struct_fields__ if name != "path"},
)


class SqlLibrary(SqlCollections):
    """`Library` over a database; thread-safe."""

    @retry_while_away
    def add(
        self,
        documents: Sequence[tuple[Snapshot, Document]],
        collection: str,
        files: Sequence[FileStamp] = (),
        moves: Sequence[DocumentMove] = (),
    ) -> None:
        owner_column = {"owner": self._sight.me}
        with self._database.write() as connection:
            if documents:
                connection.execute(
                    _ADD_SNAPSHOT, [msgspec.structs.asdict(snapshot) | owner_column for snapshot, _ in documents]
                )
                connection.execute(_ADD_DOCUMENT, [_document_row(document) | owner_column for _, document in documents])
            _include(connection, self._sight, [document.sha256 for _, document in documents], collection)
            if files:
                connection.execute(_STAMP, [_stamp_row(stamp) | owner_column for stamp in files])
            if moves:
                document_places.move(connection, self._sight.me, moves)

    @retry_while_away
    def collection_for(self, documents: Iterable[str]) -> str:
        name, hashes = common.collection_of_set(documents)
        with self._database.read() as connection:
            if _has_exactly(connection, self._sight.find_number(connection, name), hashes):
                return name
        with self._database.write() as connection:
            _check_known(connection, self._sight, hashes)
            number = self._sight.get_or_create_number(connection, name)
            connection.execute(delete(members).where(members.c.collection == number))
            _include(connection, self._sight, hashes, name)
        return name

    @retry_while_away
    def include(self, documents: Iterable[str], collection: str) -> None:
        hashes = list(documents)
        with self._database.write() as connection:
            _check_known(connection, self._sight, hashes)
            _include(connection, self._sight, hashes, collection)

    @cached_property
    def _of_hashes(self) -> Select[Any]:
        """The documents whose hashes are `of`; if several have the same, the preferred one first."""
        statement = select(*_COLUMNS).where(
            documents.c.sha256.in_(bindparam("of", expanding=True)), self._sight.documents
        )
        return statement.order_by(*self._sight.own_first_order)

    @cached_property
    def _snapshot_of_hash(self) -> Select[Any]:
        """The snapshot whose hash is `of`."""
        same = (documents.c.snapshot_sha256 == snapshots.c.sha256) & (documents.c.owner == snapshots.c.owner)
        statement = select(*(snapshots.c[name] for name in Snapshot.__struct_fields__)).join(documents, same)
        statement = statement.where(snapshots.c.sha256 == bindparam("of"), self._sight.documents)
        return statement.order_by(*self._sight.own_first_order).limit(1)

    def document(self, sha256: str) -> Document | None:
        return next(iter(self.documents_by_hash([sha256])), None)

    @retry_while_away
    def documents_by_hash(self, documents: Collection[str]) -> list[Document]:
        hashes = list(dict.fromkeys(documents))
        by_hash: dict[str, Document] = {}
        for batch in batches(hashes):
            for document in map(_document, self._database.rows(self._of_hashes, {"of": batch})):
                by_hash.setdefault(document.sha256, document)
        return [by_hash[sha] for sha in hashes if sha in by_hash]

    @retry_while_away
    def existing_documents(self, documents: Iterable[str]) -> set[str]:
        with self._database.read() as connection:
            return {
                sha for batch in batches(list(documents)) for sha in _readable_hashes(connection, self._sight, batch)
            }

    @retry_while_away
    def stored_places(self, documents: Iterable[str]) -> dict[str, StoredPlace]:
        with self._database.read() as connection:
            return document_places.stored_places(connection, self._sight.me, documents)

    @retry_while_away
    def snapshot(self, sha256: str) -> Snapshot | None:
        rows = self._database.rows(self._snapshot_of_hash, {"of": sha256})
        return Snapshot(**{**rows[0]._asdict(), "redirects": tuple(rows[0].redirects)}) if rows else None

    @retry_while_away
    def find(self, reference: str, collections: Sequence[str]) -> list[Document]:
        lookup = common.lookup_reference(reference)
        if not lookup or not collections:
            return []
        rank = _rank_expression(lookup)
        statement = (
            select(*_COLUMNS)
            .where(documents.c.row.in_(_rows_in(self._sight, collections)), rank.is_not(None))
            .order_by(rank, *self._sight.own_first_order)
            .limit(common.MAX_FOUND)
        )
        matches = [_document(row) for row in self._database.rows(statement)]
        # the owner's and a shared copy are one document
        return list({document.sha256: document for document in reversed(matches)}.values())[::-1]

    @retry_while_away
    def documents(self, collections: Sequence[str], limit: int | None = None) -> list[Document]:
        if not collections:
            return []
        rows_in = documents.c.row.in_(_rows_in(self._sight, collections))
        statement = select(*_COLUMNS).where(rows_in).order_by(documents.c.row)
        rows = self._database.rows(statement.limit(None if limit is None else max(limit, 0)))
        return [_document(row) for row in rows]

    @retry_while_away
    def members(self, collections: Sequence[str]) -> set[int]:
        if not collections:
            return set()
        with self._database.read() as connection:
            result = connection.execute(_rows_in(self._sight, collections))
            # the driver's own rows: making SQLAlchemy's takes four times as long as reading them
            return {row for (row,) in result.cursor.fetchall()}

    @retry_while_away
    def count(self, collections: Sequence[str]) -> int:
        """The number of documents in `collections`, in a tenth of the time that reading their rows takes."""
        if not collections:
            return 0
        with self._database.read() as connection:
            statement = select(func.count()).select_from(_rows_in(self._sight, collections).subquery())
            return connection.execute(statement).scalar_one()

    @retry_while_away
    def documents_after(self, row: int, limit: int) -> list[tuple[int, Document]]:
        statement = select(*_COLUMNS, documents.c.row).where(documents.c.row > row, self._sight.documents)
        rows = self._database.rows(statement.order_by(documents.c.row).limit(max(limit, 0)))
        return [(record.row, _document(record)) for record in rows]

    @retry_while_away
    def documents_at(self, rows: Collection[int]) -> dict[int, Document]:
        statement = select(*_COLUMNS, documents.c.row).where(documents.c.row.in_(rows), self._sight.documents)
        return {row.row: _document(row) for row in self._database.rows(statement)}

    @retry_while_away
    def last_row(self) -> int:
        ((highest,),) = self._database.rows(_LAST_ROW)
        return highest or 0

    @retry_while_away
    def summary(self, collections: Sequence[str], names: int = 30) -> CollectionSummary:
        condition = documents.c.row.in_(_rows_in(self._sight, collections))
        dates = select(func.min(documents.c.published), func.max(documents.c.published))
        names_query = select(documents.c.name).where(condition, documents.c.name != "").order_by(documents.c.row)
        with self._database.read() as connection:
            count = connection.execute(select(func.count()).where(condition)).scalar_one()
            kinds = _counts(connection, documents.c.media_type, condition)
            languages = _counts(connection, documents.c.language, condition)
            first, last = connection.execute(dates.where(condition, documents.c.published != "")).one()
            sample = tuple(connection.execute(names_query.limit(max(names, 0))).scalars())
        return CollectionSummary(
            documents=count, kinds=kinds, languages=languages, published=(first or "", last or ""), names=sample
        )

    @retry_while_away
    def stamps(self, paths: Sequence[str]) -> dict[str, FileStamp]:
        decoded_paths = {encode_path(path): path for path in paths}
        statement = select(files).where(files.c.path.in_(decoded_paths), files.c.owner == self._sight.me)
        rows = self._database.rows(statement)
        return {
            decoded_paths[row.path]: FileStamp(
                path=decoded_paths[row.path],
                size=row.size,
                mtime_ns=row.mtime_ns,
                documents=tuple(row.documents),
                extractor=row.extractor,
                warnings=tuple(row.warnings),
            )
            for row in rows
        }

    @retry_while_away
    def files_of(self, documents: Collection[str]) -> dict[str, tuple[str, ...]]:
        """See the port."""
        rows = self._database.rows(select(files.c.path, files.c.documents).where(files.c.owner == self._sight.me))
        return common.files_of(documents, ((row.path.decode("utf-8", "surrogatepass"), row.documents) for row in rows))


def _rows_in(sight: OwnerView, names: Sequence[str]) -> Select[int]:
    """The row numbers in these collections, each once; a single collection has no duplicates."""
    rows = select(members.c.document) if len(set(names)) == 1 else select(members.c.document).distinct()
    return rows.join(collections, collections.c.number == members.c.collection).where(sight.named_collections(names))


def _rank_expression(lookup: str) -> Any:
    """`common.rank` in SQL."""
    exact = documents.c.lookup.contains(f"\n{lookup}\n", autoescape=True)
    whens = [(documents.c.sha256 == lookup, 0), (exact, 0)]
    if len(lookup) >= common.HASH_PREFIX:
        whens.append((documents.c.sha256.startswith(lookup, autoescape=True), 1))
    whens.append((documents.c.lookup.contains(lookup, autoescape=True), 2))
    return case(*whens)


def _counts(connection: Connection, name: Column[Any], condition: ColumnElement[bool]) -> dict[str, int]:
    statement = select(name, func.count()).where(condition).group_by(name)
    return common.by_frequency((str(key), int(count)) for key, count in connection.execute(statement))


def _include(connection: Connection, sight: OwnerView, hashes: Sequence[str], collection: str) -> None:
    number = sight.get_or_create_number(connection, collection)
    if hashes:
        connection.execute(sight.inclusion_statement, [{"into": number, "of": sha} for sha in hashes])


def _check_known(connection: Connection, sight: OwnerView, hashes: Sequence[str]) -> None:
    for batch in batches(hashes):
        readable = _readable_hashes(connection, sight, batch)
        if unknown := next((sha for sha in batch if sha not in readable), None):
            raise common.unknown_document(unknown)


def _readable_hashes(connection: Connection, sight: OwnerView, hashes: Sequence[str]) -> set[str]:
    """Which of these documents the owner may read."""
    return set(connection.execute(sight.readable, {"of": hashes}).scalars())


def _has_exactly(connection: Connection, number: int | None, hashes: Sequence[str]) -> bool:
    """True if a collection made for these documents is unchanged; its name contains their hash."""
    if number is None:
        return False
    count = select(func.count()).select_from(members).where(members.c.collection == number)
    return connection.execute(count).scalar() == len(hashes)


def _document_row(document: Document) -> dict[str, Any]:
    row = msgspec.structs.asdict(document)
    row["lookup"] = common.document_lookup_text(document)
    return row


def _document(row: Sequence[Any]) -> Document:
    return Document(**dict(zip(_FIELDS, row, strict=False)))


def _stamp_row(stamp: FileStamp) -> dict[str, Any]:
    return msgspec.structs.asdict(stamp) | {"path": encode_path(stamp.path)}


# Additions: documents that are being read, for as long as someone may ask how far that is.

_ADDITION = tuple(additions.c[name] for name in Addition.__struct_fields__)
_PUT = sqlite.insert(additions)
_PUT = _PUT.on_conflict_do_update(
    index_elements=["id"],
    set_={name: _PUT.excluded[name] for name in Addition.__struct_fields__ if name not in ("id", "owner")},
    where=additions.c.owner == _PUT.excluded.owner,
)


class SqlAdditions(OwnedView):
    """`Additions` over a database; any thread may use it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @retry_while_away
    def put(self, addition: Addition) -> None:
        row = msgspec.structs.asdict(addition)
        if self._owner is not None:
            row["owner"] = self._owner
        with self._database.write() as connection:
            connection.execute(_PUT, row)

    @retry_while_away
    def find(self, id: str) -> Addition:
        rows = self._database.rows(select(*_ADDITION).where(additions.c.id == id, self._mine()))
        if not rows:
            raise UnknownName("addition", id)
        return _addition(rows[0]._asdict())

    @retry_while_away
    def all(self, limit: int = 100) -> list[Addition]:
        statement = select(*_ADDITION).where(self._mine()).order_by(additions.c.number.desc()).limit(limit)
        return [_addition(row._asdict()) for row in self._database.rows(statement)]

    @retry_while_away
    def forget(self, before: str) -> None:
        old = (additions.c.state.in_(sorted(ADDITION_ENDED)), additions.c.updated_at < before, self._mine())
        with self._database.write() as connection:
            connection.execute(delete(additions).where(*old))

    def _mine(self) -> ColumnElement[bool]:
        return true() if self._owner is None else additions.c.owner == self._owner


def _addition(row: dict[str, Any]) -> Addition:
    return Addition(**{**row, "sources": tuple(row["sources"]), "warnings": tuple(row["warnings"])})
