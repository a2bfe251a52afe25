"""Transactions of a process: every write goes through its single writer, reads through worker threads."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TypeVar, TypeVarTuple, cast

from sqlalchemy import Connection, Row, Select, UpdateBase

from assay.core.errors import AssayError, StoreError
from assay.core.events import Envelope
from assay.core.ports import Commit, Lease
from assay.core.stop_gate import stop_gate
from assay.store.common import Listeners, WallClock
from assay.store.sql.commits import CommitGroup, CommitJob, GroupWriter, WriteJob, statements
from assay.store.sql.database import PATIENCE_SECONDS, PAUSE_SECONDS, Database, retry_while_away

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

# A driver's error about a value it cannot store (a lone surrogate, an integer past 64 bits) is not an SQL error.
_UNFIT = (ValueError, OverflowError, TypeError)
CLAIM_PAUSE, MAX_CLAIM_PAUSE_SECONDS = 0.02, 0.25
"""Seconds before the second attempt to claim, doubled before each further one; drawn at random by a half more or less,
so that workers told at once do not meet again.
"""
USED_SECONDS = 0.1
"""How long one waits for the writer's connection to learn whether anything has changed."""
_UNKNOWN = "the connection broke during a write, which may be stored or not: check, then try again"


class _CallJob(WriteJob):
    """A function to run in the writer's transaction. One that is `apart` may run before the commits in its group.

    One that is `once` must not be called again if it may already have been committed, because its effect would double.
    """

    __slots__ = ("apart", "function", "once", "run_id")

    def __init__(
        self, function: Callable[[Connection], object], *, apart: bool = False, once: bool = False, run_id: str = ""
    ) -> None:
        """`run_id` names the run whose log the function may add to."""
        super().__init__(urgent=not apart)
        self.function, self.apart, self.once, self.run_id = function, apart, once, run_id

    def run(self, connection: Connection) -> None:
        """Call it; an error that it raises on purpose, before writing, is its result."""
        try:
            self.succeed(self.function(connection))
        except AssayError as error:
            self.fail(error)


