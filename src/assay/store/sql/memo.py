"""What was found out before, in SQL."""

from __future__ import annotations

import secrets

from sqlalchemy import select

from assay.store.sql import sqlite
from assay.store.sql.database import Database, patient
from assay.store.sql.tables import memos

LIBRARY = "library/id"
"""Where a library's own id is kept."""
_KEEP = sqlite.insert(memos).on_conflict_do_nothing(index_elements=["key"])


class SqlMemo:
    """`Memo` over a database; any thread may use it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @patient
    def recall(self, key: str) -> bytes | None:
        """What was kept under `key`."""
        with self._database.read() as connection:
            found: bytes | None = connection.execute(select(memos.c.data).where(memos.c.key == key)).scalar()
        return found

    @patient
    def keep(self, key: str, data: bytes) -> None:
        """Keep `data` under `key`, unless there is something already."""
        with self._database.write() as connection:
            connection.execute(_KEEP, {"key": key, "data": data})


def new_id() -> str:
    """An id which no other library has."""
    return secrets.token_hex(16)


def library_id(memo: SqlMemo) -> str:
    """The id of the library in this database, which it gets when it is first asked for."""
    known = memo.recall(LIBRARY)
    if known is None:
        memo.keep(LIBRARY, new_id().encode())  # if others do so too, one of them is first
        known = memo.recall(LIBRARY)
    return (known or b"").decode()
