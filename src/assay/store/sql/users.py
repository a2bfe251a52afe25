"""Users and their credentials in SQL."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Connection, Row, and_, case, delete, select, update

from assay.core.ports.users import Credential, UserRole, UserRow
from assay.store.sql import limits, sqlite, webhooks
from assay.store.sql.journal import SqlJournal
from assay.store.sql.tables import credentials, users

_ADD = sqlite.insert(users).on_conflict_do_nothing(index_elements=["name"]).returning(users.c.name)
_KEEP = sqlite.insert(credentials).on_conflict_do_nothing(index_elements=["hash"]).returning(credentials.c.hash)


class SqlUsers:
    """`UserStore` over the database of a journal, and through its writer."""

    def __init__(self, journal: SqlJournal) -> None:
        self._transactions = journal.transactions

    async def add(self, user: UserRow) -> bool:
        """See the port."""
        return await self._made(_ADD.values(msgspec.structs.asdict(user)))

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
            limits.drop_of(connection, name)
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
        return await self._made(_KEEP.values(values))

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

    async def _made(self, statement: Any) -> bool:
        """Whether an insertion made a row: not every driver counts those it made."""
        return await self._transactions.write(lambda connection: connection.execute(statement).first() is not None)

    async def _done(self, statement: Any) -> int:
        return await self._transactions.write(lambda connection: int(connection.execute(statement).rowcount))


def _credential(row: Row[Any]) -> Credential:
    return Credential(**row._asdict() | {"scopes": tuple(row.scopes)})
