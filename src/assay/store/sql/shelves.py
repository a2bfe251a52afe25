"""Collections in SQL: the part of the library which knows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, Select, delete, func, insert, select, update

from assay.core.ports import CollectionRow, Origin
from assay.store.sql import sqlite
from assay.store.sql.database import Database, patient
from assay.store.sql.tables import collections, documents, members, origins

V = TypeVar("V")

BATCH = 500
"""Values in one IN list."""

_ADD_COLLECTION = sqlite.insert(collections).on_conflict_do_nothing(index_elements=["name"])


class SqlCollections:
    """`Collections` over a database; any thread may use it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @patient
    def collections(self) -> list[CollectionRow]:
        """All of them, by name."""
        held = select(members.c.collection, func.count().label("held")).group_by(members.c.collection).subquery()
        came = select(origins.c.collection, func.count().label("came")).group_by(origins.c.collection).subquery()
        chosen = (
            select(collections.c.name, collections.c.private, held.c.held, came.c.came)
            .outerjoin(held, held.c.collection == collections.c.number)
            .outerjoin(came, came.c.collection == collections.c.number)
        )
        with self._database.read() as connection:
            found = connection.execute(chosen).all()
        rows = [
            CollectionRow(name=row.name, documents=row.held or 0, private=bool(row.private), origins=row.came or 0)
            for row in found
        ]
        return sorted(rows, key=lambda row: row.name)

    @patient
    def mark(self, collection: str, *, private: bool) -> None:
        """Say of a collection whether it is private."""
        with self._database.write() as connection:
            number = number_of(connection, collection)
            changed = update(collections).where(collections.c.number == number)
            connection.execute(changed.values(private=int(private)))

    @patient
    def private_among(self, collections: Iterable[str], documents: Iterable[str] = ()) -> list[str]:
        """The private collections among these, or which share a document with them."""
        named, hashes = sorted(set(collections)), sorted(set(documents))
        with self._database.read() as connection:
            if not connection.execute(_private().limit(1)).first():
                return []
            found = set(connection.execute(_named(named)).scalars())
            found |= set(connection.execute(_sharing(named)).scalars())
            for some in batches(hashes):
                found |= set(connection.execute(_holding(some)).scalars())
        return sorted(found)

    @patient
    def remove(self, documents: Iterable[str], collection: str) -> None:
        """Take documents out of a collection."""
        hashes = list(documents)
        with self._database.write() as connection:
            number = _found(connection, collection)
            for some in batches(hashes) if number is not None else ():
                connection.execute(
                    delete(members).where(members.c.collection == number, members.c.document.in_(_rows_of(some)))
                )

    @patient
    def drop(self, collection: str) -> None:
        """Forget a collection with its origins."""
        with self._database.write() as connection:
            number = _found(connection, collection)
            if number is not None:
                for table in (members, origins):
                    connection.execute(delete(table).where(table.c.collection == number))
                connection.execute(delete(collections).where(collections.c.number == number))

    @patient
    def origins(self, collection: str) -> list[Origin]:
        """Where a collection was added from, by place."""
        chosen = (
            select(*(origins.c[name] for name in Origin.__struct_fields__))
            .join(collections, collections.c.number == origins.c.collection)
            .where(collections.c.name == collection)
        )
        with self._database.read() as connection:
            rows = connection.execute(chosen).all()
        return sorted((_origin(row._asdict()) for row in rows), key=lambda each: each.place)

    @patient
    def remember(self, collection: str, origins: Iterable[Origin]) -> None:
        """Keep origins of a collection."""
        kept = list(origins)
        with self._database.write() as connection:
            number = number_of(connection, collection)
            _forget(connection, number, [each.place for each in kept])
            if kept:
                connection.execute(_ADD_ORIGIN, [_row(each) | {"collection": number} for each in kept])

    @patient
    def forget(self, collection: str, places: Iterable[str]) -> None:
        """Forget origins of a collection."""
        with self._database.write() as connection:
            number = _found(connection, collection)
            if number is not None:
                _forget(connection, number, list(places))


_ADD_ORIGIN = insert(origins)


def number_of(connection: Connection, name: str) -> int:
    """The number of a collection, which is made when it is not there."""
    connection.execute(_ADD_COLLECTION, {"name": name})
    number: int = connection.execute(select(collections.c.number).where(collections.c.name == name)).scalar_one()
    return number


def _found(connection: Connection, name: str) -> int | None:
    number: int | None = connection.execute(select(collections.c.number).where(collections.c.name == name)).scalar()
    return number


def _private() -> Select[str]:
    return select(collections.c.name).where(collections.c.private != 0)


def _named(names: Sequence[str]) -> Select[str]:
    return _private().where(collections.c.name.in_(names))


def _sharing(names: Sequence[str]) -> Select[str]:
    """Private collections which hold a document that these hold."""
    held = (
        select(members.c.document)
        .join(collections, collections.c.number == members.c.collection)
        .where(collections.c.name.in_(names))
    )
    return _private().join(members, members.c.collection == collections.c.number).where(members.c.document.in_(held))


def _holding(hashes: Sequence[str]) -> Select[str]:
    return (
        _private()
        .join(members, members.c.collection == collections.c.number)
        .where(members.c.document.in_(_rows_of(hashes)))
    )


def _rows_of(hashes: Sequence[str]) -> Select[int]:
    return select(documents.c.row).where(documents.c.sha256.in_(hashes))


def batches(values: Sequence[V]) -> list[Sequence[V]]:
    """Values in lists which one statement takes."""
    return [values[first : first + BATCH] for first in range(0, len(values), BATCH)]


def _forget(connection: Connection, number: int, places: Sequence[str]) -> None:
    for some in batches(places):
        kept = [_place(place) for place in some]
        connection.execute(delete(origins).where(origins.c.collection == number, origins.c.place.in_(kept)))


def _row(origin: Origin) -> dict[str, Any]:
    return msgspec.structs.asdict(origin) | {"place": _place(origin.place)}


def _origin(row: dict[str, Any]) -> Origin:
    texts = {"documents": tuple(row["documents"]), "left_out": tuple(row["left_out"])}
    return Origin(**{**row, **texts, "place": row["place"].decode("utf-8", "surrogatepass")})


def _place(place: str) -> bytes:
    """A path as bytes; one which is no UTF-8 reaches us with lone surrogates."""
    return place.encode("utf-8", "surrogatepass")
