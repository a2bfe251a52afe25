"""Copies of a home: the database while others write it (SQLite's online backup), and the bytes its documents need."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from assay.core.errors import StoreError
from assay.store.sql.home import BLOBS, DATABASE
from assay.store.sql.probe import probe
from assay.store.sql.tables import documents

_PAGES = 2_000
"""Pages copied at a time; others write in between."""


class Backup(msgspec.Struct, frozen=True, kw_only=True):
    """What was written: bytes of the file, and how many blobs are in it; `missing` are those which are not there.

    `needed` are the blobs which the documents in the copy need, also where they are not in the file.
    """

    file: str
    size: int
    blobs: int
    needed: int
    missing: tuple[str, ...] = ()


def back_up(home: Path, target: Path, *, also: Sequence[str] = ()) -> Backup:
    """Copy the home in a folder to the file `target`: with `.zip` all of it, else the database alone.

    Args:
        also: further files of the home which belong into a `.zip`.

    Raises:
        StoreError: there is no database, it is damaged, or the file cannot be written; no half copy is left.
    """
    found = probe(home / DATABASE)
    if found.state in ("missing", "foreign", "damaged", "unreadable"):
        raise StoreError(f"{home / DATABASE} cannot be copied: it is {found.state} {found.problem}".rstrip())
    try:
        with _draft(target) as database:
            copy_database(home / DATABASE, database)
            needed = sorted(_needed(database))
            if target.suffix.lower() != ".zip":
                os.replace(database, target)
                return Backup(file=str(target), size=target.stat().st_size, blobs=0, needed=len(needed))
            with _draft(target) as archive:
                missing = _pack(archive, home, database, needed, also)
                os.replace(archive, target)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error.strerror}; the home is as it was") from error
    count = len(needed) - len(missing)
    return Backup(file=str(target), size=target.stat().st_size, blobs=count, needed=len(needed), missing=tuple(missing))


def copy_database(source: Path, target: Path) -> None:
    """A whole, consistent copy of a database that may be in use.

    Raises:
        StoreError: it cannot be read, or the copy not written.
    """
    try:
        with closing(sqlite3.connect(source, timeout=30)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new, pages=_PAGES, sleep=0.01)
            new.execute("PRAGMA journal_mode = DELETE")  # one file, nothing beside it
            said = new.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        raise StoreError(f"{source} cannot be copied to {target.parent}: {error}") from error
    if said != "ok":
        raise StoreError(f"{source} is damaged: {said}")


def _needed(database: Path) -> set[str]:
    """The blobs which the documents in a database need."""
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute(f"SELECT sha256, snapshot_sha256 FROM {documents.name}")
        return {sha for row in rows for sha in row}


def _pack(archive: Path, home: Path, database: Path, needed: Sequence[str], also: Sequence[str]) -> list[str]:
    """Write the archive; the blobs that are not there."""
    missing = []
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.write(database, DATABASE)
        for name in also:
            if (home / name).is_file():
                file.write(home / name, name)
        for sha in needed:
            place = f"{BLOBS}/{sha[:2]}/{sha[2:]}.zst"
            if (home / place).is_file():
                file.write(home / place, place, zipfile.ZIP_STORED)  # packed already
            else:
                missing.append(sha)
    return missing


@contextmanager
def _draft(target: Path) -> Iterator[Path]:
    """A file beside `target`, removed at the end of the block if it is still there."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".assay-backup-")
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)
