"""A store in the process: nothing on disk, gone with it. For library calls, tests and benchmarks."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence

from assay.core.allowance import check
from assay.core.errors import FenceLost, LeaseHeld
from assay.core.events import Envelope
from assay.core.ports import (
    NOTHING,
    Action,
    Allowance,
    Commit,
    EventDraft,
    FileStamp,
    Given,
    Lease,
    Memory,
    RunRow,
    Spent,
)
from assay.core.sources import CollectionSummary, Document, Snapshot
from assay.store import common
from assay.store.blobs import MemoryBlobs
from assay.store.common import Store, Wall
from assay.store.listeners import Listeners
from assay.store.memo import MemoryMemo
from assay.store.memory_collections import MemoryCollections
from assay.store.memory_permits import MemoryPermits
from assay.store.memory_run import Run


def memory_store(wall: Wall = time.time) -> Store:
    """An empty store in memory."""
    return Store(
        journal=MemoryJournal(wall),
        library=MemoryLibrary(),
        blobs=MemoryBlobs(),
        memo=MemoryMemo(),
        permits=MemoryPermits(wall),
    )


class MemoryJournal:
    """`Journal` in the process; safe to use from several threads."""

    def __init__(self, wall: Wall = time.time) -> None:
        self._wall = wall
        self._runs: dict[str, Run] = {}
        self._lock = threading.Lock()
        self._listeners = Listeners()

    async def create(
        self,
        run_id: str,
        question: str,
        brief: bytes,
        events: Sequence[EventDraft],
        thread: str = "",
        given: Given = NOTHING,
        within: Allowance | None = None,
    ) -> tuple[Envelope, ...]:
        """Make a run with its first events, and what it is given.

        Raises:
            StoreError: there is a run of that id.
            Overtaken: other runs have taken what it would take of the allowance.
        """
        with self._lock:
            if run_id in self._runs:
                raise common.run_exists(run_id)
            if within is not None:
                check(within, self._spending(within.since, None), brief)
            run = Run(run_id, question, brief, common.created_at(events, self._wall), thread)
            self._runs[run_id] = run
            return run.apply(Commit(events=tuple(events), steps=given.steps, ledger=given.ledger))

    async def acquire(self, run_id: str, holder: str, ttl: float, evict: str = "") -> Lease:
        """Take the run's lease for `ttl` seconds, raising the fence; from `evict` before it expires."""
        with self._lock:
            run, now = self._run(run_id), self._wall()
            if common.is_held(run.until, now) and run.holder not in ("", holder, evict):
                raise LeaseHeld(run_id, run.holder)
            run.holder, run.until, run.fence = holder, now + ttl, run.fence + 1
            return Lease(run_id=run_id, fence=run.fence, holder=holder)

    async def renew(self, lease: Lease, ttl: float) -> Action:
        """Hold on for `ttl` more seconds; the control row comes back."""
        with self._lock:
            run = self._runs.get(lease.run_id)
            if run is None or run.fence != lease.fence or run.holder != lease.holder:
                raise common.fence_lost(lease)
            run.until = self._wall() + ttl
            return run.control

    async def release(self, lease: Lease) -> None:
        """Give the lease up; nothing happens when it was lost already."""
        with self._lock:
            run = self._runs.get(lease.run_id)
            if run is not None and run.fence == lease.fence:
                run.holder, run.until = "", 0.0

    async def load(self, run_id: str) -> Memory:
        """Everything stored about a run."""
        with self._lock:
            run = self._run(run_id)
            return Memory(
                brief=run.brief,
                status=run.status,
                fence=run.fence,
                steps=dict(run.steps),
                events=tuple(run.keys.values()),
                holds=tuple(run.holds[step] for step in sorted(run.holds)),
                ledger=tuple(run.ledger.values()),
                active_seconds=run.active_seconds,
            )

    def commit(self, lease: Lease, commit: Commit) -> Awaitable[tuple[Envelope, ...]]:
        """Write at once; the answer comes in the loop's next round.

        A future which is done already would let a run go on without ever yielding: nobody could cancel it.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[tuple[Envelope, ...]] = loop.create_future()
        try:
            written = self._commit(lease, commit)
        except FenceLost as error:
            loop.call_soon(_fail, future, error)
        else:
            loop.call_soon(_resolve, future, written)
        return future

    async def events(self, run_id: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        """The log from `seq > after`.

        Raises:
            UnknownName: no such run.
        """
        with self._lock:
            first = max(after, 0)
            return self._run(run_id).events[first : None if limit is None else first + max(limit, 0)]

    def listen(self, told: Callable[[str], None]) -> Callable[[], None]:
        """Call `told` with the id of each run whose log has grown; call the result to stop that."""
        return self._listeners.add(told)

    async def control(self, run_id: str, action: Action, events: Sequence[EventDraft] = ()) -> None:
        """Set the control row; `cancel` stays.

        Raises:
            UnknownName: no such run.
        """
        with self._lock:
            run = self._run(run_id)
            run.control = common.controlled(run.control, action)
            run.append(events)
        self._listeners.tell([run_id])

    async def post(self, run_id: str, topic: str, data: bytes, events: Sequence[EventDraft] = ()) -> None:
        """Leave a message for the run.

        Raises:
            UnknownName: no such run.
        """
        with self._lock:
            run = self._run(run_id)
            run.inbox.setdefault(topic, []).append(data)
            run.append(events)
        self._listeners.tell([run_id])

    async def inbox(self, run_id: str, topic: str) -> list[bytes]:
        """Messages left on `topic`, oldest first.

        Raises:
            UnknownName: no such run.
        """
        with self._lock:
            return list(self._run(run_id).inbox.get(topic, ()))

    async def runs(self, limit: int = 100) -> list[RunRow]:
        """Newest first."""
        with self._lock:
            now = self._wall()
            return [run.row(now) for run in reversed(self._runs.values())][: max(limit, 0)]

    async def rows(self, run_ids: Collection[str]) -> dict[str, RunRow]:
        """The runs with these ids, by id."""
        with self._lock:
            now = self._wall()
            return {run_id: self._runs[run_id].row(now) for run_id in run_ids if run_id in self._runs}

    async def find(self, reference: str) -> RunRow:
        """A run by its id, the start of its id, or `last`."""
        with self._lock:
            ids = list(self._runs)
            if reference in self._runs:
                chosen = reference
            elif reference == "last" and ids:
                chosen = ids[-1]
            else:
                starting = [run_id for run_id in ids if reference and run_id.startswith(reference)]
                chosen = common.only(reference, sorted(starting), reversed(ids))
            return self._runs[chosen].row(self._wall())

    async def latest(self, thread: str) -> RunRow | None:
        """The newest run of a thread."""
        with self._lock:
            found = (run for run in reversed(self._runs.values()) if thread and run.thread == thread)
            return next((run.row(self._wall()) for run in found), None)

    async def spending(self, since: str = "", limit: int | None = None) -> list[Spent]:
        """What the runs created since then have used, newest first."""
        with self._lock:
            return self._spending(since, limit)

    def _spending(self, since: str, limit: int | None) -> list[Spent]:
        found = [run for run in reversed(self._runs.values()) if run.created_at >= since]
        return [common.spending(run, [hold.amount for hold in run.holds.values()]) for run in found[:limit]]

    async def delete(self, run_id: str, evict: str = "") -> None:
        """Forget a run; one held by `evict` before its lease expires."""
        with self._lock:
            run = self._run(run_id)
            if common.is_held(run.until, self._wall()) and run.holder not in ("", evict):
                raise LeaseHeld(run_id, run.holder)
            del self._runs[run_id]

    async def close(self) -> None:
        """Nothing waits and nothing is held."""

    def _run(self, run_id: str) -> Run:
        run = self._runs.get(run_id)
        if run is None:
            raise common.unknown_run(run_id)
        return run

    def _commit(self, lease: Lease, commit: Commit) -> tuple[Envelope, ...]:
        with self._lock:
            run = self._runs.get(lease.run_id)
            if run is None or run.fence != lease.fence:
                raise common.fence_lost(lease)
            written = run.apply(commit)
        self._listeners.tell([lease.run_id])
        return written


def _resolve(future: asyncio.Future[tuple[Envelope, ...]], written: tuple[Envelope, ...]) -> None:
    if not future.done():
        future.set_result(written)


def _fail(future: asyncio.Future[tuple[Envelope, ...]], error: FenceLost) -> None:
    if not future.done():
        future.set_exception(error)


class MemoryLibrary(MemoryCollections):
    """`Library` in the process; safe to use from several threads."""

    def __init__(self) -> None:
        super().__init__()
        self._snapshots: dict[str, Snapshot] = {}
        self._documents: list[Document] = []  # the document of row n is at n - 1
        self._lookups: list[str] = []
        self._stamps: dict[str, FileStamp] = {}

    def add(
        self, documents: Sequence[tuple[Snapshot, Document]], collection: str, files: Sequence[FileStamp] = ()
    ) -> None:
        """Add documents (known ones are left as they are) and put them into `collection`."""
        with self._lock:
            for snapshot, document in documents:
                self._snapshots.setdefault(snapshot.sha256, snapshot)
                if document.sha256 not in self._rows:
                    self._documents.append(document)
                    self._lookups.append(common.lookup(document))
                    self._rows[document.sha256] = len(self._documents)
            self.include((document.sha256 for _, document in documents), collection)
            self._stamps.update((stamp.path, stamp) for stamp in files)

    def select(self, documents: Iterable[str]) -> str:
        """The name of the collection which holds exactly these documents.

        Raises:
            UnknownName: a document is not in the library.
        """
        name, hashes = common.set_members(documents)
        with self._lock:
            self._collections[name] = self._known(hashes)
        return name

    def include(self, documents: Iterable[str], collection: str) -> None:
        """Put known documents into `collection`.

        Raises:
            UnknownName: a document is not in the library.
        """
        with self._lock:
            self._collections.setdefault(collection, set()).update(self._known(documents))

    def document(self, sha256: str) -> Document | None:
        """The document with this hash."""
        with self._lock:
            row = self._rows.get(sha256)
            return None if row is None else self._documents[row - 1]

    def snapshot(self, sha256: str) -> Snapshot | None:
        """The snapshot with this hash."""
        with self._lock:
            return self._snapshots.get(sha256)

    def find(self, reference: str, collections: Sequence[str]) -> list[Document]:
        """Documents by hash, name, URL or title; case and spacing do not count."""
        wanted = common.reference_of(reference)
        if not wanted:
            return []
        with self._lock:
            ranked = []
            for row in self.members(collections):
                document = self._documents[row - 1]
                place = common.rank(wanted, document.sha256, self._lookups[row - 1])
                if place is not None:
                    ranked.append((place, row, document))
        return [document for _, _, document in sorted(ranked, key=lambda found: found[:2])[: common.FOUND]]

    def documents(self, collections: Sequence[str], limit: int | None = None) -> list[Document]:
        """In the order of adding."""
        with self._lock:
            rows = sorted(self.members(collections))
            return [self._documents[row - 1] for row in rows[: None if limit is None else max(limit, 0)]]

    def members(self, collections: Sequence[str]) -> set[int]:
        """The row numbers of the documents in `collections`."""
        with self._lock:
            return set().union(*(self._collections.get(name, ()) for name in collections))

    def count(self, collections: Sequence[str]) -> int:
        """How many documents are in `collections`."""
        return len(self.members(collections))

    def after(self, row: int, limit: int) -> list[tuple[int, Document]]:
        """Documents by row number, ascending, from `row` exclusive."""
        with self._lock:
            first = max(row, 0)
            return list(enumerate(self._documents[first : first + max(limit, 0)], first + 1))

    def at(self, rows: Collection[int]) -> dict[int, Document]:
        """The documents at these row numbers, by row."""
        with self._lock:
            return {row: self._documents[row - 1] for row in rows if 0 < row <= len(self._documents)}

    def last_row(self) -> int:
        """The highest row number, 0 when empty."""
        return len(self._documents)

    def summary(self, collections: Sequence[str], names: int = 30) -> CollectionSummary:
        """What is in the collections."""
        documents = self.documents(collections)
        dates = [document.published for document in documents if document.published]
        return CollectionSummary(
            documents=len(documents),
            kinds=common.counted(Counter(document.media_type for document in documents).items()),
            languages=common.counted(Counter(document.language for document in documents).items()),
            published=(min(dates), max(dates)) if dates else ("", ""),
            names=tuple(document.name for document in documents if document.name)[: max(names, 0)],
        )

    def stamp(self, path: str) -> FileStamp | None:
        """How the file looked when it was read."""
        with self._lock:
            return self._stamps.get(path)

    def _known(self, documents: Iterable[str]) -> set[int]:
        rows = set()
        for sha in documents:
            if sha not in self._rows:
                raise common.unknown_document(sha)
            rows.add(self._rows[sha])
        return rows
