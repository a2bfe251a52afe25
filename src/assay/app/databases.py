"""The database for its operator: backups, restoration, checks, and migration to this release's schema."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import msgspec

from assay.app.layout import blobs_of, database_of
from assay.core.errors import StoreError, UsageError
from assay.services.schedules import FILE as SCHEDULES
from assay.settings import Settings
from assay.store.sql.backup import Backup, back_up, copy_database
from assay.store.sql.database import Database
from assay.store.sql.home import DATABASE_FILE, new_id
from assay.store.sql.integrity import IntegrityReport, check_library, probe
from assay.store.sql.restore import RestoreResult as RestoreResult
from assay.store.sql.restore import restore
from assay.store.sql.tables import HEAD


class MigrationResult(msgspec.Struct, frozen=True, kw_only=True):
    """The schema before and now; `copy` is a file with the earlier database, empty if nothing changed."""

    before: str
    now: str
    copy: str = ""


def backup(home: Path, settings: Settings, target: Path) -> Backup:
    """Back up a library and its runs to a file, while others work with them; with `.zip` including blobs and schedules.

    The file is the same whether they are in a home or in PostgreSQL and an object store.

    Raises:
        UsageError: the file exists already, or its folder does not.
        StoreError: the backup cannot be read or written.
    """
    if os.path.lexists(target):
        raise UsageError(f"{target} already exists: name another file, or move it away")
    if not target.parent.is_dir():
        raise UsageError(f"the folder {target.parent} does not exist: create it, or name another")
    home = home.expanduser()
    return back_up(database_of(home, settings), blobs_of(home, settings), target, also=(home / SCHEDULES,))


def restore_backup(home: Path, settings: Settings, file: Path) -> RestoreResult:
    """Restore a backup to where the settings say that the library and its runs are; there must be nothing yet.

    Raises:
        UsageError: there is no such file.
        StoreError: it is not a backup, there is something already, or it cannot be written.
    """
    if not os.path.isfile(file):
        raise UsageError(f"there is no file {file}: check its name")
    home = home.expanduser()
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{home} cannot be a home: {error.strerror}; name another one with --home") from error
    home_id = new_id()
    blobs = blobs_of(home, settings, lambda: home_id)
    return restore(file, database_of(home, settings), blobs, home_id, also=home / SCHEDULES)


def check_database(home: Path, settings: Settings, *, quick: bool = False) -> IntegrityReport:
    """Check everything in a library and its runs, without changes.

    Raises:
        StoreError: there is no database that this release can read, or the blobs cannot be reached.
    """
    home = home.expanduser()
    return check_library(database_of(home, settings), blobs_of(home, settings), quick=quick)


def migrate(home: Path, settings: Settings) -> MigrationResult:
    """Migrate the database to this release's schema; a file is copied first.

    Raises:
        UsageError: there is none.
        StoreError: it is not Assay's, is damaged or from a newer release, or the copy cannot be written.
    """
    home = home.expanduser()
    database = database_of(home, settings)
    if isinstance(database, Path):
        return _migrate_file(database)
    before: str = importlib.import_module("assay.store.sql.postgres").Postgres.schema_version(database)
    if not before:
        raise UsageError(f"{database.place} has no Assay tables yet: the first command that needs them creates them")
    Database(database).close()
    return MigrationResult(before=before, now=HEAD)


def _migrate_file(path: Path) -> MigrationResult:
    database = probe(path)
    if database.state == "missing":
        raise UsageError(f"there is no database in {path.parent}: the first command that needs it creates it")
    copy = ""
    if database.state == "older":
        draft = path.with_name(f".{DATABASE_FILE}.copy")
        draft.unlink(missing_ok=True)  # of a killed process
        copy_database(path, draft)
        copy = str(draft.rename(_unused_path(path.with_name(f"{DATABASE_FILE}.schema-{database.schema}"))))
    elif database.state != "current":
        raise StoreError(f"{path} cannot be migrated: it is {database.description}; restore a copy (assay db restore)")
    Database(path).close()
    return MigrationResult(before=database.schema, now=probe(path).schema, copy=copy)


def _unused_path(path: Path) -> Path:
    """`path`, with a number if it exists."""
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free
