"""The cache in SQL."""

from __future__ import annotations

import secrets
from collections.abc import Collection

from sqlalchemy import bindparam, delete, func, select

from assay.store.sql import sqlite
from assay.store.sql.database import Database, patient
from assay.store.sql.tables import memos

LIBRARY = "library/id"
"""The key of a library's own id."""
_FORGET = delete(memos).where(memos.c.key == bindparam("of"))
_KEEP = sqlite.insert(memos).on_conflict_do_nothing(index_elements=["key"])


class SqlCache:
    """`Cache` over a database; thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @patient
    def recall(self, key: str) -> bytes | None:
        """Return what is stored under `key`."""
        rows = self._database.rows(select(memos.c.data).where(memos.c.key == key))
        return rows[0].data if rows else None

    @patient
    def keep(self, key: str, data: bytes) -> None:
        """Store `data` under `key`, unless something is there already."""
        with self._database.write() as connection:
            connection.execute(_KEEP, {"key": key, "data": data})

    @patient
    def known(self, prefix: str) -> dict[str, bytes]:
        """Return what is stored under all keys with this prefix."""
        key = memos.c.key
        within = key.between(prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1))  # uses the index, if it sorts by bytes
        chosen = select(memos).where(within, func.substr(key, 1, len(prefix)) == prefix)
        return {row.key: row.data for row in self._database.rows(chosen)}

    @patient
    def forget(self, keys: Collection[str]) -> None:
        """Delete these keys."""
        if keys:
            with self._database.write() as connection:
                connection.execute(_FORGET, [{"of": key} for key in keys])


def new_id() -> str:
    """An id that no other library has."""
    return secrets.token_hex(16)


def library_id(cache: SqlCache) -> str:
    """The id of the library in this database, created on first use."""
    known = cache.recall(LIBRARY)
    if known is None:
        cache.keep(LIBRARY, new_id().encode())  # if several processes do so, the first one counts
        known = cache.recall(LIBRARY)
    return (known or b"").decode()
