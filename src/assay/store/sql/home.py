"""A home on disk: `assay.db` and `blobs/`."""

from __future__ import annotations

import os
import time
from pathlib import Path

from assay.core.errors import StoreError
from assay.store.blobs import FolderBlobs
from assay.store.common import Store, Wall
from assay.store.sql.database import Database
from assay.store.sql.journal import SqlJournal
from assay.store.sql.library import SqlLibrary

DATABASE = "assay.db"
BLOBS = "blobs"


def open_store(home: Path, wall: Wall = time.time) -> Store:
    """The store in the folder `home`, made when it is not there, upgraded when an older release made it.

    Raises:
        StoreError: it cannot be made or read, is not Assay's, or was written by a newer release.
    """
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)  # questions and documents are their owner's business
    except OSError as error:
        why = "it is a file" if os.path.isfile(home) else error.strerror  # unlike Path.is_file it never raises
        raise StoreError(f"{home} cannot be a home: {why}; name another one with --home or ASSAY_HOME") from error
    database = Database(home / DATABASE)
    return Store(
        journal=SqlJournal(database, wall),
        library=SqlLibrary(database),
        blobs=FolderBlobs(home / BLOBS),
    )
