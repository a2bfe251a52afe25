"""Cleans a home: deletes documents that nothing can reach any more, and bytes without references.

A document stays if it is in one of the user's collections, or if a retained run mentions it: all hashes in the run's
brief, events, steps and ledger count. No other process may work with the library meanwhile: for a home the caller makes
sure (`presence`), for a database on a server `SqlUpkeep` itself does. Rows are deleted first, in one transaction, then
bytes: a killed process leaves only bytes, which a later cleaning removes.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Container, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from sqlalchemy import Connection, delete, exists, func, select

from assay.core.lazy import regex
from assay.core.ports.store import SweepResult
from assay.core.sources import UNSORTED
from assay.store.blobs import FolderBlobs, KeptBlobs, Owner, StoredBlob
from assay.store.common import collections_of
from assay.store.leases import is_held
from assay.store.sql.database import Database
from assay.store.sql.shelves import BATCH, batches
from assay.store.sql.sqlite import Sqlite
from assay.store.sql.tables import (
    collections,
    documents,
    events,
    files,
    inbox,
    ledger,
    members,
    origins,
    readers,
    runs,
    snapshots,
    steps,
)

_HASH = regex(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_DERIVED = regex(r"set-[0-9a-f]{16}")
"""Collections that were made for a run's documents (`store.common.collection_of_set`)."""
ORPHAN_SECONDS = 3_600
"""Bytes without references stay this long, because a document's bytes are written before its row."""
SHARED_SECONDS = 24 * 3_600
"""The same if other machines may be at work: twice the age that a writer relies on (`objects.FRESH_SECONDS`)."""
ALONE_SECONDS = 2.0
"""How long a process that connects to a server's database waits for the removal of bytes; then the rest is left."""


class SqlUpkeep:
    """`Upkeep` over a database and its blobs.

    `owner` returns the library's id; with `shared`, another library may have stored blobs in the same place.
    """

    def __init__(self, database: Database, blobs: KeptBlobs, owner: Owner, *, shared: bool) -> None:
        self._database, self._blobs, self._shared = database, blobs, shared
        # called before anybody else, including this process, is kept from connecting
        self._owner = functools.cache(owner)

    def run_sizes(self) -> dict[str, int]:
        """See the port; a run's brief, events, steps and ledger count."""
        with self._database.read() as connection:
            briefs = connection.execute(select(runs.c.run_id, func.length(runs.c.brief)))
            sizes = {str(run_id): int(size) for run_id, size in briefs}
            for table in (events, steps, ledger):
                lengths = select(runs.c.run_id, func.sum(func.length(table.c.data)))
                lengths = lengths.join(runs, runs.c.number == table.c.run).group_by(runs.c.run_id)
                for run_id, size in connection.execute(lengths):
                    sizes[run_id] = sizes.get(run_id, 0) + int(size or 0)
        return sizes

    def sweep(self, pages: Path) -> SweepResult | None:
        with self._database.write() as connection:  # nobody adds documents until it is over
            if self._is_used_elsewhere(connection):
                return None
            deleted = _forget_documents(connection)
        with self._database.read() as connection:
            referenced = _referenced_hashes(connection)
        if self._is_shared_by_others():
            return SweepResult(rows=tuple(sorted(deleted)), apart=True)
        doomed = {sha for hashes in deleted.values() for sha in hashes}
        blobs = list(self._blobs.list_blobs())
        removed = self._remove(blobs, referenced, doomed)
        if isinstance(self._blobs, FolderBlobs):
            self._blobs.clear(ORPHAN_SECONDS)
        names = {blob.name for blob in removed}
        _remove_pages(pages, {blob.name for blob in blobs} - names)
        return SweepResult(rows=tuple(sorted(deleted)), blobs=len(names), size=sum(blob.size for blob in removed))

    def _is_shared_by_others(self) -> bool:
        """True if another library has stored bytes in the same place."""
        return self._shared and not self._blobs.owners() <= {self._owner()}

    def _is_used_elsewhere(self, connection: Connection) -> bool:
        """True if another process works with a database on a server: it is connected, or executes a run."""
        backend = self._database.backend
        if isinstance(backend, Sqlite):
            return False
        return backend.has_other_users(connection) or _is_run_executing(connection, backend.now(connection))

    def _remove(self, blobs: list[StoredBlob], referenced: Container[str], doomed: Container[str]) -> list[StoredBlob]:
        """Remove what is doomed, and what has had no references for long.

        Shared bytes are removed only if they are old: a process that has just started relies on the bytes it found, and
        rewrites those of half that age (`ObjectBlobs`).
        """
        at_once = () if self._shared else doomed
        remaining = [
            blob for blob in blobs if blob.name not in referenced and (blob.name in at_once or self._is_old(blob))
        ]
        removed: list[StoredBlob] = []
        while remaining:
            with self._exclusive() as alone:
                if not alone:
                    break  # somebody connected: the rest is removed next time
                removed += self._remove_some(remaining)
        return removed

    def _remove_some(self, remaining: list[StoredBlob]) -> Iterator[StoredBlob]:
        """Remove the last items, taking them out of `remaining`, for some seconds."""
        end = time.monotonic() + ALONE_SECONDS
        while remaining:
            blob = remaining.pop()
            # Listing takes a while, and meanwhile the bytes may have been rewritten, or another library may have
            # come.
            aged = not self._shared or (self._blobs.age(blob.name) or 0.0) >= SHARED_SECONDS
            if aged and not self._is_shared_by_others():
                self._blobs.remove(blob.name)
                yield blob
            if time.monotonic() > end:
                return

    @contextmanager
    def _exclusive(self) -> Iterator[bool]:
        """Prevent others from storing the examined bytes again until they are removed."""
        try:
            with self._database.writer() as connection, self._database.backend.exclusive(connection) as alone:
                yield alone
        except self._database.faults as error:
            raise self._database.backend.explain(error) from error

    def _is_old(self, blob: StoredBlob) -> bool:
        age = (datetime.now(UTC) - blob.modified).total_seconds()
        return age >= (SHARED_SECONDS if self._shared else ORPHAN_SECONDS)


