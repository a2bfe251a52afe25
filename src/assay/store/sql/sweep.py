"""Cleaning a home up: documents nobody can come back to any more, and bytes nobody refers to.

A document stays which is in a collection of the user's, or which a run that is kept mentions: all hashes in its
brief, events, steps and ledger count. Its caller makes sure that no other process works with the home meanwhile. Rows
go first, in one transaction, then bytes: what a killed process leaves behind is bytes which a later cleaning takes.
"""

from __future__ import annotations

import contextlib
import re
import time
from pathlib import Path

import msgspec
from sqlalchemy import Connection, delete, select

from assay.core.errors import StoreError
from assay.core.sources import UNSORTED
from assay.store.sql.database import Database
from assay.store.sql.home import BLOBS, DATABASE
from assay.store.sql.shelves import BATCH, batches
from assay.store.sql.tables import (
    collections,
    documents,
    events,
    files,
    inbox,
    ledger,
    members,
    origins,
    runs,
    snapshots,
    steps,
)

_HASH = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_DERIVED = re.compile(r"set-[0-9a-f]{16}")
"""Collections which were made for a run's documents (`store.common.set_members`)."""
ORPHAN_SECONDS = 3_600
"""Bytes nobody refers to stay so long: those of a document being added are written before its row is."""


class Swept(msgspec.Struct, frozen=True, kw_only=True):
    """What was cleaned up: the row numbers of documents, and how many bytes in how many files."""

    rows: tuple[int, ...] = ()
    blobs: int = 0
    size: int = 0


class _Scope(msgspec.Struct, frozen=True):
    collections: tuple[str, ...] = ()


class _Brief(msgspec.Struct, frozen=True):
    scope: _Scope = _Scope()


def sweep(home: Path, pages: Path) -> Swept:
    """Clean the home in a folder up; `pages` is where pages of the web are kept for the next time. Blocking.

    Raises:
        StoreError: it cannot be read or written; what is referred to is untouched.
    """
    database = Database(home / DATABASE)
    try:
        with database.write() as connection:
            gone = _forget_documents(connection)
        with database.read() as connection:
            kept = _referred(connection)
    finally:
        database.close()
    doomed = {sha for hashes in gone.values() for sha in hashes}
    removed, size = _remove_blobs(home / BLOBS, kept, doomed)
    _remove_pages(pages, home / BLOBS)
    return Swept(rows=tuple(sorted(gone)), blobs=removed, size=size)


def _forget_documents(connection: Connection) -> dict[int, tuple[str, str]]:
    """Delete the rows of documents nobody can come back to; by their numbers the hashes of text and snapshot."""
    named, mentioned = _named(connection), _mentioned(connection)
    doomed_sets = [
        number
        for number, name in connection.execute(select(collections.c.number, collections.c.name)).all()
        if _DERIVED.fullmatch(name) and name not in named
    ]
    for some in batches(doomed_sets):
        for table in (members, origins):
            connection.execute(delete(table).where(table.c.collection.in_(some)))
        connection.execute(delete(collections).where(collections.c.number.in_(some)))
    unsorted = select(collections.c.number).where(collections.c.name == UNSORTED)
    held = set(connection.execute(select(members.c.document).where(members.c.collection.not_in(unsorted))).scalars())
    every = connection.execute(select(documents.c.row, documents.c.sha256, documents.c.snapshot_sha256)).all()
    doomed = {
        row: (sha, snapshot)
        for row, sha, snapshot in every
        if row not in held and sha not in mentioned and snapshot not in mentioned
    }
    for some in batches(list(doomed)):
        connection.execute(delete(members).where(members.c.document.in_(some)))
        connection.execute(delete(documents).where(documents.c.row.in_(some)))
    connection.execute(delete(snapshots).where(snapshots.c.sha256.not_in(select(documents.c.snapshot_sha256))))
    _forget_files(connection, {sha for sha, _ in doomed.values()})
    return doomed


def _forget_files(connection: Connection, gone: set[str]) -> None:
    """A file whose documents are gone is read again the next time."""
    if not gone:
        return
    for path, found in connection.execute(select(files.c.path, files.c.documents)).all():
        if not gone.isdisjoint(found):
            connection.execute(delete(files).where(files.c.path == path))


def _named(connection: Connection) -> set[str]:
    """The collections which the briefs of kept runs name."""
    briefs = connection.execute(select(runs.c.brief)).scalars()
    return {name for brief in briefs for name in msgspec.json.decode(brief, type=_Brief).scope.collections}


def _mentioned(connection: Connection) -> set[str]:
    """Every hash which a kept run has said or stored."""
    found: set[bytes] = set()
    for column in (runs.c.brief, events.c.data, steps.c.data, ledger.c.data, inbox.c.data):
        for data in connection.execute(select(column).execution_options(yield_per=BATCH)).scalars():
            found.update(_HASH.findall(data))
    return {each.decode() for each in found}


def _referred(connection: Connection) -> set[str]:
    """The hashes of bytes somebody refers to."""
    texts = connection.execute(select(documents.c.sha256)).scalars()
    return {*texts, *connection.execute(select(snapshots.c.sha256)).scalars(), *_mentioned(connection)}


def _remove_blobs(folder: Path, kept: set[str], doomed: set[str]) -> tuple[int, int]:
    """Remove what is doomed, and what nobody has referred to for long; how many files, and their bytes."""
    removed = size = 0
    before = time.time() - ORPHAN_SECONDS
    try:
        for path in folder.glob("??/*"):
            name = f"{path.parent.name}{path.name.removesuffix('.zst')}"
            if name in kept or not path.is_file():
                continue
            status = path.stat()
            if name in doomed or status.st_mtime < before:
                size += status.st_size
                path.unlink()
                removed += 1
    except OSError as error:
        raise StoreError(f"{error.filename} cannot be removed: {error.strerror}; clean up again later") from error
    return removed, size


def _remove_pages(folder: Path, blobs: Path) -> None:
    """Pages kept for the next time whose bytes are gone; what cannot be read is not one."""

    class Record(msgspec.Struct):
        sha256: str

    with contextlib.suppress(OSError):  # it is a convenience, and tried again the next time
        for path in folder.glob("??/*.json"):
            with contextlib.suppress(msgspec.DecodeError):
                name = msgspec.json.decode(path.read_bytes(), type=Record).sha256
                if (blobs / name[:2] / f"{name[2:]}.zst").exists():
                    continue
            path.unlink()
