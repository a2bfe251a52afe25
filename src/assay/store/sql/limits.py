"""Limits of single users in SQL."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select

from assay.core.ports.user_limits import GivenLimits
from assay.store.sql import sqlite
from assay.store.sql.journal import SqlJournal
from assay.store.sql.tables import limits

_GIVE = sqlite.insert(limits)
_GIVEN = _GIVE.on_conflict_do_update(index_elements=["user_name"], set_={"given": _GIVE.excluded.given})


class SqlLimits:
    """`LimitStore` over the database of a journal, and through its writer."""

    def __init__(self, journal: SqlJournal) -> None:
        self._transactions = journal.transactions

    async def all(self) -> dict[str, GivenLimits]:
        """See the port."""
        return await self._transactions.read(
            lambda connection: {row.user_name: row.given for row in connection.execute(select(limits))}
        )

    async def give(self, user: str, given: GivenLimits) -> None:
        """See the port."""

        def give(connection: Connection) -> None:
            if given:
                connection.execute(_GIVEN, {"user_name": user, "given": dict(given)})
            else:
                drop_of(connection, user)

        await self._transactions.write(give)


def drop_of(connection: Connection, user: str) -> None:
    """Forget what is said of a user."""
    connection.execute(delete(limits).where(limits.c.user_name == user))
