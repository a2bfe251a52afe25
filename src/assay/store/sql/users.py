"""Users and their credentials in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, and_, case, delete, insert, select, update

from assay.core.ports.users import Credential, GivenLimits, ShareRow, UserRole, UserRow
from assay.store.sql import sqlite, webhooks
from assay.store.sql.journal import SqlJournal
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
        chosen = select(users).order_by(users.c.name)
        return await self._transactions.read(
            lambda connection: [UserRow(**row._asdict()) for row in connection.execute(chosen)]
        )

    async def find(self, name: str) -> UserRow | None:
        """See the port."""

        def find(connection: Connection) -> UserRow | None:
            row = connection.execute(select(users).where(users.c.name == name)).first()
            return None if row is None else UserRow(**row._asdict())

        return await self._transactions.read(find)

    async def of_subject(self, subject: str) -> UserRow | None:
        """See the port."""
        chosen = select(users).where(users.c.subject == subject)

        def find(connection: Connection) -> UserRow | None:
            row = connection.execute(chosen).first() if subject else None
            return None if row is None else UserRow(**row._asdict())

        return await self._transactions.read(find)

    async def link(self, name: str, subject: str) -> bool:
        """See the port."""
        free = and_(users.c.name == name, users.c.subject == "")
        return await self._done(update(users).where(free).values(subject=subject)) > 0

    async def change(self, name: str, *, password: str | None = None, role: UserRole | None = None) -> bool:
        """See the port."""
        new = {"password": password, "failures": 0, "locked_until": 0.0} if password is not None else {}
        values: dict[str, Any] = new | ({"role": role} if role is not None else {})
        return await self._done(update(users).where(users.c.name == name).values(values)) > 0

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
        await self._done(update(users).where(users.c.name == name).values(counted))

    async def succeed(self, name: str) -> None:
        """See the port."""
        failed = and_(users.c.name == name, users.c.failures > 0)
        await self._done(update(users).where(failed).values(failures=0))

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
        await self._done(update(credentials).where(credentials.c.hash == hash).values(used=used, expires=expires))

    async def drop(self, owner: str, kind: str, id: str = "") -> int:
        """See the port."""
        of = and_(credentials.c.owner == owner, credentials.c.kind == kind)
        return await self._done(delete(credentials).where(and_(of, credentials.c.id == id) if id else of))

    async def drop_expired(self, now: float) -> None:
        """See the port."""
        over = and_(credentials.c.expires > 0, credentials.c.expires <= now)
        await self._done(delete(credentials).where(over))

    async def _credentials(self, which: Any) -> list[Credential]:
        chosen = select(credentials).where(which).order_by(credentials.c.created, credentials.c.id)
        return await self._transactions.read(
            lambda connection: [_credential(row) for row in connection.execute(chosen)]
        )

    async def _created_row(self, statement: Any) -> bool:
        """True if an insertion created a row: not every driver counts inserted rows."""
        return await self._transactions.write(lambda connection: connection.execute(statement).first() is not None)

    async def _done(self, statement: Any) -> int:
        return await self._transactions.write(lambda connection: int(connection.execute(statement).rowcount))


def _credential(row: Row[Any]) -> Credential:
    return Credential(**row._asdict() | {"scopes": tuple(row.scopes)})


# Links to reports in SQL.

AT_ONCE = 500
"""Runs named in one statement."""


class SqlShares:
    """`ShareStore` over a journal's database, through its writer."""

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
