"""A copy made by `assay db backup` put in place: as a home, or into a PostgreSQL database and where blobs lie.

The file is from outside: names in it are looked at, never followed; every blob is checked against its name before it
is stored; what it says it unpacks to must fit on the disk.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from sqlalchemy import Connection, delete, func, select

from assay.core.errors import StoreError
from assay.store.packing import Damage, KeptBlobs, Packing, name_at
from assay.store.sql.backend import Backend
from assay.store.sql.backup import READERS, copy_database, one_file
from assay.store.sql.database import Database
from assay.store.sql.home import BLOBS, DATABASE
from assay.store.sql.memo import LIBRARY
from assay.store.sql.rows import copy_rows, is_empty
from assay.store.sql.tables import documents, memos, runs

_ZIP = (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What reading an archive raises which is damaged, encrypted or packed in a way nobody knows."""


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """How much was put in place; `damaged` are blobs of the file which are not what their names say, left out."""

    runs: int
    documents: int
    blobs: int
    damaged: tuple[str, ...] = ()


def restore(file: Path, at: Path | Backend, blobs: KeptBlobs, *, also: Path | None = None) -> Restored:
    """Put what is in `file` to where nothing is yet: blobs first, then the rows which need them, all or none.

    Args:
        file: a `.zip` of `back_up`, or a database alone.
        at: the database's file, or how it is reached.
        blobs: where blobs go.
        also: a further file of the home, which is written where the copy has one of its name.

    Raises:
        StoreError: the file is no such copy, damaged, or of a newer release; there is something already; or it cannot
            be written.
    """
    _check_free(at)
    home = at.parent if isinstance(at, Path) else None
    try:
        with tempfile.TemporaryDirectory(prefix=".assay-restore-", dir=home) as work:
            draft = Path(work) / DATABASE
            if zipfile.is_zipfile(file):
                count, damaged = _unpack(file, draft, blobs, also)
            else:
                copy_database(file, draft)
                count, damaged = 0, []
            known = _put_in_place(draft, at)
    except _ZIP as error:
        raise StoreError(f"{file} is damaged: {error}") from error
    except OSError as error:
        raise StoreError(f"{file} cannot be restored: {error.strerror or error}") from error
    return Restored(runs=known[0], documents=known[1], blobs=count, damaged=tuple(damaged))


def _check_free(at: Path | Backend) -> None:
    """Nothing is written over.

    Raises:
        StoreError: there is something already.
    """
    if isinstance(at, Path):
        if at.exists():
            raise StoreError(f"{at} is there already: a copy is restored to where nothing is yet (--home FOLDER)")
        return
    database = Database(at)
    try:
        with database.read() as connection:
            empty = is_empty(connection)
    finally:
        database.close()
    if not empty:
        raise StoreError(f"{at.place} holds runs or documents already: restore into an empty one (?schema=NAME)")


def _unpack(file: Path, draft: Path, blobs: KeptBlobs, also: Path | None) -> tuple[int, list[str]]:
    """The database to `draft`, and the blobs to where they belong; how many, and which are damaged."""
    with zipfile.ZipFile(file) as archive:
        names = {entry.filename: entry for entry in archive.infolist()}
        if DATABASE not in names:
            raise StoreError(f"{file} is no copy of Assay's: there is no {DATABASE} in it")
        wanted = names[DATABASE].file_size
        if wanted > shutil.disk_usage(draft.parent).free:
            raise StoreError(f"{file} needs {wanted / 1e9:,.1f} GB in {draft.parent.parent}, where less is free")
        with archive.open(DATABASE) as source, draft.open("wb") as target:
            shutil.copyfileobj(source, target)
        damaged, count = [], 0
        for name, stored in _stored(archive, names, blobs):
            count += stored
            if not stored:
                damaged.append(name)
        if also is not None and also.name in names and not also.exists():
            also.write_bytes(archive.read(also.name))
    return count, damaged


def _stored(
    archive: zipfile.ZipFile, names: dict[str, zipfile.ZipInfo], blobs: KeptBlobs
) -> Iterator[tuple[str, bool]]:
    """Store the archive's blobs, some at a time; the names, and whether they are what they say."""
    packing = Packing()

    def store(each: tuple[str, bytes]) -> tuple[str, bool]:
        name, packed = each
        try:
            packing.unpack(packed, name)
        except Damage:
            return name, False
        blobs.keep(name, packed)
        return name, True

    found = [(name_at(path.removeprefix(f"{BLOBS}/")), entry) for path, entry in names.items()]
    kept = [(name, entry) for name, entry in found if name and entry.filename.startswith(f"{BLOBS}/")]
    with ThreadPoolExecutor(READERS) as writers:
        for first in range(0, len(kept), 4 * READERS):  # some at a time: they are held in memory
            some = kept[first : first + 4 * READERS]
            yield from writers.map(store, [(name, archive.read(entry)) for name, entry in some])


def _put_in_place(draft: Path, at: Path | Backend) -> tuple[int, int]:
    """Bring the copy to this release's schema and move it, or its rows; how many runs and documents."""
    opened = Database(draft)  # upgrades it
    try:
        with opened.write() as connection:  # the copy is a library of its own: the other one may go on
            connection.execute(delete(memos).where(memos.c.key == LIBRARY))
        with opened.read() as connection:
            known = [connection.execute(select(func.count()).select_from(each)).scalar() for each in (runs, documents)]
            if not isinstance(at, Path):
                _insert(connection, at)
    finally:
        opened.close()
    if isinstance(at, Path):
        one_file(draft)
        os.replace(draft, at)
    return known[0] or 0, known[1] or 0


def _insert(source: Connection, backend: Backend) -> None:
    target = Database(backend)
    try:
        with target.write() as connection:
            copy_rows(source, connection)
    finally:
        target.close()