def _is_run_executing(connection: Connection, now: float) -> bool:
    """True if any process executes a run: what it has read may not yet be recorded."""
    lease_ends = connection.execute(select(runs.c.lease_until).where(runs.c.holder != "")).scalars()
    return any(is_held(until, now) for until in lease_ends)


def _forget_documents(connection: Connection) -> dict[int, tuple[str, str]]:
    """Delete the rows of unreachable documents; return the hashes of text and snapshot by document number."""
    retained_names, mentioned = _named_collections(connection), _mentioned_hashes(connection)
    doomed_sets = [
        number
        for number, name in connection.execute(select(collections.c.number, collections.c.name)).all()
        if _DERIVED.fullmatch(name) and name not in retained_names
    ]
    for batch in batches(doomed_sets):
        for table in (members, origins, readers):
            connection.execute(delete(table).where(table.c.collection.in_(batch)))
        connection.execute(delete(collections).where(collections.c.number.in_(batch)))
    unsorted = select(collections.c.number).where(collections.c.name == UNSORTED)
    member_rows = set(
        connection.execute(select(members.c.document).where(members.c.collection.not_in(unsorted))).scalars()
    )
    every = connection.execute(select(documents.c.row, documents.c.sha256, documents.c.snapshot_sha256)).all()
    doomed = {
        row: (sha, snapshot)
        for row, sha, snapshot in every
        if row not in member_rows and sha not in mentioned and snapshot not in mentioned
    }
    for batch in batches(list(doomed)):
        connection.execute(delete(members).where(members.c.document.in_(batch)))
        connection.execute(delete(documents).where(documents.c.row.in_(batch)))
    needed = exists().where(documents.c.snapshot_sha256 == snapshots.c.sha256, documents.c.owner == snapshots.c.owner)
    connection.execute(delete(snapshots).where(~needed))
    _forget_files(connection, {sha for sha, _ in doomed.values()})
    return doomed


def _forget_files(connection: Connection, deleted: set[str]) -> None:
    """Forget a file whose documents are gone, so that it is read again the next time."""
    if not deleted:
        return
    for path, hashes in connection.execute(select(files.c.path, files.c.documents)).all():
        if not deleted.isdisjoint(hashes):
            connection.execute(delete(files).where(files.c.path == path))


def _named_collections(connection: Connection) -> set[str]:
    """The collections named in the briefs of retained runs."""
    briefs = connection.execute(select(runs.c.brief)).scalars()
    return {name for brief in briefs for name in collections_of(brief)}


def _mentioned_hashes(connection: Connection) -> set[str]:
    """Every hash that a retained run has mentioned or stored."""
    hashes: set[bytes] = set()
    for column in (runs.c.brief, events.c.data, steps.c.data, ledger.c.data, inbox.c.data):
        for data in connection.execute(select(column).execution_options(yield_per=BATCH)).scalars():
            hashes.update(_HASH.findall(data))
    return {digest.decode() for digest in hashes}


def _referenced_hashes(connection: Connection) -> set[str]:
    texts = connection.execute(select(documents.c.sha256)).scalars()
    return {*texts, *connection.execute(select(snapshots.c.sha256)).scalars(), *_mentioned_hashes(connection)}


def _remove_pages(folder: Path, present: Container[str]) -> None:
    """Remove kept pages whose bytes are gone; a file that cannot be read is not such a page."""

    class Record(msgspec.Struct):
        sha256: str

    with contextlib.suppress(OSError):  # the cache is optional, and removal is tried again next time
        for path in folder.glob("??/*.json"):
            with contextlib.suppress(msgspec.DecodeError):
                if msgspec.json.decode(path.read_bytes(), type=Record).sha256 in present:
                    continue
            path.unlink()
