"""A home on disk: `assay.db` and `blobs/`; or a database elsewhere, and blobs in a shared place."""

from __future__ import annotations

import importlib
import os
import secrets
from collections.abc import Collection
from functools import partial
from pathlib import Path

from sqlalchemy import bindparam, delete, func, select

from assay.core.errors import StoreError
from assay.core.ports.store import Store
from assay.store.blob_cache import CachedBlobs
from assay.store.blobs import FolderBlobs, KeptBlobs, Owner
from assay.store.common import WallClock
from assay.store.sql import sqlite
from assay.store.sql.adoption import SqlAdoption
from assay.store.sql.database import Database, DatabaseBackend, retry_while_away
from assay.store.sql.jobs import SqlJobs
from assay.store.sql.journal import SqlJournal
from assay.store.sql.library import SqlAdditions, SqlLibrary
from assay.store.sql.queue import SqlPermits, SqlQueue
from assay.store.sql.sweep import SqlUpkeep
from assay.store.sql.tables import memos
from assay.store.sql.users import SqlAudit, SqlBuckets, SqlLimits, SqlShares, SqlUsers
from assay.store.sql.webhooks import SqlWebhooks

LIBRARY_KEY = "library/id"
"""The key of a library's own id."""
_FORGET = delete(memos).where(memos.c.key == bindparam("of"))
_KEEP = sqlite.insert(memos).on_conflict_do_nothing(index_elements=["key"])


class SqlCache:
    """`Cache` over a database; thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @retry_while_away
    def recall(self, key: str) -> bytes | None:
        rows = self._database.rows(select(memos.c.data).where(memos.c.key == key))
        return rows[0].data if rows else None

    @retry_while_away
    def keep(self, key: str, data: bytes) -> None:
        with self._database.write() as connection:
            connection.execute(_KEEP, {"key": key, "data": data})

    @retry_while_away
    def entries(self, prefix: str) -> dict[str, bytes]:
        key = memos.c.key
        in_range = key.between(prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1))  # uses the index, if it sorts by bytes
        statement = select(memos).where(in_range, func.substr(key, 1, len(prefix)) == prefix)
        return {row.key: row.data for row in self._database.rows(statement)}

    @retry_while_away
    def forget(self, keys: Collection[str]) -> None:
        if keys:
            with self._database.write() as connection:
                connection.execute(_FORGET, [{"of": key} for key in keys])


def new_id() -> str:
    """An id that no other library has."""
    return secrets.token_hex(16)


def library_id(cache: SqlCache) -> str:
    """The id of the library in this database, created on first use."""
    stored_id = cache.recall(LIBRARY_KEY)
    if stored_id is None:
        cache.keep(LIBRARY_KEY, new_id().encode())  # if several processes do so, the first one counts
        stored_id = cache.recall(LIBRARY_KEY)
    return (stored_id or b"").decode()


DATABASE_FILE = "assay.db"
BLOBS_FOLDER = "blobs"
CACHE_FOLDER = "blob-cache"
CACHE_BYTES = 5_000_000_000
"""The default size of the local cache for blobs in an object store."""


def open_store(
    home: Path,
    wall: WallClock | None = None,
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
    store_database = Database(locate_database(home, database))
    journal, cache = SqlJournal(store_database, wall), SqlCache(store_database)
    blob_store = open_blobs(home, blobs, cache_bytes, partial(library_id, cache))
    return Store(
        journal=journal,
        library=SqlLibrary(store_database),
        blobs=blob_store,
        cache=cache,
        permits=SqlPermits(journal.transactions),
        additions=SqlAdditions(store_database),
        tells_all=bool(database),
        queue=SqlQueue(journal.transactions),
        jobs=SqlJobs(journal.transactions),
        users=SqlUsers(journal.transactions),
        buckets=SqlBuckets(journal.transactions),
        audit=SqlAudit(journal.transactions),
        webhooks=SqlWebhooks(journal.transactions),
        limits=SqlLimits(journal.transactions),
        shares=SqlShares(journal.transactions),
        adoption=SqlAdoption(store_database),
        upkeep=SqlUpkeep(store_database, blob_store, partial(library_id, cache), shared=blobs is not None),
    )


def open_blobs(
    home: Path, location: Path | str | None = None, cache_bytes: int = CACHE_BYTES, owner: Owner | None = None
) -> KeptBlobs:
    """The blobs of a home, or of the given folder or object store.

    Raises:
        ConfigError: the address is not valid, or the extra it needs is not installed.
    """
    if not isinstance(location, str):
        return FolderBlobs(home / BLOBS_FOLDER) if location is None else FolderBlobs(location, owner)
    # Imported by name: its library is an extra.
    distant: KeptBlobs = importlib.import_module("assay.store.objects").ObjectBlobs(location, owner)
    return CachedBlobs(distant, home / CACHE_FOLDER, cache_bytes)


def locate_database(home: Path, url: str = "") -> Path | DatabaseBackend:
    """The database of a home: its file, or the PostgreSQL database at a URL. Opens nothing.

    Raises:
        ConfigError: the URL is not valid, or the extra it needs is not installed.
    """
    if not url:
        return home / DATABASE_FILE
    # Imported by name: its driver is an extra, and slow to load.
    backend: DatabaseBackend = importlib.import_module("assay.store.sql.postgres").Postgres(url)
    return backend
