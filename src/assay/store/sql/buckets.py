"""Token buckets in SQL: a row for each, with the time at which it is full again, changed in one statement."""

from __future__ import annotations

import msgspec
from sqlalchemy import BindParameter, Connection, Float, bindparam, case, delete, select, update

from assay.core.ports.users import BucketState, Rate, after
from assay.store.sql import sqlite
from assay.store.sql.journal import SqlJournal
from assay.store.sql.tables import buckets

_NOW: BindParameter[float] = bindparam("now", type_=Float)
_PAUSE: BindParameter[float] = bindparam("pause", type_=Float)
_SECONDS: BindParameter[float] = bindparam("seconds", type_=Float)
_DUE = case((buckets.c.due > _NOW, buckets.c.due), else_=_NOW)
_ADD = sqlite.insert(buckets)
_TAKE = _ADD.on_conflict_do_update(
    index_elements=["owner", "rate"],
    set_={"due": _DUE + _PAUSE},
    where=_DUE + _PAUSE <= _NOW + _SECONDS,
).returning(buckets.c.due)
_OF = (buckets.c.owner == bindparam("whose"), buckets.c.rate == bindparam("which"))
_STANDS = select(buckets.c.due).where(*_OF)
_GIVE_BACK = update(buckets).where(*_OF).values(due=buckets.c.due - _PAUSE)


class SqlBuckets:
    """`Buckets` over the database of a journal, and through its writer."""

    def __init__(self, journal: SqlJournal) -> None:
        self._transactions = journal.transactions

    async def take(self, owner: str, rate: Rate) -> BucketState:
        """See the port."""

        def take(connection: Connection) -> BucketState:
            now = self._transactions.time(connection)
            given = {"owner": owner, "rate": rate.name, "due": now + rate.pause}
            due = connection.execute(_TAKE, given | {"now": now, "pause": rate.pause, "seconds": rate.seconds}).scalar()
            if due is not None:
                return after(rate, due, now)
            due = float(connection.execute(_STANDS, {"whose": owner, "which": rate.name}).scalar_one())
            wait = due + rate.pause - now - rate.seconds
            return msgspec.structs.replace(after(rate, due, now), left=0, wait=max(wait, 0.001))

        return await self._transactions.write(take)

    async def give_back(self, owner: str, rate: Rate) -> None:
        """See the port."""
        given = {"whose": owner, "which": rate.name, "pause": rate.pause}
        await self._transactions.write(lambda connection: connection.execute(_GIVE_BACK, given).rowcount, once=True)

    async def drop_full(self) -> int:
        """See the port."""

        def drop(connection: Connection) -> int:
            full = delete(buckets).where(buckets.c.due <= self._transactions.time(connection))
            return connection.execute(full).rowcount

        return await self._transactions.write(drop)
