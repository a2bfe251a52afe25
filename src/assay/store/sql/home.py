"""A home on disk: `assay.db` and `blobs/`; or a database elsewhere, and blobs where its users share them."""

from __future__ import annotations

import importlib
import os
from functools import partial
from pathlib import Path

from assay.core.errors import StoreError
from assay.store.blob_cache import CachedBlobs
from assay.store.blobs import FolderBlobs, KeptBlobs, Owner
from assay.store.common import Store, Wall
from assay.store.sql.additions import SqlAdditions
from assay.store.sql.adoption import SqlAdoption
from assay.store.sql.audit import SqlAudit
from assay.store.sql.backend import DatabaseBackend
from assay.store.sql.buckets import SqlBuckets
from assay.store.sql.database import Database
from assay.store.sql.journal import SqlJournal
from assay.store.sql.library import SqlLibrary
from assay.store.sql.queue import SqlPermits, SqlQueue
from assay.store.sql.sql_cache import SqlCache, library_id
from assay.store.sql.sweep import SqlUpkeep
from assay.store.sql.users import SqlLimits, SqlShares, SqlUsers
from assay.store.sql.webhooks import SqlWebhooks

DATABASE = "assay.db"
BLOBS = "blobs"
CACHE = "blob-cache"
CACHE_BYTES = 5_000_000_000
"""What is kept on this machine of blobs which lie in an object store, if nothing else is said."""


def open_store(
    home: Path,
    wall: Wall | None = None,
    *,
    database: str = "",
    blobs: Path | str | None = None,
    cache_bytes: int = CACHE_BYTES,
) -> Store:
    """The store in the folder `home`, made when it is not there, upgraded when an older release made it.

    Args:
        home: folder of the database and the blobs, where they are not elsewhere.
        wall: the clock leases go by; None: the database's own.
        database: URL of a PostgreSQL database, in place of the file in `home`.
        blobs: folder of the blobs, or address of an object store, in place of that in `home`.
        cache_bytes: how much of an object store is kept in `home`.

    Raises:
        ConfigError: a URL is none, or the extra which it needs is not installed.
        StoreError: it cannot be made or read, is not Assay's, or was written by a newer release.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)  # questions and documents are their owner's business
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
        queue=SqlQueue(opened, journal),
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
    """The blobs of a home, or of the folder or object store which is named.

    Raises:
        ConfigError: the address is none, or the extra which it needs is not installed.
    """
    if not isinstance(at, str):
        return FolderBlobs(home / BLOBS) if at is None else FolderBlobs(at, owner)
    # By name: the library which reaches it is an extra.
    distant: KeptBlobs = importlib.import_module("assay.store.objects").ObjectBlobs(at, owner)
    return CachedBlobs(distant, home / CACHE, cache_bytes)


def database_at(home: Path, url: str = "") -> Path | DatabaseBackend:
    """The database of a home: its file, or the PostgreSQL database at a URL. Nothing is opened.

    Raises:
        ConfigError: the URL is none, or the extra which it needs is not installed.
    """
    if not url:
        return home / DATABASE
    # By name: its driver is an extra, and slow to load.
    made: DatabaseBackend = importlib.import_module("assay.store.sql.postgres").Postgres(url)
    return made
