"""Collections in SQL: the part of the library that manages them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Self, TypeVar

import msgspec
from sqlalchemy import (
    Column,
    ColumnElement,
    CompoundSelect,
    Connection,
    Insert,
    Select,
    and_,
    bindparam,
    case,
    delete,
    exists,
    false,
    func,
    insert,
    or_,
    select,
    true,
    union,
    update,
)

from assay.core.errors import UnknownName
from assay.core.ports import CollectionRow, Origin, SkippedFile
from assay.core.ports.collections import SLASH, others_collection_error, unfit_name
from assay.store.common import reference_to, split_reference
from assay.store.sql import sqlite
from assay.store.sql.database import Database, retry_while_away
from assay.store.sql.tables import collections, documents, members, origins, readers

# What one owner may see of collections and documents, as conditions of the queries that read them.

_ADD_COLLECTION = sqlite.insert(collections).on_conflict_do_nothing(index_elements=["owner", "name"])
_NUMBER = select(collections.c.number).where(
    collections.c.owner == bindparam("whose"), collections.c.name == bindparam("of")
)
_literal = collections.alias("literal")


class OwnerView:
    """The library as `owner` sees it; None sees all.

    A name is one of the owner's own collections; OWNER/NAME is another user's that the owner may read. The view that
    sees everything creates and names collections of the local user, and refers to all others as OWNER/NAME. Conditions
    that depend only on the owner are built once, because building one takes longer than a query with it.
    """

    def __init__(self, owner: str | None) -> None:
        self.owner, self.me = owner, owner or ""

    @cached_property
    def collections(self) -> ColumnElement[bool]:
        """The collections that the owner may read."""
        if self.owner is None:
            return true()
        is_reader = exists().where(readers.c.collection == collections.c.number, readers.c.reader == self.owner)
        return or_(collections.c.owner == self.owner, collections.c.open != 0, is_reader)

    def own_reference(self, name: str) -> tuple[str, str]:
        """The owner and the name of the collection that a plain name means."""
        return (self.me, name) if self.owner is not None else split_reference(name)

    def named_collections(self, names: Iterable[str]) -> ColumnElement[bool]:
        """The owner's collections, and those the owner may read, with these names."""
        every = sorted(set(names))
        own_names = [name for name in every if self.owner is not None or SLASH not in name]
        theirs = [self._others_condition(name) for name in every if SLASH in name]
        return or_(false(), and_(collections.c.owner == self.me, collections.c.name.in_(own_names)), *theirs)

    def _others_condition(self, name: str) -> ColumnElement[bool]:
        owner, collection_name = split_reference(name)
        condition = and_(collections.c.owner == owner, collections.c.name == collection_name, self.collections)
        if self.owner is None:
            return condition
        # a name with a slash, from when there was only one user, means the owner's collection before another user's
        literal = exists().where(_literal.c.owner == self.owner, _literal.c.name == name)
        return and_(condition, ~literal)

    @cached_property
    def documents(self) -> ColumnElement[bool]:
        """The documents that the owner may read: their own, and those in collections they may read."""
        if self.owner is None:
            return true()
        memberships = (
            select(members.c.document)
            .join(collections, collections.c.number == members.c.collection)
            .where(members.c.document == documents.c.row, self.collections)
        )
        return or_(documents.c.owner == self.owner, memberships.exists())

    @cached_property
    def readable(self) -> Select[str] | CompoundSelect[str]:
        """The hashes among `of` of documents that the owner may read.

        Shared ones are joined, since PostgreSQL reads all members to test `documents`.
        """
        statement = select(documents.c.sha256).where(documents.c.sha256.in_(bindparam("of", expanding=True)))
        if self.owner is None:
            return statement
        shared = statement.join(members, members.c.document == documents.c.row).join(
            collections, collections.c.number == members.c.collection
        )
        return union(statement.where(documents.c.owner == self.me), shared.where(self.collections))

    @cached_property
    def own_first_order(self) -> tuple[ColumnElement[int], Column[int]]:
        """An order in which the owner's document comes before another user's with the same text."""
        return case((documents.c.owner == self.me, 0), else_=1), documents.c.row

    @cached_property
    def inclusion_statement(self) -> Insert:
        """Insert a document the owner may read (`of`, its hash) into a collection (`into`), preferring the owner's
        own.
        """
        statement = select(bindparam("into", type_=members.c.collection.type), documents.c.row)
        statement = statement.where(documents.c.sha256 == bindparam("of"), self.documents).order_by(
            *self.own_first_order
        )
        insertion = sqlite.insert(members).from_select(["collection", "document"], statement.limit(1))
        return insertion.on_conflict_do_nothing(index_elements=["collection", "document"])

    def reference(self, owner: str, name: str) -> str:
        """The name by which the owner refers to a collection."""
        return name if owner == self.owner else reference_to(owner, name, alone=self.owner is None)

    def find_number(self, connection: Connection, name: str) -> int | None:
        """The number of one of the owner's own collections, None if there is none.

        Raises:
            UsageError: it is another user's, and only that user may change it.
        """
        owner, collection_name = self.own_reference(name)
        number: int | None = connection.execute(_NUMBER, {"whose": owner, "of": collection_name}).scalar()
        if number is None and SLASH in name:
            count = connection.execute(select(func.count()).where(self.named_collections([name]))).scalar()
            if count:
                raise others_collection_error(name)
        return number

    def get_or_create_number(self, connection: Connection, name: str) -> int:
        """The number of one of the owner's own collections, created if necessary.

        Raises:
            UsageError: it is another user's, or the name is invalid.
        """
        number = self.find_number(connection, name)
        if number is not None:
            return number
        owner, collection_name = self.own_reference(name)
        if self.owner and SLASH in name:
            raise unfit_name(name)
        connection.execute(_ADD_COLLECTION, {"name": collection_name, "owner": owner})
        new_number: int = connection.execute(_NUMBER, {"whose": owner, "of": collection_name}).scalar_one()
        return new_number


