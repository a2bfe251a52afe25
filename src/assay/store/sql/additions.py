"""Additions in SQL."""

from __future__ import annotations

from typing import Any, Self

import msgspec
from sqlalchemy import ColumnElement, delete, select, true

from assay.core.errors import UnknownName
from assay.core.ports.collections import ENDED, Addition
from assay.store.sql import sqlite
from assay.store.sql.database import Database, patient
from assay.store.sql.tables import additions

_FIELDS = tuple(additions.c[name] for name in Addition.__struct_fields__)
_PUT = sqlite.insert(additions)
_PUT = _PUT.on_conflict_do_update(
    index_elements=["id"],
    set_={name: _PUT.excluded[name] for name in Addition.__struct_fields__ if name not in ("id", "owner")},
    where=additions.c.owner == _PUT.excluded.owner,
)


class SqlAdditions:
    """`Additions` over a database; any thread may use it."""

    def __init__(self, database: Database, owner: str | None = None) -> None:
        self._database, self._owner = database, owner

    def owned_by(self, owner: str | None) -> Self:
        """See the port."""
        return type(self)(self._database, owner)

    @patient
    def put(self, addition: Addition) -> None:
        """See the port."""
        row = msgspec.structs.asdict(addition)
        if self._owner is not None:
            row["owner"] = self._owner
        with self._database.write() as connection:
            connection.execute(_PUT, row)

    @patient
    def find(self, id: str) -> Addition:
        """See the port."""
        with self._database.read() as connection:
            row = connection.execute(select(*_FIELDS).where(additions.c.id == id, self._mine())).first()
        if row is None:
            raise UnknownName("addition", id)
        return _addition(row._asdict())

    @patient
    def all(self, limit: int = 100) -> list[Addition]:
        """See the port."""
        chosen = select(*_FIELDS).where(self._mine()).order_by(additions.c.number.desc()).limit(limit)
        with self._database.read() as connection:
            return [_addition(row._asdict()) for row in connection.execute(chosen)]

    @patient
    def forget(self, before: str) -> None:
        """See the port."""
        old = (additions.c.state.in_(sorted(ENDED)), additions.c.updated_at < before, self._mine())
        with self._database.write() as connection:
            connection.execute(delete(additions).where(*old))

    def _mine(self) -> ColumnElement[bool]:
        return true() if self._owner is None else additions.c.owner == self._owner


def _addition(row: dict[str, Any]) -> Addition:
    return Addition(**{**row, "sources": tuple(row["sources"]), "warnings": tuple(row["warnings"])})
