"""Users and their credentials in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, and_, case, delete, insert, select, true, update

from assay.core.ports.users import Credential, GivenLimits, ShareRow, UserRole, UserRow
from assay.store.sql import sqlite, webhooks
from assay.store.sql.journal import SqlJournal
from assay.store.sql.shelves import batches
from assay.store.sql.tables import credentials, limits, shares, users

# Limits of single users in SQL.

_GIVE = sqlite.insert(limits)
_GIVEN = _GIVE.on_conflict_do_update(index_elements=["user_name"], set_={"given": _GIVE.excluded.given})


class SqlLimits:
    """`LimitStore` over a journal's database, through its writer."""

    def __init__(self, journal: SqlJournal) -> None:
        self._transactions = journal.transactions

    async def all(self) -> dict[str, GivenLimits]:
        """See the port."""
        return {row.user_name: row.given for row in await self._transactions.rows(select(limits))}

    async def give(self, user: str, given: GivenLimits) -> None:
        """See the port."""

        def give(connection: Connection) -> None:
            if given:
                connection.execute(_GIVEN, {"user_name": user, "given": dict(given)})
            else:
                drop_of(connection, user)

        await self._transactions.write(give)


def drop_of(connection: Connection, user: str) -> None:
    """Delete a user's limits."""
    connection.execute(delete(limits).where(limits.c.user_name == user))


_ADD = sqlite.insert(users).on_conflict_do_nothing(index_elements=["name"]).returning(users.c.name)
_KEEP = sqlite.insert(credentials).on_conflict_do_nothing(index_elements=["hash"]).returning(credentials.c.hash)


class SqlUsers:
    """`UserStore` over a journal's database, through its writer."""

    def __init__(self, journal: SqlJournal) -> None:
        self._transactions = journal.transactions

    async def add(self, user: UserRow) -> bool:
        """See the port."""
        return await self._created_row(_ADD.values(msgspec.structs.asdict(user)))

    async def all(self) -> list[UserRow]:
        """See the port."""
        return await self._users(true())

    async def find(self, name: str) -> UserRow | None:
        """See the port."""
        found = await self._users(users.c.name == name)
        return found[0] if found else None

    async def of_subject(self, subject: str) -> UserRow | None:
        """See the port."""
        found = await self._users(users.c.subject == subject) if subject else []
        return found[0] if found else None

    async def link(self, name: str, subject: str) -> bool:
        """See the port."""
        free = and_(users.c.name == name, users.c.subject == "")
        return await self._transactions.execute(update(users).where(free).values(subject=subject)) > 0

    async def change(self, name: str, *, password: str | None = None, role: UserRole | None = None) -> bool:
        """See the port."""
        new = {"password": password, "failures": 0, "locked_until": 0.0} if password is not None else {}
        values: dict[str, Any] = new | ({"role": role} if role is not None else {})
        return await self._transactions.execute(update(users).where(users.c.name == name).values(values)) > 0

    async def remove(self, name: str) -> bool:
        """See the port."""

        def remove(connection: Connection) -> bool:
            connection.execute(delete(credentials).where(credentials.c.owner == name))
            webhooks.drop_of(connection, name)
            drop_of(connection, name)
            return connection.execute(delete(users).where(users.c.name == name)).rowcount > 0

        return await self._transactions.write(remove)

    async def fail(self, name: str, most: int, until: float) -> None:
        """See the port."""
        last = users.c.failures + 1 >= most
        counted = {
            "failures": case((last, 0), else_=users.c.failures + 1),
            "locked_until": case((last, until), else_=users.c.locked_until),
        }
        await self._transactions.execute(update(users).where(users.c.name == name).values(counted))

    async def succeed(self, name: str) -> None:
        """See the port."""
        failed = and_(users.c.name == name, users.c.failures > 0)
        await self._transactions.execute(update(users).where(failed).values(failures=0))

    async def keep(self, credential: Credential) -> bool:
        """See the port."""
        values = msgspec.structs.asdict(credential) | {"scopes": list(credential.scopes)}
        return await self._created_row(_KEEP.values(values))

    async def credential(self, hash: str) -> Credential | None:
        """See the port."""
        found = await self._credentials(credentials.c.hash == hash)
        return found[0] if found else None

    async def credentials(self, owner: str, kind: str) -> list[Credential]:
        """See the port."""
        return await self._credentials(and_(credentials.c.owner == owner, credentials.c.kind == kind))

    async def see(self, hash: str, used: float, expires: float) -> None:
        """See the port."""
        seen = update(credentials).where(credentials.c.hash == hash).values(used=used, expires=expires)
        await self._transactions.execute(seen)

    async def drop(self, owner: str, kind: str, id: str = "") -> int:
        """See the port."""
        dropped = delete(credentials).where(credentials.c.owner == owner, credentials.c.kind == kind)
        return await self._transactions.execute(dropped.where(credentials.c.id == id) if id else dropped)

    async def drop_expired(self, now: float) -> None:
        """See the port."""
        over = and_(credentials.c.expires > 0, credentials.c.expires <= now)
        await self._transactions.execute(delete(credentials).where(over))

    async def _users(self, which: ColumnElement[bool]) -> list[UserRow]:
        rows = await self._transactions.rows(select(users).where(which).order_by(users.c.name))
        return [UserRow(**row._asdict()) for row in rows]

    async def _credentials(self, which: ColumnElement[bool]) -> list[Credential]:
        chosen = select(credentials).where(which).order_by(credentials.c.created, credentials.c.id)
        return [_credential(row) for row in await self._transactions.rows(chosen)]

    async def _created_row(self, statement: Any) -> bool:
        """True if an insertion created a row: not every driver counts inserted rows."""
        return await self._transactions.write(lambda connection: connection.execute(statement).first() is not None)


def _credential(row: Row[Any]) -> Credential:
    return Credential(**row._asdict() | {"scopes": tuple(row.scopes)})


# Links to reports in SQL.


class SqlShares:
    """`ShareStore` over a journal's database, through its writer."""

    def __init__(self, journal: SqlJournal) -> None:
        self._transactions = journal.transactions

    async def keep(self, share: ShareRow) -> None:
        """See the port."""
        await self._transactions.execute(insert(shares).values(msgspec.structs.asdict(share)))

    async def of_hash(self, hash: str) -> ShareRow | None:
        """See the port."""
        found = await self._found(shares.c.hash == hash)
        return found[0] if found else None

    async def of_run(self, owner: str, run_id: str) -> list[ShareRow]:
        """See the port."""
        return await self._found(and_(shares.c.owner == owner, shares.c.run_id == run_id))

    async def drop(self, owner: str, run_id: str, id: str) -> int:
        """See the port."""
        return await self._transactions.execute(
            delete(shares).where(shares.c.owner == owner, shares.c.run_id == run_id, shares.c.id == id)
        )

    async def drop_runs(self, run_ids: Sequence[str]) -> None:
        """See the port."""
        for some in batches(run_ids):
            await self._transactions.execute(delete(shares).where(shares.c.run_id.in_(some)))

    async def drop_owner(self, owner: str) -> None:
        """See the port."""
        await self._transactions.execute(delete(shares).where(shares.c.owner == owner))

    async def _found(self, which: ColumnElement[bool]) -> list[ShareRow]:
        chosen = select(shares).where(which).order_by(shares.c.created, shares.c.id)
        return [ShareRow(**row._asdict()) for row in await self._transactions.rows(chosen)]
