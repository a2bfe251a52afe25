"""A home on disk: `assay.db` and `blobs/`; or a database elsewhere, and blobs in a shared place."""

from __future__ import annotations

import importlib
import os
import secrets
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Float,
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

from assay.core.errors import StoreError, UnknownName
from assay.core.ports.collections import ENDED, Addition
from assay.core.ports.store import Store
from assay.core.ports.users import AuditEntry, AuditFilter, BucketState, Rate, after
from assay.store.blob_cache import CachedBlobs
from assay.store.blobs import FolderBlobs, KeptBlobs, Owner
from assay.store.common import OwnedView, Wall
from assay.store.sql import sqlite
from assay.store.sql.adoption import SqlAdoption
from assay.store.sql.database import Database, DatabaseBackend, patient
from assay.store.sql.jobs import SqlJobs
from assay.store.sql.journal import SqlJournal
from assay.store.sql.library import SqlLibrary
from assay.store.sql.queue import SqlPermits, SqlQueue
from assay.store.sql.sweep import SqlUpkeep
from assay.store.sql.tables import additions, audit, buckets, memos
from assay.store.sql.users import SqlLimits, SqlShares, SqlUsers
from assay.store.sql.webhooks import SqlWebhooks

LIBRARY = "library/id"
"""The key of a library's own id."""
_FORGET = delete(memos).where(memos.c.key == bindparam("of"))
_KEEP = sqlite.insert(memos).on_conflict_do_nothing(index_elements=["key"])


class SqlCache:
    """`Cache` over a database; thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @patient
    def recall(self, key: str) -> bytes | None:
        """Return what is stored under `key`."""
        rows = self._database.rows(select(memos.c.data).where(memos.c.key == key))
        return rows[0].data if rows else None

    @patient
    def keep(self, key: str, data: bytes) -> None:
        """Store `data` under `key`, unless something is there already."""
        with self._database.write() as connection:
            connection.execute(_KEEP, {"key": key, "data": data})

    @patient
    def known(self, prefix: str) -> dict[str, bytes]:
        """Return what is stored under all keys with this prefix."""
        key = memos.c.key
        within = key.between(prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1))  # uses the index, if it sorts by bytes
        chosen = select(memos).where(within, func.substr(key, 1, len(prefix)) == prefix)
        return {row.key: row.data for row in self._database.rows(chosen)}

    @patient
    def forget(self, keys: Collection[str]) -> None:
        """Delete these keys."""
        if keys:
            with self._database.write() as connection:
                connection.execute(_FORGET, [{"of": key} for key in keys])


def new_id() -> str:
    """An id that no other library has."""
    return secrets.token_hex(16)


def library_id(cache: SqlCache) -> str:
    """The id of the library in this database, created on first use."""
    known = cache.recall(LIBRARY)
    if known is None:
        cache.keep(LIBRARY, new_id().encode())  # if several processes do so, the first one counts
        known = cache.recall(LIBRARY)
    return (known or b"").decode()


# Additions in SQL.

_FIELDS = tuple(additions.c[name] for name in Addition.__struct_fields__)
_PUT = sqlite.insert(additions)
_PUT = _PUT.on_conflict_do_update(
    index_elements=["id"],
    set_={name: _PUT.excluded[name] for name in Addition.__struct_fields__ if name not in ("id", "owner")},
    where=additions.c.owner == _PUT.excluded.owner,
)


class SqlAdditions(OwnedView):
    """`Additions` over a database; any thread may use it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @patient
    def put(self, addition: Addition) -> None:
        """See the port."""
        row = msgspec.structs.asdict(addition)
        if self._owner is not None:
            row["owner"] = self._owner
        with self._database.write() as connection:
            connection.execute(_PUT, row)

    @patient
    def find(self, id: str) -> Addition:
        """See the port."""
        rows = self._database.rows(select(*_FIELDS).where(additions.c.id == id, self._mine()))
        if not rows:
            raise UnknownName("addition", id)
        return _addition(rows[0]._asdict())

    @patient
    def all(self, limit: int = 100) -> list[Addition]:
        """See the port."""
        chosen = select(*_FIELDS).where(self._mine()).order_by(additions.c.number.desc()).limit(limit)
        return [_addition(row._asdict()) for row in self._database.rows(chosen)]

    @patient
    def forget(self, before: str) -> None:
        """See the port."""
        old = (additions.c.state.in_(sorted(ENDED)), additions.c.updated_at < before, self._mine())
        with self._database.write() as connection:
            connection.execute(delete(additions).where(*old))

    def _mine(self) -> ColumnElement[bool]:
        return true() if self._owner is None else additions.c.owner == self._owner


