"""A home on disk: `assay.db` and `blobs/`; or a database elsewhere, and blobs in a folder its users share."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from assay.core.errors import StoreError
from assay.store.blobs import FolderBlobs
from assay.store.common import Store, Wall
from assay.store.sql.backend import Backend
from assay.store.sql.database import Database
from assay.store.sql.journal import SqlJournal
from assay.store.sql.library import SqlLibrary
from assay.store.sql.memo import SqlMemo
from assay.store.sql.queue import SqlQueue

DATABASE = "assay.db"
BLOBS = "blobs"


def open_store(home: Path, wall: Wall | None = None, *, database: str = "", blobs: Path | None = None) -> Store:
    """The store in the folder `home`, made when it is not there, upgraded when an older release made it.

    Args:
        home: folder of the database and the blobs, where they are not elsewhere.
        wall: the clock leases go by; None: the database's own.
        database: URL of a PostgreSQL database, in place of the file in `home`.
        blobs: folder of the blobs, in place of that in `home`.

    Raises:
        ConfigError: the URL is none, or the extra which it needs is not installed.
        StoreError: it cannot be made or read, is not Assay's, or was written by a newer release.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)  # questions and documents are their owner's business
    except OSError as error:
        why = "it is a file" if os.path.isfile(home) else error.strerror  # unlike Path.is_file it never raises
        raise StoreError(f"{home} cannot be a home: {why}; name another one with --home or ASSAY_HOME") from error
    opened = Database(_postgres(database) if database else home / DATABASE)
    journal = SqlJournal(opened, wall)
    return Store(
        journal=journal,
        library=SqlLibrary(opened),
        blobs=FolderBlobs(blobs or home / BLOBS),
        memo=SqlMemo(opened),
        queue=SqlQueue(opened, journal),
    )


def _postgres(url: str) -> Backend:
    # By name: its driver is an extra, and slow to load.
    made: Backend = importlib.import_module("assay.store.sql.postgres").Postgres(url)
    return made
