"""The journal in SQL: every write goes through the process's one writer, reads through worker threads."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar, cast

from sqlalchemy import Connection

from assay.core.errors import AssayError
from assay.core.events import Envelope
from assay.core.ports import Action, Commit, EventDraft, Lease, Memory, RunRow
from assay.store import common
from assay.store.common import Wall
from assay.store.sql import reads, sqlite, writes
from assay.store.sql.commits import CommitJob, Group, Statements
from assay.store.sql.database import FAULTS, Database
from assay.store.sql.writer import Job, Writer

T = TypeVar("T")

# What a database driver says to a value it cannot store (a lone surrogate, an integer past 64 bits) is no SQL error.
_REFUSED = (*FAULTS, ValueError, OverflowError, TypeError)


class _CallJob(Job):
    """A function over the writer's transaction; one `apart` may be called before the commits it is grouped with."""

    __slots__ = ("apart", "function")

    def __init__(self, function: Callable[[Connection], object], *, apart: bool = False) -> None:
        super().__init__(urgent=not apart)
        self.function, self.apart = function, apart

    def run(self, connection: Connection) -> None:
        """Call it; an error which it raises on purpose, before it wrote, is its answer."""
        try:
            self.succeed(self.function(connection))
        except AssayError as error:
            self.fail(error)


class SqlJournal:
    """`Journal` over a database. Closing it closes the database."""

    def __init__(self, database: Database, wall: Wall = time.time) -> None:
        self._database = database
        self._wall = wall
        self._statements = Statements(database.dialect)
        self._writer = Writer(self._perform)
        self._connection: Connection | None = None

    async def create(
        self, run_id: str, question: str, brief: bytes, events: Sequence[EventDraft], thread: str = ""
    ) -> tuple[Envelope, ...]:
        """Make a run with its first events.

        Raises:
            StoreError: there is a run of that id.
        """
        at, drafts = common.created_at(events, self._wall), common.fresh(events)
        await self._write(
            lambda connection: writes.create(connection, self._statements, run_id, question, brief, drafts, at, thread)
        )
        return common.envelopes(run_id, drafts, 1)

    async def acquire(self, run_id: str, holder: str, ttl: float, evict: str = "") -> Lease:
        """Take the run's lease for `ttl` seconds, raising the fence; from `evict` before it expires."""
        return await self._write(
            lambda connection: writes.acquire(connection, run_id, holder, self._wall(), ttl, evict)
        )

    async def renew(self, lease: Lease, ttl: float) -> Action:
        """Hold on for `ttl` more seconds; the control row comes back."""
        return await self._write(
            lambda connection: writes.renew(connection, self._statements, lease, self._wall() + ttl), apart=True
        )

    async def release(self, lease: Lease) -> None:
        """Give the lease up, after what was committed before; nothing happens when it was lost already."""
        await self._write(lambda connection: writes.release(connection, lease))

    async def load(self, run_id: str) -> Memory:
        """Everything stored about a run."""
        return await self._read(lambda connection: reads.load(connection, run_id))

    def commit(self, lease: Lease, commit: Commit) -> Awaitable[tuple[Envelope, ...]]:
        """Enqueue a commit; the future is done when it is durable."""
        job = CommitJob(lease, commit)
        self._writer.put(job)
        return cast("asyncio.Future[tuple[Envelope, ...]]", job.future)

    async def events(self, run_id: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        """The log from `seq > after`.

        Raises:
            UnknownName: no such run.
        """
        return await self._read(lambda connection: reads.events(connection, run_id, after, limit))

    async def control(self, run_id: str, action: Action) -> None:
        """Set the control row; `cancel` stays.

        Raises:
            UnknownName: no such run.
        """
        await self._write(lambda connection: writes.control(connection, run_id, action))

    async def post(self, run_id: str, topic: str, data: bytes) -> None:
        """Leave a message for the run.

        Raises:
            UnknownName: no such run.
        """
        await self._write(lambda connection: writes.post(connection, run_id, topic, data))

    async def inbox(self, run_id: str, topic: str) -> list[bytes]:
        """Messages left on `topic`, oldest first.

        Raises:
            UnknownName: no such run.
        """
        return await self._read(lambda connection: reads.inbox(connection, run_id, topic))

    async def runs(self, limit: int = 100) -> list[RunRow]:
        """Newest first."""
        return await self._read(lambda connection: reads.runs(connection, limit, self._wall()))

    async def find(self, reference: str) -> RunRow:
        """A run by its id, the start of its id, or `last`."""
        return await self._read(lambda connection: reads.find(connection, reference, self._wall()))

    async def latest(self, thread: str) -> RunRow | None:
        """The newest run of a thread."""
        return await self._read(lambda connection: reads.latest(connection, thread, self._wall()))

    async def delete(self, run_id: str, evict: str = "") -> None:
        """Forget a run; one held by `evict` before its lease expires."""
        await self._write(lambda connection: writes.delete(connection, run_id, self._wall(), evict))

    async def close(self) -> None:
        """Write what waits and let go of everything."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.close()
        if self._connection is not None:
            self._connection.close()
        self._database.close()

    async def _write(self, function: Callable[[Connection], T], *, apart: bool = False) -> T:
        job = _CallJob(function, apart=apart)
        self._writer.put(job)
        return cast(T, await job.future)

    async def _read(self, function: Callable[[Connection], T]) -> T:
        return await asyncio.to_thread(self._reading, function)

    def _reading(self, function: Callable[[Connection], T]) -> T:
        with self._database.read() as connection:
            return function(connection)

    # in the writer's thread

    def _perform(self, jobs: Sequence[Job]) -> None:
        """Write a group in one transaction; when that cannot be, each job in one of its own, with care."""
        try:
            self._transact(jobs, careful=False)
        except _REFUSED as error:
            if sqlite.is_busy(error):  # each alone would wait as long again
                _fail(jobs, self._explained(error))
            else:
                for job in jobs:
                    self._alone(job)

    def _alone(self, job: Job) -> None:
        try:
            self._transact([job], careful=True)
        except _REFUSED as error:
            job.fail(self._explained(error))

    def _transact(self, jobs: Sequence[Job], *, careful: bool) -> None:
        if self._connection is None:  # kept: taking one from the pool costs as much as a commit
            self._connection = self._database.writer()
        connection = self._connection
        with connection.begin():
            # Renewals first: standing between commits they would cut them into groups of their own.
            ordered = sorted(jobs, key=lambda job: not (isinstance(job, _CallJob) and job.apart))
            for is_commit, some in itertools.groupby(ordered, key=lambda job: isinstance(job, CommitJob)):
                if is_commit:
                    Group(connection, self._statements, careful=careful).write(cast("list[CommitJob]", list(some)))
                else:
                    for job in some:
                        cast(_CallJob, job).run(connection)

    def _explained(self, error: BaseException) -> BaseException:
        return sqlite.explain(error, self._database.path) if isinstance(error, FAULTS) else error


def _fail(jobs: Sequence[Job], error: BaseException) -> None:
    for job in jobs:
        job.fail(error)
