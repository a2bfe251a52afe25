"""Links to reports in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import and_, delete, insert, select

from assay.core.ports.shares import ShareRow
from assay.store.sql.journal import SqlJournal
from assay.store.sql.tables import shares

AT_ONCE = 500
"""Runs named in one statement."""


class SqlShares:
    """`ShareStore` over the database of a journal, and through its writer."""

    def __init__(self, journal: SqlJournal) -> None:
        self._transactions = journal.transactions

    async def keep(self, share: ShareRow) -> None:
        """See the port."""
        await self._done(insert(shares).values(msgspec.structs.asdict(share)))

    async def of_hash(self, hash: str) -> ShareRow | None:
        """See the port."""
        found = await self._found(shares.c.hash == hash)
        return found[0] if found else None

    async def of_run(self, owner: str, run_id: str) -> list[ShareRow]:
        """See the port."""
        return await self._found(and_(shares.c.owner == owner, shares.c.run_id == run_id))

    async def drop(self, owner: str, run_id: str, id: str) -> int:
        """See the port."""
        return await self._done(
            delete(shares).where(shares.c.owner == owner, shares.c.run_id == run_id, shares.c.id == id)
        )

    async def drop_runs(self, run_ids: Sequence[str]) -> None:
        """See the port."""
        for start in range(0, len(run_ids), AT_ONCE):
            await self._done(delete(shares).where(shares.c.run_id.in_(run_ids[start : start + AT_ONCE])))

    async def drop_owner(self, owner: str) -> None:
        """See the port."""
        await self._done(delete(shares).where(shares.c.owner == owner))

    async def _found(self, which: Any) -> list[ShareRow]:
        chosen = select(shares).where(which).order_by(shares.c.created, shares.c.id)
        return await self._transactions.read(
            lambda connection: [ShareRow(**row._asdict()) for row in connection.execute(chosen)]
        )

    async def _done(self, statement: Any) -> int:
        return await self._transactions.write(lambda connection: int(connection.execute(statement).rowcount))
