"""Permits in SQL: a row for each call. They are given one after the other, so that limits hold exactly."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, delete, func, or_, select, update

from assay.core.ports import LONGEST_LEASE
from assay.store.sql import sqlite
from assay.store.sql.database import Database
from assay.store.sql.journal import SqlJournal
from assay.store.sql.tables import permits

_RUN_OUT = delete(permits).where(or_(permits.c.until <= bindparam("now"), permits.c.until > bindparam("longest")))
_OTHERS = (
    select(func.count())
    .select_from(permits)
    .where(permits.c.service == bindparam("of"), permits.c.id != bindparam("own"))
)
_GIVE = sqlite.insert(permits).on_conflict_do_nothing(index_elements=["id"])
"""It may have been given already, where the connection broke before that was heard."""


class SqlPermits:
    """`Permits` over the database of a journal, and through its writer."""

    def __init__(self, database: Database, journal: SqlJournal) -> None:
        self._backend, self._transactions = database.backend, journal.transactions

    async def take(self, service: str, id: str, most: int, ttl: float) -> bool:
        """See the port."""

        def take(connection: Connection) -> bool:
            self._backend.serialize_claims(connection)
            now = self._transactions.time(connection)
            connection.execute(_RUN_OUT, {"now": now, "longest": now + LONGEST_LEASE})
            if int(connection.execute(_OTHERS, {"of": service, "own": id}).scalar_one()) >= most:
                return False
            connection.execute(_GIVE, {"id": id, "service": service, "until": now + ttl})
            return True

        return await self._transactions.write(take)

    async def renew(self, id: str, ttl: float) -> None:
        """See the port."""
        held = update(permits).where(permits.c.id == id)
        await self._transactions.write(
            lambda connection: connection.execute(held.values(until=self._transactions.time(connection) + ttl)).rowcount
        )

    async def give_back(self, id: str) -> None:
        """See the port."""
        gone = delete(permits).where(permits.c.id == id)
        await self._transactions.write(lambda connection: connection.execute(gone).rowcount)
