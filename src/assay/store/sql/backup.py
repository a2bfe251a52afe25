"""Backups of a library and its runs in one file, made while others work with them, and their restoration.

The file is the same for every database: an SQLite database with the schema of this release, and the blobs. So a backup
of a PostgreSQL database is a home when it is unpacked, and one of a home can be restored into PostgreSQL.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, Integer, Table, func, insert, inspect, select, text

from assay.core.errors import StoreError
from assay.core.lazy import regex
from assay.store.blobs import READER_THREADS, KeptBlobs, blob_path
from assay.store.sql.database import Database, DatabaseBackend
from assay.store.sql.home import BLOBS_FOLDER, DATABASE_FILE
from assay.store.sql.integrity import probe
from assay.store.sql.tables import documents, metadata, version

# Copies all rows of one database into another, of whatever kinds.

_AT_ONCE = 500
_DERIVED = regex(r"search_[0-9]+_[a-z0-9_]+_(?:state|documents|passages|words)")
"""Tables of the search index beside a library (`search.postgres`), of any release."""


def copy_rows(source: Connection, target: Connection) -> dict[str, int]:
    """Copy every table of this release's schema into an empty database; return the number of rows of each.

    Raises:
        StoreError: a row cannot be read.
    """
    return {table.name: _copy(table, source, target) for table in metadata.sorted_tables if table is not version}


def is_empty(connection: Connection) -> bool:
    """True if no table has a row."""
    tables = (table for table in metadata.sorted_tables if table is not version)
    return not any(connection.execute(select(func.count()).select_from(table)).scalar() for table in tables)


def clear_derived_tables(connection: Connection) -> None:
    """Empty the index beside the library: it belongs to other rows, and would mistake new ones for them by number.

    The tables stay, for processes that have them open; the next search fills them again.
    """
    names = [name for name in inspect(connection).get_table_names() if _DERIVED.fullmatch(name)]
    if names:
        connection.execute(text("TRUNCATE " + ", ".join(f'"{name}"' for name in names)))


def _copy(table: Table, source: Connection, target: Connection) -> int:
    count, statement = 0, insert(table)
    order = select(table).order_by(*table.primary_key.columns)
    try:
        for part in source.execute(order.execution_options(yield_per=_AT_ONCE)).partitions():
            rows: list[dict[str, Any]] = [dict(row._mapping) for row in part]
            target.execute(statement, rows)
            count += len(rows)
    except msgspec.DecodeError as error:
        raise StoreError(f"a row of {table.name} cannot be read: {error}; `assay db check` looks for damage") from error
    if count and target.dialect.name == "postgresql":
        _advance_sequence(table, target)
    return count


def _advance_sequence(table: Table, target: Connection) -> None:
    """Let new rows be numbered after the highest copied one."""
    (key, *others) = table.primary_key.columns
    if others or not isinstance(key.type, Integer):
        return
    sequence = target.execute(
        text("SELECT pg_get_serial_sequence(:of, :column)"), {"of": table.name, "column": key.name}
    ).scalar()
    if sequence is not None:
        highest = select(func.max(key)).scalar_subquery()
        target.execute(select(func.setval(text(":sequence").bindparams(sequence=sequence), highest)))


_PAGES = 2_000
"""Database pages copied at a time; others write in between."""


class Backup(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a backup: bytes of the file, and the number of blobs in it; `missing` are unreadable ones.

    `needed` are the blobs that the documents in the backup need, even if they are not in the file.
    """

    file: str
    size: int
    blobs: int
    needed: int
    missing: tuple[str, ...] = ()


def back_up(source: Path | DatabaseBackend, blobs: KeptBlobs, target: Path, *, also: Sequence[Path] = ()) -> Backup:
    """Back up a database to the file `target`, with `.zip` together with the blobs its documents need.

    Args:
        source: the database's file, or how to connect to it.
        also: further files for a `.zip`, if they exist.

    Raises:
        StoreError: there is no database, it is damaged, or the file cannot be written; no half file is left.
    """
    try:
        with _draft(target) as database:
            copy_database(source, database) if isinstance(source, Path) else _copy_from(source, database)
            needed = sorted(_needed_blobs(database))
            if target.suffix.lower() != ".zip":
                os.replace(database, target)
                return Backup(file=str(target), size=target.stat().st_size, blobs=0, needed=len(needed))
            with _draft(target) as archive:
                missing = _pack(archive, database, blobs, needed, also)
                os.replace(archive, target)
    except OSError as error:
        raise StoreError(
            f"{target} cannot be written ({error.strerror}); nothing was changed: name another place"
        ) from error
    count = len(needed) - len(missing)
    return Backup(file=str(target), size=target.stat().st_size, blobs=count, needed=len(needed), missing=tuple(missing))


def copy_database(source: Path, target: Path) -> None:
    """Make a complete, consistent copy of a database file that may be in use.

    Raises:
        StoreError: it cannot be read, or the copy not written.
    """
    result = probe(source)
    if result.state in ("missing", "foreign", "damaged", "unreadable"):
        raise StoreError(f"{source} cannot be copied: it is {result.description}; `assay doctor` says how to fix it")
    try:
        with closing(sqlite3.connect(source, timeout=30)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new, pages=_PAGES, sleep=0.01)
    except sqlite3.Error as error:
        raise StoreError(f"{source} cannot be copied to {target.parent}: {error}; name another place") from error
    make_single_file(target)


def make_single_file(path: Path) -> None:
    """Make a database that nobody has open a single file, without side files.

    Raises:
        StoreError: it is damaged.
    """
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
            result = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {error}") from error
    if result != "ok":
        raise StoreError(f"{path} is damaged: {result}; restore an earlier copy")


def _copy_from(backend: DatabaseBackend, target: Path) -> None:
    """Copy the database of a backend completely and consistently to an SQLite file."""
    target.unlink()  # a new database is only made if there is no file
    with (
        closing(Database(backend)) as source,
        closing(Database(target)) as copy,
        source.read() as old,
        copy.write() as new,
    ):
        copy_rows(old, new)
    make_single_file(target)
    target.with_name(f"{target.name}.lock").unlink(missing_ok=True)


def _needed_blobs(database: Path) -> set[str]:
    """The blobs that the documents in a database need."""
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute(f"SELECT sha256, snapshot_sha256 FROM {documents.name}")
        return {sha for row in rows for sha in row}


def _pack(archive: Path, database: Path, blobs: KeptBlobs, needed: Sequence[str], also: Sequence[Path]) -> list[str]:
    """Write the archive; return the blobs that cannot be read."""

    def frame(sha: str) -> bytes | None:
        try:
            return blobs.read(sha)[0]
        except StoreError:
            return None

    missing = []
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file, ThreadPoolExecutor(READER_THREADS) as readers:
        file.write(database, DATABASE_FILE)
        for path in also:
            if path.is_file():
                file.write(path, path.name)
        for first in range(0, len(needed), 4 * READER_THREADS):  # a few at a time: they are held in memory
            batch = needed[first : first + 4 * READER_THREADS]
            for sha, data in zip(batch, readers.map(frame, batch), strict=True):
                if data is None:
                    missing.append(sha)
                else:
                    file.writestr(zipfile.ZipInfo(f"{BLOBS_FOLDER}/{blob_path(sha)}"), data)  # compressed already
    return missing


@contextmanager
def _draft(target: Path) -> Iterator[Path]:
    """A file beside `target`, removed at the end of the block if it still exists."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".assay-backup-")
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)