class Transactions:
    """Writes and reads over a database, for all who share it in this process. Closing it closes the database."""

    def __init__(self, database: Database, wall: WallClock | None = None) -> None:
        """`wall` is the clock for leases; None: the database's own."""
        self._database = database
        self._errors: tuple[type[BaseException], ...] = (*database.faults, *_UNFIT)
        self.wall = wall
        self._now: float | None = None  # of the writer's transaction
        self._committing = False
        self.statements = statements(database.dialect)
        self._writer = GroupWriter(self._perform)
        self._connection: Connection | None = None
        self._using = threading.Lock()  # the writer's connection
        self._calls = 0  # written by it, without commits and renewals
        self._listeners = Listeners()
        self._stop_listening: Callable[[], None] | None = None

    def commit(self, lease: Lease, commit: Commit) -> Awaitable[tuple[Envelope, ...]]:
        """Enqueue a commit; the future is done when the commit is durable."""
        job = CommitJob(lease, commit)
        self._writer.put(job)
        return cast("asyncio.Future[tuple[Envelope, ...]]", job.future)

    def listen(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Call `listener` with the id of each run whose log has grown; call the result to stop that."""
        stop = self._listeners.add(listener)
        if self._stop_listening is None:
            self._stop_listening = self._database.backend.listen(self._listeners.notify)
        return stop

    def serialize_claims(self, connection: Connection) -> None:
        """Wait until no other process takes something from the queue, or creates a run within an allowance."""
        self._database.backend.serialize_claims(connection)

    async def claim(
        self, may_take: Callable[[Connection, float], bool], take: Callable[[Connection, float], T | None]
    ) -> T | None:
        """Take something that other processes may take too; None if there is nothing.

        Both are given the time. `may_take` says whether there is anything, and needs no lock. Only then is `take`
        called, under the lock that all claims share. While another process has that, this one looks again: it may be
        the last.

        Raises:
            StoreError: it could not be read or written.
        """

        def alone(connection: Connection) -> tuple[bool, T | None]:
            if not self._database.backend.may_claim_now(connection):
                return False, None
            return True, take(connection, self.time(connection))

        pause = CLAIM_PAUSE
        while await self.read_at(may_take):
            done, result = await self.write(alone)
            if done:
                return result
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(2 * pause, MAX_CLAIM_PAUSE_SECONDS)
        return None

    async def close(self) -> None:
        """Write what waits, and close everything."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.close()
        if self._stop_listening is not None:
            self._stop_listening()
        with self._using:
            if self._connection is not None:
                self._connection.close()
        self._database.close()

    async def write(
        self,
        function: Callable[[Connection, *Ts], T],
        *arguments: *Ts,
        apart: bool = False,
        once: bool = False,
        run_id: str = "",
    ) -> T:
        """Run `function` in a transaction of the process's single writer, and return its result after the commit.

        With `once` it is not called again if it may already have been committed. With a `run_id` it may add to the log
        of that run.

        Raises:
            StoreError: it could not be written.
        """
        job = _CallJob(lambda connection: function(connection, *arguments), apart=apart, once=once, run_id=run_id)
        self._writer.put(job)
        return cast(T, await job.future)

    async def write_at(
        self, function: Callable[[Connection, float, *Ts], T], *arguments: *Ts, once: bool = False, run_id: str = ""
    ) -> T:
        """As `write`, with the time."""
        return await self.write(
            lambda connection: function(connection, self.time(connection), *arguments), once=once, run_id=run_id
        )

    async def read(self, function: Callable[[Connection, *Ts], T], *arguments: *Ts) -> T:
        """Run `function` in a transaction that sees one state of the database, and return its result."""
        return await asyncio.to_thread(self._read_once, lambda connection: function(connection, *arguments))

    async def read_at(self, function: Callable[[Connection, float, *Ts], T], *arguments: *Ts) -> T:
        """As `read`, with the time."""
        return await self.read(lambda connection: function(connection, self.read_clock(connection), *arguments))

    @retry_while_away
    def _read_once(self, function: Callable[[Connection], T]) -> T:
        with self._database.read() as connection:
            return function(connection)

    async def execute(self, statement: UpdateBase, *, once: bool = False, run_id: str = "") -> int:
        """Execute one statement as `write` does; return how many rows it has changed."""
        return await self.write(
            lambda connection: int(connection.execute(statement).rowcount), once=once, run_id=run_id
        )

    async def rows(self, statement: Select[*Ts], parameters: Mapping[str, object] | None = None) -> Sequence[Row[*Ts]]:
        """The rows of one statement, which takes half as long as `read`."""
        return await asyncio.to_thread(self._rows, statement, parameters)

    @retry_while_away
    def _rows(self, statement: Select[*Ts], parameters: Mapping[str, object] | None) -> Sequence[Row[*Ts]]:
        return self._database.rows(statement, parameters)

    async def changes(self) -> tuple[tuple[int, int], float] | None:
        """What stays the same while nobody writes, and the time; None if that is not known now.

        This process's commits and renewals do not count: they change nothing that others want of a run.
        """
        read_changes = self._database.backend.changes
        return None if read_changes is None else await asyncio.to_thread(self._changes, read_changes)

    @retry_while_away
    def _changes(self, read_changes: Callable[[Connection], int]) -> tuple[tuple[int, int], float] | None:
        if not self._using.acquire(timeout=USED_SECONDS):
            return None
        try:
            connection = self._writer_connection()  # the database's number does not count what was committed over it
            return (read_changes(connection), self._calls), self.read_clock(connection)
        except self._database.faults as error:
            raise self._database.backend.explain(error) from error
        finally:
            self._using.release()

    def read_clock(self, connection: Connection) -> float:
        """The time that leases use."""
        return self.wall() if self.wall else self._database.backend.now(connection)

    # in the writer's thread

    def _perform(self, jobs: Sequence[WriteJob]) -> None:
        """Write a group in one transaction; if that fails, write each job in a transaction of its own, carefully."""
        try:
            self._transact(jobs, careful=False)
        except self._errors as error:
            backend = self._database.backend
            if backend.is_busy(error):  # each alone would wait as long again
                for job in jobs:
                    job.fail(self._translate_error(error))
                return
            for job in jobs:
                job.error = None
            if backend.is_away(error):
                self._drop_connection(jobs)
            for job in jobs:
                self._write_alone(job)
        if self._listeners.any:
            self._listeners.notify(_grown_runs(jobs))

    def _drop_connection(self, jobs: Sequence[WriteJob]) -> None:
        """Drop the lost connection; jobs that may have been written, and must not be written twice, fail."""
        if self._connection is not None:
            with contextlib.suppress(*self._database.faults):
                self._connection.invalidate()
                self._connection.close()
            self._connection = None
        for job in jobs:
            if self._committing and isinstance(job, _CallJob) and job.once:
                job.fail(StoreError(_UNKNOWN))

    def _write_alone(self, job: WriteJob) -> None:
        """Write one job, and wait a reasonable time for a database that is away."""
        end = time.monotonic() + PATIENCE_SECONDS
        while job.error is None:
            try:
                self._transact([job], careful=True)
                return
            except self._errors as error:
                if not self._database.backend.is_away(error) or time.monotonic() > end:
                    job.fail(self._translate_error(error))
                    return
                self._drop_connection([job])
                time.sleep(PAUSE_SECONDS)

    def _writer_connection(self) -> Connection:
        """The writer's connection; kept, because taking one from the pool costs as much as a commit."""
        if self._connection is None:
            connection = self._database.writer()
            self._database.backend.limit_idle_time(connection)
            self._connection = connection
        return self._connection

    def _transact(self, jobs: Sequence[WriteJob], *, careful: bool) -> None:
        with self._using:
            self._calls += any(isinstance(job, _CallJob) and not job.apart for job in jobs)
            self._write(self._writer_connection(), jobs, careful=careful)

    def _write(self, connection: Connection, jobs: Sequence[WriteJob], *, careful: bool) -> None:
        self._committing, self._now = False, None
        merge = None if careful else self._database.backend.merge
        with stop_gate.transaction(), connection.begin():
            # Renewals first: between commits they would split them into groups of their own.
            sorted_jobs = sorted(jobs, key=lambda job: not (isinstance(job, _CallJob) and job.apart))
            parts = [
                list(part) for _, part in itertools.groupby(sorted_jobs, key=lambda job: isinstance(job, CommitJob))
            ]
            for number, part in enumerate(parts, 1):
                if not isinstance(part[0], CommitJob):
                    for job in part:
                        cast(_CallJob, job).run(connection)
                    self._announce(connection, part)
                elif merge is not None and number == len(parts):
                    self._committing = True
                    merge(connection, cast("list[CommitJob]", part))
                else:
                    CommitGroup(connection, self.statements, careful=careful).write(cast("list[CommitJob]", part))
                    self._announce(connection, part)
            self._committing = True

    def _announce(self, connection: Connection, jobs: Sequence[WriteJob]) -> None:
        """Announce to other processes, with this commit, which logs have grown."""
        for run_id in _grown_runs(jobs):
            self._database.backend.announce(connection, run_id)

    def time(self, connection: Connection) -> float:
        """The time that leases use, read once per transaction."""
        if self._now is None:
            self._now = self.read_clock(connection)
        return self._now

    def _translate_error(self, error: BaseException) -> BaseException:
        return self._database.backend.explain(error) if isinstance(error, self._database.faults) else error


class TransactedPort:
    """A port over the transactions of a process."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions


def _grown_run(job: WriteJob) -> str:
    """The run whose log a job may have added to; "" if none."""
    if isinstance(job, CommitJob):
        return job.lease.run_id if job.commit.events or job.commit.status is not None else ""
    return cast(_CallJob, job).run_id


def _grown_runs(jobs: Sequence[WriteJob]) -> Iterable[str]:
    return dict.fromkeys(run_id for job in jobs if job.error is None and (run_id := _grown_run(job)))
