"""A home's database as its owner sees it: copied, checked, and brought to this release's schema."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from assay.app.schedules.book import FILE as SCHEDULES
from assay.core.errors import StoreError, UsageError
from assay.settings import Settings
from assay.store.sql.backup import Backup, back_up, copy_database
from assay.store.sql.checking import Checked, check
from assay.store.sql.database import Database
from assay.store.sql.home import DATABASE
from assay.store.sql.probe import probe


class Migrated(msgspec.Struct, frozen=True, kw_only=True):
    """The schema before and now; `copy` is the file in which the database is as it was, empty where nothing changed."""

    before: str
    now: str
    copy: str = ""


def backup(home: Path, settings: Settings, target: Path) -> Backup:
    """Copy a home to a file, while others work with it; with `.zip` the stored documents and schedules too.

    Raises:
        UsageError: the database is elsewhere, or the file is there already or stands in the home's own place.
        StoreError: it cannot be copied, or the file not written.
    """
    home = _own(home, settings)
    if os.path.lexists(target):
        raise UsageError(f"{target} is there already: name another file, or move it away")
    if target.suffix.lower() == ".zip" and settings.blobs is not None:
        raise UsageError(f"the documents' bytes are in {settings.blobs}: name a .db file, and copy that folder too")
    if not target.parent.is_dir():
        raise UsageError(f"the folder {target.parent} does not exist")
    return back_up(home, target, also=(SCHEDULES,))


def checked(home: Path, settings: Settings, *, quick: bool = False) -> Checked:
    """Look at all of a home, and change nothing.

    Raises:
        UsageError: the database is elsewhere.
        StoreError: there is no database which this release can read.
    """
    return check(_own(home, settings), settings.blobs, quick=quick)


def migrate(home: Path, settings: Settings) -> Migrated:
    """Bring a home's database to this release's schema; it is copied first.

    Raises:
        UsageError: the database is elsewhere, or there is none.
        StoreError: it is not Assay's, damaged, from a newer release, or the copy cannot be written.
    """
    home = _own(home, settings)
    path = home / DATABASE
    found = probe(path)
    if found.state == "missing":
        raise UsageError(f"there is no database in {home}: the first command which needs it makes it")
    copy = ""
    if found.state == "older":
        draft = _free(home / f"{DATABASE}.schema-{found.schema}")
        copy_database(path, draft)
        copy = str(draft)
    elif found.state != "current":
        raise StoreError(f"{path} cannot be migrated: it is {found.state} {found.problem}".rstrip())
    Database(path).close()
    return Migrated(before=found.schema, now=probe(path).schema, copy=copy)


def _own(home: Path, settings: Settings) -> Path:
    """The folder, whose database is a file of its own."""
    if settings.database is not None:
        raise UsageError(
            "the settings name a PostgreSQL database: its own tools (pg_dump, pg_restore) copy and check it, "
            "and it is brought to this release's schema when it is opened"
        )
    return home.expanduser()


def _free(path: Path) -> Path:
    """`path`, or with a number where that is there."""
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free
