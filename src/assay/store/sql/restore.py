"""Restores a copy made by `assay db backup`: as a home, or into a PostgreSQL database and its blob store.

The file is untrusted: names in it are checked, never followed. Its database is checked first, and may contain only
tables. Every blob is checked against its name before it is stored. The stated unpacked sizes must fit on the disk and
in memory.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec
from sqlalchemy import delete, func, insert, select

from assay.core.errors import StoreError
from assay.store.blobs import READER_THREADS, Damage, KeptBlobs, blob_name, verify_frame
from assay.store.sql.backup import clear_derived_tables, copy_database, copy_rows, is_empty, make_single_file
from assay.store.sql.database import Database, DatabaseBackend
from assay.store.sql.home import BLOBS_FOLDER, DATABASE_FILE, LIBRARY_KEY
from assay.store.sql.tables import documents, memos, runs

MAX_BLOB_BYTES = 1 << 30
"""The most bytes of a blob, packed or unpacked; nothing larger is read."""
MAX_EXTRA_BYTES = 16 << 20
"""The most bytes of the additional file."""
_AT_ONCE = 64 << 20
"""The most bytes of blobs held in memory, not counting the last one."""
_FOREIGN = "SELECT 1 FROM sqlite_master WHERE type NOT IN ('table', 'index') OR sql LIKE 'create virtual%'"
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, sqlite3.Error)
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class RestoreResult(msgspec.Struct, frozen=True, kw_only=True):
    """How much was restored; `damaged` are blobs of the file that do not match their names, or are too large: they are
    left out.
    """

    runs: int
    documents: int
    blobs: int
    damaged: tuple[str, ...] = ()


def restore(
    file: Path, target: Path | DatabaseBackend, blobs: KeptBlobs, library_id: str, *, also: Path | None = None
) -> RestoreResult:
    """Restore the contents of `file` to an empty place: blobs first, then the rows that need them, all or none.

    The result is a separate library with the id `library_id`, because the original may still be in use.

    Args:
        file: a `.zip` of `back_up`, or a database alone.
        target: the database's file, or its backend.
        blobs: the destination of the blobs; they know of `library_id`.
        library_id: the new library's id.
        also: an additional file of the home, written if the copy has one of its name.

    Raises:
        StoreError: the file is not such a copy, is damaged, or is of a newer release; the place is not empty; or it
            cannot be written.
    """
    _check_empty(target)
    home = target.parent if isinstance(target, Path) else None
    try:
        with tempfile.TemporaryDirectory(prefix=".assay-restore-", dir=home) as work:
            draft = Path(work) / DATABASE_FILE
            if zipfile.is_zipfile(file):
                with _open_backup(file, draft) as archive:
                    counts = _upgrade_copy(draft, library_id)
                    count, damaged = _put_blobs(archive, blobs)
                    _put_also(archive, also)  # before the database: after a kill here, the user can restore again
                    _put_in_place(draft, target)
            else:
                copy_database(file, draft)
                counts, count, damaged = _upgrade_copy(draft, library_id), 0, []
                blobs.register_owner()  # in a shared blob store, existing blobs belong to this library too
                _put_in_place(draft, target)
    except _DAMAGED as error:
        raise StoreError(f"{file} is damaged: {error}; use an earlier copy") from error
    except OSError as error:
        raise StoreError(
            f"{file} cannot be restored: {error.strerror or error}; check the space and the permissions"
        ) from error
    return RestoreResult(runs=counts[0], documents=counts[1], blobs=count, damaged=tuple(damaged))


def _check_empty(target: Path | DatabaseBackend) -> None:
    """Check that nothing would be overwritten."""
    if isinstance(target, Path):
        if target.exists():
            raise StoreError(f"{target} exists already: restore into a new folder (--home FOLDER)")
        return
    with closing(Database(target)) as database, database.read() as connection:
        empty = is_empty(connection)
    if not empty:
        raise StoreError(
            f"{target.place} holds runs or documents already: restore into an empty one (?schema=NAME), or into a home "
            "(ASSAY_DATABASE=none)"
        )


@contextmanager
def _open_backup(file: Path, draft: Path) -> Iterator[zipfile.ZipFile]:
    """The archive, with its database extracted to `draft`."""
    with zipfile.ZipFile(file) as archive:
        if DATABASE_FILE not in archive.namelist():
            raise StoreError(
                f"{file} is not a backup of Assay: it has no {DATABASE_FILE}; use one made by assay db backup"
            )
        if any(entry.flag_bits & 1 or entry.compress_type not in _PACKED for entry in archive.infolist()):
            raise StoreError(
                f"{file} is not a backup of Assay: parts are encrypted or packed otherwise; use one of assay db backup"
            )
        size = archive.getinfo(DATABASE_FILE).file_size
        if size > shutil.disk_usage(draft.parent).free:
            raise StoreError(
                f"{file} needs {size / 1e9:,.1f} GB in {draft.parent.parent}: free some, or name another home"
            )
        with archive.open(DATABASE_FILE) as source, draft.open("wb") as target:
            shutil.copyfileobj(source, target)
        yield archive


def _upgrade_copy(draft: Path, library_id: str) -> tuple[int, int]:
    """Upgrade the copy to this release's schema, as the library `library_id`; return how many runs and documents it
    has.
    """
    make_single_file(draft)
    with closing(sqlite3.connect(draft)) as connection:
        if connection.execute(_FOREIGN).fetchone():
            raise StoreError(
                f"{DATABASE_FILE} of the copy holds more than Assay's tables: it was not made by assay db backup"
            )
    with closing(Database(draft)) as database, database.write() as writer:  # opening upgrades it
        writer.execute(delete(memos).where(memos.c.key == LIBRARY_KEY))
        writer.execute(insert(memos).values(key=LIBRARY_KEY, data=library_id.encode()))
        counts = [writer.execute(select(func.count()).select_from(table)).scalar_one() for table in (runs, documents)]
    return counts[0], counts[1]


def _put_blobs(archive: zipfile.ZipFile, blobs: KeptBlobs) -> tuple[int, list[str]]:
    """Store the archive's blobs in batches; return how many, and the names of those that do not match."""

    def store(item: tuple[str, bytes]) -> str:
        """Store one blob; return its name if it is damaged."""
        name, frame = item
        try:
            verify_frame(frame, name, MAX_BLOB_BYTES)
        except Damage:
            return name
        blobs.keep(name, frame)
        return ""

    entries = [(blob_name(entry.filename.removeprefix(f"{BLOBS_FOLDER}/")), entry) for entry in archive.infolist()]
    entries_by_name = {name: entry for name, entry in entries if name and entry.filename.startswith(f"{BLOBS_FOLDER}/")}
    damaged = [name for name, entry in entries_by_name.items() if entry.file_size > MAX_BLOB_BYTES]
    blobs.register_owner()
    with ThreadPoolExecutor(READER_THREADS) as writers:
        for batch in _batches(
            [(name, entry) for name, entry in entries_by_name.items() if entry.file_size <= MAX_BLOB_BYTES]
        ):
            damaged += filter(None, writers.map(store, [(name, archive.read(entry)) for name, entry in batch]))
    return len(entries_by_name) - len(damaged), damaged


