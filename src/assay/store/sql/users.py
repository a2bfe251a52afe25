"""Users in SQL: their credentials and limits, the links to their reports, what they did, and how fast they may."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Float,
    Row,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    true,
    update,
)

from assay.core.ports.users import (
    AuditEntry,
    AuditFilter,
    BucketState,
    Credential,
    GivenLimits,
    Rate,
    ShareRow,
    UserRole,
    UserRow,
    bucket_state,
)
from assay.store.sql import sqlite, webhooks
from assay.store.sql.shelves import batches
from assay.store.sql.tables import audit, buckets, credentials, limits, readers, shares, users
from assay.store.sql.transactions import TransactedPort

# Limits of single users in SQL.

_GIVE = sqlite.insert(limits)
_GIVEN = _GIVE.on_conflict_do_update(index_elements=["user_name"], set_={"given": _GIVE.excluded.given})


class SqlLimits(TransactedPort):
    """`LimitStore` over a database, through the process's writer."""

    async def all(self) -> dict[str, GivenLimits]:
        return {row.user_name: row.given for row in await self._transactions.rows(select(limits))}

    async def set_limits(self, user: str, limits: GivenLimits) -> None:
        def give(connection: Connection) -> None:
            if limits:
                connection.execute(_GIVEN, {"user_name": user, "given": dict(limits)})
            else:
                drop_limits_of(connection, user)

        await self._transactions.write(give)


def drop_limits_of(connection: Connection, user: str) -> None:
    """Delete a user's limits."""
    connection.execute(delete(limits).where(limits.c.user_name == user))


_ADD = sqlite.insert(users).on_conflict_do_nothing(index_elements=["name"]).returning(users.c.name)
_KEEP = sqlite.insert(credentials).on_conflict_do_nothing(index_elements=["hash"]).returning(credentials.c.hash)


class SqlUsers(TransactedPort):
    """`UserStore` over a database, through the process's writer."""

    async def add(self, user: UserRow) -> bool:
        return await self._created_row(_ADD.values(msgspec.structs.asdict(user)))

    async def all(self) -> list[UserRow]:
        return await self._users(true())

    async def find(self, name: str) -> UserRow | None:
        return next(iter(await self._users(users.c.name == name)), None)

    async def find_by_subject(self, subject: str) -> UserRow | None:
        return next(iter(await self._users(users.c.subject == subject)), None) if subject else None

    async def link(self, name: str, subject: str) -> bool:
        free = and_(users.c.name == name, users.c.subject == "")
        return await self._transactions.execute(update(users).where(free).values(subject=subject)) > 0

    async def change(self, name: str, *, password: str | None = None, role: UserRole | None = None) -> bool:
        new = {"password": password, "failures": 0, "locked_until": 0.0} if password is not None else {}
        values: dict[str, Any] = new | ({"role": role} if role is not None else {})
        return await self._transactions.execute(update(users).where(users.c.name == name).values(values)) > 0

    async def remove(self, name: str) -> bool:
        def remove(connection: Connection) -> bool:
            connection.execute(delete(credentials).where(credentials.c.owner == name))
            webhooks.drop_webhooks_of(connection, name)
            drop_limits_of(connection, name)
            # what others shared with them is not for somebody who gets the name later
            connection.execute(delete(readers).where(readers.c.reader == name))
            return connection.execute(delete(users).where(users.c.name == name)).rowcount > 0

        return await self._transactions.write(remove)

    async def count_failure(self, name: str, max_failures: int, until: float) -> None:
        last = users.c.failures + 1 >= max_failures
        values = {
            "failures": case((last, 0), else_=users.c.failures + 1),
            "locked_until": case((last, until), else_=users.c.locked_until),
        }
        await self._transactions.execute(update(users).where(users.c.name == name).values(values))

    async def reset_failures(self, name: str) -> None:
        condition = and_(users.c.name == name, users.c.failures > 0)
        await self._transactions.execute(update(users).where(condition).values(failures=0))

    async def add_credential(self, credential: Credential) -> bool:
        values = msgspec.structs.asdict(credential) | {"scopes": list(credential.scopes)}
        return await self._created_row(_KEEP.values(values))

    async def credential(self, hash: str) -> Credential | None:
        return next(iter(await self._credentials(credentials.c.hash == hash)), None)

    async def credentials(self, owner: str, kind: str) -> list[Credential]:
        return await self._credentials(and_(credentials.c.owner == owner, credentials.c.kind == kind))

    async def record_use(self, hash: str, used: float, expires: float) -> None:
        statement = update(credentials).where(credentials.c.hash == hash).values(used=used, expires=expires)
        await self._transactions.execute(statement)

    async def drop_credentials(self, owner: str, kind: str, id: str = "") -> int:
        statement = delete(credentials).where(credentials.c.owner == owner, credentials.c.kind == kind)
        return await self._transactions.execute(statement.where(credentials.c.id == id) if id else statement)

    async def drop_expired(self, now: float) -> None:
        expired = and_(credentials.c.expires > 0, credentials.c.expires <= now)
        await self._transactions.execute(delete(credentials).where(expired))

    async def _users(self, which: ColumnElement[bool]) -> list[UserRow]:
        rows = await self._transactions.rows(select(users).where(which).order_by(users.c.name))
        return [UserRow(**row._asdict()) for row in rows]

    async def _credentials(self, which: ColumnElement[bool]) -> list[Credential]:
        statement = select(credentials).where(which).order_by(credentials.c.created, credentials.c.id)
        return [_credential(row) for row in await self._transactions.rows(statement)]

    async def _created_row(self, statement: Any) -> bool:
        """True if an insertion created a row: not every driver counts inserted rows."""
        return await self._transactions.write(lambda connection: connection.execute(statement).first() is not None)