V = TypeVar("V")
BATCH = 500
"""Values in one IN list."""
_TABLE, _READERS = collections.c, readers


class SqlCollections:
    """`Collections` over a database; thread-safe."""

    def __init__(self, database: Database, owner: str | None = None) -> None:
        self._database, self._sight = database, OwnerView(owner)

    def owned_by(self, owner: str | None) -> Self:
        return type(self)(self._database, owner)

    @retry_while_away
    def collections(self) -> list[CollectionRow]:
        document_counts = (
            select(members.c.collection, func.count().label("documents")).group_by(members.c.collection).subquery()
        )
        origin_counts = (
            select(origins.c.collection, func.count().label("origins")).group_by(origins.c.collection).subquery()
        )
        statement = (
            select(
                collections,
                document_counts.c.documents.label("document_count"),
                origin_counts.c.origins.label("origin_count"),
            )
            .outerjoin(document_counts, document_counts.c.collection == collections.c.number)
            .outerjoin(origin_counts, origin_counts.c.collection == collections.c.number)
            .where(self._sight.collections)
        )
        with self._database.read() as connection:
            records = connection.execute(statement).all()
            readers = _readers(connection)
        rows = [self._row(row._asdict(), readers.get(row.number, ())) for row in records]
        return sorted(rows, key=lambda row: row.name)

    def _row(self, row: dict[str, Any], readers: Sequence[str]) -> CollectionRow:
        mine = self._sight.owner in (None, row["owner"])
        return CollectionRow(
            name=self._sight.reference(row["owner"], row["name"]),
            documents=row["document_count"] or 0,
            private=bool(row["private"]),
            origins=(row["origin_count"] or 0) if mine else 0,
            owner=row["owner"],
            open=bool(row["open"]),
            readers=tuple(readers) if mine else (),
        )

    @retry_while_away
    def resolve_names(self, collections: Iterable[str]) -> tuple[str, ...]:
        names = list(dict.fromkeys(collections))
        if not names:
            return ()
        rows = self._database.rows(select(_TABLE.owner, _TABLE.name).where(self._sight.named_collections(names)))
        full_names = {self._sight.reference(row.owner, row.name): f"{row.owner}{SLASH}{row.name}" for row in rows}
        return tuple(full_names[name] for name in names if name in full_names)

    @retry_while_away
    def share(self, collection: str, *, open: bool, readers: Iterable[str] = ()) -> None:
        with self._database.write() as connection:
            number = self._sight.find_number(connection, collection)
            if number is None:
                raise UnknownName("collection", collection)
            connection.execute(update(collections).where(_TABLE.number == number).values(open=int(open)))
            connection.execute(delete(_READERS).where(_READERS.c.collection == number))
            rows = [{"collection": number, "reader": reader} for reader in sorted(set(readers))]
            if rows:
                connection.execute(insert(_READERS), rows)

    @retry_while_away
    def mark(self, collection: str, *, private: bool) -> None:
        with self._database.write() as connection:
            number = self._sight.get_or_create_number(connection, collection)
            statement = update(collections).where(collections.c.number == number)
            connection.execute(statement.values(private=int(private)))

    @retry_while_away
    def private_among(self, collections: Iterable[str], documents: Iterable[str] = ()) -> list[str]:
        names, hashes = sorted(set(collections)), sorted(set(documents))
        with self._database.read() as connection:
            if not connection.execute(_private_collections().limit(1)).first():
                return []
            statement = select(_TABLE.number).where(self._sight.named_collections(names))
            numbers = connection.execute(statement).scalars().all()
            rows = list(connection.execute(_private_collections().where(_TABLE.number.in_(numbers))))
            rows += connection.execute(_private_sharing_documents(numbers)).all()
            for batch in batches(hashes):
                rows += connection.execute(self._private_with(batch)).all()
        return sorted({self._sight.reference(row.owner, row.name) for row in rows})

    def _private_with(self, hashes: Sequence[str]) -> Select[str, str]:
        """Private collections with one of these documents, as far as the owner sees that."""
        return (
            _private_collections()
            .join(members, members.c.collection == collections.c.number)
            .where(members.c.document.in_(_rows_of(hashes).where(self._sight.documents)))
        )

    @retry_while_away
    def remove(self, documents: Iterable[str], collection: str) -> None:
        hashes = list(documents)
        with self._database.write() as connection:
            number = self._sight.find_number(connection, collection)
            for batch in batches(hashes) if number is not None else ():
                connection.execute(
                    delete(members).where(members.c.collection == number, members.c.document.in_(_rows_of(batch)))
                )

    @retry_while_away
    def drop(self, collection: str) -> None:
        with self._database.write() as connection:
            number = self._sight.find_number(connection, collection)
            if number is not None:
                for table in (members, origins, readers):
                    connection.execute(delete(table).where(table.c.collection == number))
                connection.execute(delete(collections).where(collections.c.number == number))

    @retry_while_away
    def origins(self, collection: str) -> list[Origin]:
        owner, name = self._sight.own_reference(collection)
        statement = (
            select(*(origins.c[name] for name in Origin.__struct_fields__))
            .join(collections, collections.c.number == origins.c.collection)
            .where(collections.c.owner == owner, collections.c.name == name)
        )
        rows = self._database.rows(statement)
        return sorted((_origin(row._asdict()) for row in rows), key=lambda each: each.place)

    @retry_while_away
    def add_origins(self, collection: str, origins: Iterable[Origin]) -> None:
        origin_list = list(origins)
        with self._database.write() as connection:
            number = self._sight.get_or_create_number(connection, collection)
            _delete_origins(connection, number, [origin.place for origin in origin_list])
            if origin_list:
                connection.execute(_ADD_ORIGIN, [_row(origin) | {"collection": number} for origin in origin_list])

    @retry_while_away
    def forget_origins(self, collection: str, origins: Iterable[str]) -> None:
        with self._database.write() as connection:
            number = self._sight.find_number(connection, collection)
            if number is not None:
                _delete_origins(connection, number, list(origins))