def _batches(entries: Sequence[tuple[str, zipfile.ZipInfo]]) -> Iterator[list[tuple[str, zipfile.ZipInfo]]]:
    """Batches of entries that fit in memory."""
    batch: list[tuple[str, zipfile.ZipInfo]] = []
    size = 0
    for name, entry in entries:
        batch.append((name, entry))
        size += entry.file_size
        if size >= _AT_ONCE or len(batch) == 4 * READER_THREADS:
            yield batch
            batch, size = [], 0
    yield batch


def _put_also(archive: zipfile.ZipFile, also: Path | None) -> None:
    """Write the additional file, if the copy has one and the place is free."""
    if also is None or also.name not in archive.namelist() or also.exists():
        return
    if archive.getinfo(also.name).file_size <= MAX_EXTRA_BYTES:
        draft = also.with_name(f".{also.name}.restored")
        draft.write_bytes(archive.read(also.name))
        os.replace(draft, also)


def _put_in_place(draft: Path, target: Path | DatabaseBackend) -> None:
    """Move the copy, or its rows, into place."""
    if isinstance(target, Path):
        make_single_file(draft)
        os.replace(draft, target)
        return
    with (
        closing(Database(draft)) as copy,
        copy.read() as old,
        closing(Database(target)) as target_database,
        target_database.write() as new,
    ):
        clear_derived_tables(new)
        copy_rows(old, new)