def _credential(row: Row[Any]) -> Credential:
    return Credential(**row._asdict() | {"scopes": tuple(row.scopes)})


# Links to reports in SQL.


class SqlShares(TransactedPort):
    """`ShareStore` over a database, through the process's writer."""

    async def add(self, share: ShareRow) -> None:
        await self._transactions.execute(insert(shares).values(msgspec.structs.asdict(share)))

    async def find_by_hash(self, hash: str) -> ShareRow | None:
        return next(iter(await self._share_rows(shares.c.hash == hash)), None)

    async def list_for_run(self, owner: str, run_id: str) -> list[ShareRow]:
        return await self._share_rows(and_(shares.c.owner == owner, shares.c.run_id == run_id))

    async def drop(self, owner: str, run_id: str, id: str) -> int:
        return await self._transactions.execute(
            delete(shares).where(shares.c.owner == owner, shares.c.run_id == run_id, shares.c.id == id)
        )

    async def drop_runs(self, run_ids: Sequence[str]) -> None:
        for batch in batches(run_ids):
            await self._transactions.execute(delete(shares).where(shares.c.run_id.in_(batch)))

    async def drop_owner(self, owner: str) -> None:
        await self._transactions.execute(delete(shares).where(shares.c.owner == owner))

    async def _share_rows(self, which: ColumnElement[bool]) -> list[ShareRow]:
        statement = select(shares).where(which).order_by(shares.c.created, shares.c.id)
        return [ShareRow(**row._asdict()) for row in await self._transactions.rows(statement)]


# The audit log in SQL.


class SqlAudit(TransactedPort):
    """`AuditLog` over a database, through the process's writer."""

    async def add(self, entry: AuditEntry) -> None:
        row = msgspec.structs.asdict(entry)
        del row["number"]

        await self._transactions.write_at(
            lambda connection, now: connection.execute(insert(audit), row | {"at": now}).rowcount, once=True
        )

    async def page(self, audit_filter: AuditFilter, limit: int, before: int | None = None) -> list[AuditEntry]:
        statement = select(audit).where(*_conditions(audit_filter)).order_by(audit.c.number.desc()).limit(limit)
        if before is not None:
            statement = statement.where(audit.c.number < before)
        return [AuditEntry(**row._asdict()) for row in await self._transactions.rows(statement)]

    async def drop(self, seconds: float, max_entries: int) -> int:
        def drop(connection: Connection, now: float) -> int:
            newest = connection.execute(select(func.max(audit.c.number))).scalar() or 0
            old = audit.c.at < now - seconds
            return connection.execute(delete(audit).where(or_(old, audit.c.number <= newest - max_entries))).rowcount

        return await self._transactions.write_at(drop)


def _conditions(criteria: AuditFilter) -> list[ColumnElement[bool]]:
    conditions = (
        (criteria.actor, audit.c.actor == criteria.actor),
        (criteria.action, audit.c.action == criteria.action),
        (criteria.since, audit.c.at >= criteria.since),
        (criteria.until, audit.c.at < criteria.until),
    )
    return [condition for value, condition in conditions if value]


# Token buckets in SQL: a row for each, with the time at which it is full again, changed in one statement.

_NOW: BindParameter[float] = bindparam("now", type_=Float)
_PAUSE: BindParameter[float] = bindparam("pause", type_=Float)
_SECONDS: BindParameter[float] = bindparam("seconds", type_=Float)
# A time further ahead than a bucket ever takes to fill was stored before the clock was set back.
_DUE = case((buckets.c.due.between(_NOW, _NOW + _SECONDS + _PAUSE), buckets.c.due), else_=_NOW)
_NEW_BUCKET = sqlite.insert(buckets)
_TAKE = _NEW_BUCKET.on_conflict_do_update(
    index_elements=["owner", "rate"],
    set_={"due": _DUE + _PAUSE},
    where=_DUE + _PAUSE <= _NOW + _SECONDS,
).returning(buckets.c.due)
_OF = (buckets.c.owner == bindparam("whose"), buckets.c.rate == bindparam("which"))
_STANDS = select(buckets.c.due).where(*_OF)
_GIVE_BACK = update(buckets).where(*_OF).values(due=buckets.c.due - _PAUSE)


class SqlBuckets(TransactedPort):
    """`Buckets` over a database, through the process's writer."""

    async def take(self, owner: str, rate: Rate) -> BucketState:
        def take(connection: Connection, now: float) -> BucketState:
            parameters = {"owner": owner, "rate": rate.name, "due": now + rate.pause}
            due = connection.execute(
                _TAKE, parameters | {"now": now, "pause": rate.pause, "seconds": rate.seconds}
            ).scalar()
            if due is not None:
                return bucket_state(rate, due, now)
            due = float(connection.execute(_STANDS, {"whose": owner, "which": rate.name}).scalar_one())
            wait = due + rate.pause - now - rate.seconds
            return msgspec.structs.replace(bucket_state(rate, due, now), left=0, wait=max(wait, 0.001))

        return await self._transactions.write_at(take)

    async def give_back(self, owner: str, rate: Rate) -> None:
        parameters = {"whose": owner, "which": rate.name, "pause": rate.pause}
        await self._transactions.write(
            lambda connection: connection.execute(_GIVE_BACK, parameters).rowcount, once=True
        )

    async def drop_full(self) -> int:

        return await self._transactions.write_at(
            lambda connection, now: connection.execute(delete(buckets).where(buckets.c.due <= now)).rowcount
        )