_ADD_ORIGIN = insert(origins)


def _readers(connection: Connection) -> dict[int, list[str]]:
    """The readers of each collection, by its number."""
    owners: dict[int, list[str]] = {}
    for number, reader in connection.execute(select(readers.c.collection, readers.c.reader).order_by(readers.c.reader)):
        owners.setdefault(number, []).append(reader)
    return owners


def _private_collections() -> Select[str, str]:
    return select(collections.c.owner, collections.c.name).where(collections.c.private != 0)


def _private_sharing_documents(numbers: Sequence[int]) -> Select[str, str]:
    """Private collections that share a document with these."""
    shared_documents = select(members.c.document).where(members.c.collection.in_(numbers))
    return (
        _private_collections()
        .join(members, members.c.collection == collections.c.number)
        .where(members.c.document.in_(shared_documents))
    )


def _rows_of(hashes: Sequence[str]) -> Select[int]:
    return select(documents.c.row).where(documents.c.sha256.in_(hashes))


def batches(values: Sequence[V]) -> list[Sequence[V]]:
    """Values in lists short enough for one statement."""
    return [values[first : first + BATCH] for first in range(0, len(values), BATCH)]


def _delete_origins(connection: Connection, number: int, places: Sequence[str]) -> None:
    for batch in batches(places):
        encoded = [encode_path(place) for place in batch]
        connection.execute(delete(origins).where(origins.c.collection == number, origins.c.place.in_(encoded)))


def _row(origin: Origin) -> dict[str, Any]:
    skipped = msgspec.to_builtins(origin.skipped)
    return msgspec.structs.asdict(origin) | {"place": encode_path(origin.place), "skipped": skipped}


def _origin(row: dict[str, Any]) -> Origin:
    lists = {"documents": tuple(row["documents"]), "left_out": tuple(row["left_out"])}
    skipped = msgspec.convert(row["skipped"], tuple[SkippedFile, ...])
    return Origin(**{**row, **lists, "skipped": skipped, "place": row["place"].decode("utf-8", "surrogatepass")})


def encode_path(path: str) -> bytes:
    """A path as bytes; if it is not UTF-8, it contains lone surrogates here."""
    return path.encode("utf-8", "surrogatepass")
