"""The audit log in SQL."""

from __future__ import annotations

import msgspec
from sqlalchemy import ColumnElement, Connection, delete, func, insert, or_, select

from assay.core.ports.users import AuditEntry, AuditFilter
from assay.store.sql.journal import SqlJournal
from assay.store.sql.tables import audit

_ADD = insert(audit)


class SqlAudit:
    """`AuditLog` over the database of a journal, and through its writer."""

    def __init__(self, journal: SqlJournal) -> None:
        self._transactions = journal.transactions

    async def add(self, entry: AuditEntry) -> None:
        """See the port."""
        row = msgspec.structs.asdict(entry)
        del row["number"]

        def add(connection: Connection) -> None:
            connection.execute(_ADD, row | {"at": self._transactions.time(connection)})

        await self._transactions.write(add, once=True)

    async def page(self, wanted: AuditFilter, limit: int, before: int | None = None) -> list[AuditEntry]:
        """See the port."""
        chosen = select(audit).where(*_conditions(wanted)).order_by(audit.c.number.desc()).limit(limit)
        if before is not None:
            chosen = chosen.where(audit.c.number < before)
        return await self._transactions.read(
            lambda connection: [AuditEntry(**row._asdict()) for row in connection.execute(chosen)]
        )

    async def drop(self, seconds: float, most: int) -> int:
        """See the port."""

        def drop(connection: Connection) -> int:
            newest = connection.execute(select(func.max(audit.c.number))).scalar() or 0
            old = audit.c.at < self._transactions.time(connection) - seconds
            return connection.execute(delete(audit).where(or_(old, audit.c.number <= newest - most))).rowcount

        return await self._transactions.write(drop)


def _conditions(wanted: AuditFilter) -> list[ColumnElement[bool]]:
    conditions = []
    if wanted.actor:
        conditions.append(audit.c.actor == wanted.actor)
    if wanted.action:
        conditions.append(audit.c.action == wanted.action)
    if wanted.since:
        conditions.append(audit.c.at >= wanted.since)
    if wanted.until:
        conditions.append(audit.c.at < wanted.until)
    return conditions