def _addition(row: dict[str, Any]) -> Addition:
    return Addition(**{**row, "sources": tuple(row["sources"]), "warnings": tuple(row["warnings"])})


# The audit log in SQL.

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
        return [AuditEntry(**row._asdict()) for row in await self._transactions.rows(chosen)]

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


# Token buckets in SQL: a row for each, with the time at which it is full again, changed in one statement.

_NOW: BindParameter[float] = bindparam("now", type_=Float)
_PAUSE: BindParameter[float] = bindparam("pause", type_=Float)
_SECONDS: BindParameter[float] = bindparam("seconds", type_=Float)
_DUE = case((buckets.c.due > _NOW, buckets.c.due), else_=_NOW)
_ADD_BUCKET = sqlite.insert(buckets)
_TAKE = _ADD_BUCKET.on_conflict_do_update(
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


DATABASE = "assay.db"
BLOBS = "blobs"
CACHE = "blob-cache"
CACHE_BYTES = 5_000_000_000
"""The default size of the local cache for blobs in an object store."""


def open_store(
    home: Path,
    wall: Wall | None = None,
    *,
    database: str = "",
    blobs: Path | str | None = None,
    cache_bytes: int = CACHE_BYTES,
) -> Store:
    """Open the store in the folder `home`, creating or upgrading it if necessary.

    Args:
        home: folder of the database and the blobs, unless they are elsewhere.
        wall: the clock for leases; None: the database's own.
        database: URL of a PostgreSQL database, instead of the file in `home`.
        blobs: folder of the blobs, or address of an object store, instead of that in `home`.
        cache_bytes: how much of an object store is cached in `home`.

    Raises:
        ConfigError: a URL is not valid, or the extra it needs is not installed.
        StoreError: it cannot be created or read, is not Assay's, or was written by a newer release.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)  # questions and documents are private to their owner
    except OSError as error:
        why = "it is a file" if os.path.isfile(home) else error.strerror  # unlike Path.is_file it never raises
        raise StoreError(f"{home} cannot be a home: {why}; name another one with --home or ASSAY_HOME") from error
    opened = Database(database_at(home, database))
    journal, cache = SqlJournal(opened, wall), SqlCache(opened)
    kept = kept_blobs(home, blobs, cache_bytes, partial(library_id, cache))
    return Store(
        journal=journal,
        library=SqlLibrary(opened),
        blobs=kept,
        cache=cache,
        permits=SqlPermits(opened, journal),
        additions=SqlAdditions(opened),
        tells_all=bool(database),
        queue=SqlQueue(journal),
        jobs=SqlJobs(opened, journal),
        users=SqlUsers(journal),
        buckets=SqlBuckets(journal),
        audit=SqlAudit(journal),
        webhooks=SqlWebhooks(journal),
        limits=SqlLimits(journal),
        shares=SqlShares(journal),
        adoption=SqlAdoption(opened),
        upkeep=SqlUpkeep(opened, kept, partial(library_id, cache), shared=blobs is not None),
    )


def kept_blobs(
    home: Path, at: Path | str | None = None, cache_bytes: int = CACHE_BYTES, owner: Owner | None = None
) -> KeptBlobs:
    """The blobs of a home, or of the given folder or object store.

    Raises:
        ConfigError: the address is not valid, or the extra it needs is not installed.
    """
    if not isinstance(at, str):
        return FolderBlobs(home / BLOBS) if at is None else FolderBlobs(at, owner)
    # Imported by name: its library is an extra.
    distant: KeptBlobs = importlib.import_module("assay.store.objects").ObjectBlobs(at, owner)
    return CachedBlobs(distant, home / CACHE, cache_bytes)


def database_at(home: Path, url: str = "") -> Path | DatabaseBackend:
    """The database of a home: its file, or the PostgreSQL database at a URL. Opens nothing.

    Raises:
        ConfigError: the URL is not valid, or the extra it needs is not installed.
    """
    if not url:
        return home / DATABASE
    # Imported by name: its driver is an extra, and slow to load.
    made: DatabaseBackend = importlib.import_module("assay.store.sql.postgres").Postgres(url)
    return made
