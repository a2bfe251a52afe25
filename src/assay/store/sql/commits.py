"""Groups of commits as SQL: one statement does the fence check and the numbers, then one per table.

This is the one hot path of the store. Its statements are SQLAlchemy's, compiled once and given to the driver as text:
executing them through SQLAlchemy costs 0.4 ms more per commit (0.7 instead of 0.3), most of it repeated set-up.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    Dialect,
    Float,
    Text,
    bindparam,
    func,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy.sql.base import Executable

from assay.core.errors import StoreClosed, StoreError
from assay.core.events import Envelope
from assay.core.ports import Commit, EventDraft, HoldRecord, Lease, LedgerRow, StepRecord
from assay.store import common
from assay.store.leases import fence_lost
from assay.store.sql import sqlite
from assay.store.sql.schema import to_json
from assay.store.sql.tables import events, holds, inbox, ledger, runs, steps

# The single thread of a process that writes the journal: it groups what waits, and wakes the waiting tasks.

GROUPING_SECONDS = 0.02
"""Seconds that work may wait for more, if nobody waits for it."""


class WriteJob:
    """Work for the writer. `urgent`: somebody waits for it, write at once."""

    __slots__ = ("error", "future", "loop", "result", "urgent")

    def __init__(self, urgent: bool = True) -> None:
        self.urgent = urgent
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[object] = self.loop.create_future()
        self.result: object = None
        self.error: BaseException | None = None

    def succeed(self, result: object) -> None:
        """Set the result, once the transaction is committed."""
        self.result, self.error = result, None

    def fail(self, error: BaseException) -> None:
        """Set the error that is raised in the waiting code."""
        self.error = error


class GroupWriter:
    """Runs `perform` over groups of jobs, in the order of `put`, in a thread that starts with the first job."""

    def __init__(self, perform: Callable[[Sequence[WriteJob]], None]) -> None:
        self._perform = perform
        self._condition = threading.Condition()
        self._jobs: list[WriteJob] = []
        self._urgent = False
        self._closed = False
        self._thread: threading.Thread | None = None

    def put(self, job: WriteJob) -> None:
        """Enqueue a job.

        Raises:
            StoreClosed: the writer was closed.
        """
        with self._condition:
            if self._closed:
                raise StoreClosed
            self._jobs.append(job)
            if self._thread is None:
                self._start()
            # The first job wakes the thread, which then waits for more, and the first urgent one wakes it again.
            if len(self._jobs) == 1 or (job.urgent and not self._urgent):
                self._condition.notify()
            self._urgent = self._urgent or job.urgent

    def close(self) -> None:
        """Write what waits, then stop. Blocking."""
        with self._condition:
            self._closed = True
            self._condition.notify()
        if self._thread is not None:
            self._thread.join()

    def _start(self) -> None:
        # A daemon: a process that ends without closing its journal must not hang on it.
        self._thread = threading.Thread(target=self._serve, name="assay-journal", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        group: list[WriteJob] = []
        try:
            while group := self._take():
                self._perform(group)
                deliver(group)
        finally:  # also if `perform` has a bug: the thread's traceback shows it, and nobody waits for ever
            with self._condition:
                self._closed = True
                group += self._jobs
            for job in group:
                job.fail(StoreError("the journal's writer stopped before this was written"))
            deliver(group)

    def _take(self) -> list[WriteJob]:
        """The waiting jobs; empty when the writer is closed."""
        with self._condition:
            while not self._jobs and not self._closed:
                self._condition.wait()
            end = time.monotonic() + GROUPING_SECONDS
            while not self._urgent and not self._closed and (remaining := end - time.monotonic()) > 0:
                self._condition.wait(remaining)
            group, self._jobs, self._urgent = self._jobs, [], False
            return group


def deliver(jobs: Sequence[WriteJob]) -> None:
    """Wake the tasks that wait for these jobs, with one call per event loop. A closed loop has none."""
    loops: dict[asyncio.AbstractEventLoop, list[WriteJob]] = {}
    for job in jobs:
        loops.setdefault(job.loop, []).append(job)
    for loop, loop_jobs in loops.items():
        if not loop.is_closed():
            _call_soon(loop, loop_jobs)


def _call_soon(loop: asyncio.AbstractEventLoop, jobs: list[WriteJob]) -> None:
    try:
        loop.call_soon_threadsafe(_set_results, jobs)
    except RuntimeError:  # closed since the check
        if not loop.is_closed():
            raise


def _set_results(jobs: list[WriteJob]) -> None:
    for job in jobs:
        if job.future.done():  # the waiting task was cancelled
            continue
        if job.error is None:
            job.future.set_result(job.result)
        else:
            job.future.set_exception(job.error)


Row = dict[str, Any]


class CommitJob(WriteJob):
    """A commit in the queue."""

    __slots__ = ("commit", "lease")

    def __init__(self, lease: Lease, commit: Commit) -> None:
        waited_for = commit.steps or commit.holds or commit.ledger or commit.status is not None
        super().__init__(urgent=bool(waited_for))
        self.lease, self.commit = lease, commit


_TAKE = (
    update(runs)
    .where(runs.c.run_id == bindparam("of"), runs.c.fence == bindparam("held"))
    .values(
        last_seq=runs.c.last_seq + bindparam("more", type_=BigInteger()),
        status=func.coalesce(bindparam("new_status", type_=Text()), runs.c.status),
        active_seconds=func.coalesce(bindparam("new_seconds", type_=Float()), runs.c.active_seconds),
    )
    .returning(runs.c.number, runs.c.last_seq)
)
# As text: SQLAlchemy leaves out table names after RETURNING, and both tables have a column `number`.
_LEFT = literal_column(f"(SELECT count(*) FROM {inbox.name} WHERE {inbox.name}.run = {runs.name}.number)", BigInteger)
_RENEW = (
    update(runs)
    .where(runs.c.run_id == bindparam("of"), runs.c.fence == bindparam("held"), runs.c.holder == bindparam("by"))
    .values(lease_until=bindparam("until"))
    .returning(runs.c.control, _LEFT)
)
_STORED = (
    select(events.c.key)
    .join(runs, runs.c.number == events.c.run)
    .where(runs.c.run_id == bindparam("of"), events.c.key.in_(bindparam("keys", expanding=True)))
)
_EVENTS = insert(events)
_STEPS = sqlite.insert(steps)
_STEPS = _STEPS.on_conflict_do_update(
    index_elements=["run", "key"],
    set_={name: _STEPS.excluded[name] for name in ("input_hash", "tag", "data")},
)
_HOLDS = sqlite.insert(holds)
_HOLDS = _HOLDS.on_conflict_do_update(
    index_elements=["run", "step"],
    set_={name: _HOLDS.excluded[name] for name in ("account", "amount", "state")},
)

# The later row wins, at the earlier one's place: a diverged step is done again, and its new result counts.
_LEDGER = sqlite.insert(ledger)
_LEDGER = _LEDGER.on_conflict_do_update(
    index_elements=["run", "kind", "id"],
    set_={name: _LEDGER.excluded[name] for name in ("lane", "data")},
)


def statements(dialect: Dialect) -> Statements:
    """The statements of a database's language, compiled once: that takes half as long as opening a database."""
    key = (dialect.name, dialect.driver, dialect.paramstyle)
    if key not in _COMPILED:
        _COMPILED[key] = Statements(dialect)
    return _COMPILED[key]


class Statements:
    """The statements as text in the driver's language; rows are mappings by column name."""

    def __init__(self, dialect: Dialect) -> None:
        def text(statement: Executable, columns: str = "") -> str:
            return str(statement.compile(dialect=dialect, column_keys=columns.split() or None))  # type: ignore[attr-defined]

        self.take = text(_TAKE)
        self.renew = text(_RENEW)
        self.events = text(_EVENTS, "run seq key step attempt at path type data")
        self.steps = text(_STEPS, "run key input_hash tag data")
        self.holds = text(_HOLDS, "run step account amount state")
        self.ledger = text(_LEDGER, "run kind id lane data")


_COMPILED: dict[tuple[str, str, str], Statements] = {}


class CommitGroup:
    """Commits that share a transaction. Each fails alone if its fence is lost.

    `careful` looks for event keys that are stored already. Without it such a key is a constraint error, and the group
    must be written again carefully. The engine never repeats a key, so always looking would be a waste.
    """

    def __init__(self, connection: Connection, statements: Statements, *, careful: bool) -> None:
        self._connection = connection
        self._cursor = connection.connection.cursor()
        self._statements = statements
        self._careful = careful
        self._events: list[Row] = []
        self._steps: list[Row] = []
        self._holds: list[Row] = []
        self._ledger: list[Row] = []

    def write(self, jobs: Iterable[CommitJob]) -> None:
        """Write the jobs and answer each."""
        for same in group_by_lease(jobs):
            self._collect_rows(same)
        statements = self._statements
        for statement, rows in (
            (statements.events, self._events),
            (statements.steps, self._steps),
            (statements.holds, self._holds),
            (statements.ledger, self._ledger),
        ):
            if rows:
                self._cursor.executemany(statement, rows)
        self._cursor.close()

    def _collect_rows(self, jobs: Sequence[CommitJob]) -> None:
        """Number the events of one lease's commits and collect their rows."""
        lease = jobs[0].lease
        drafts = self._new_drafts(lease.run_id, [draft for job in jobs for draft in job.commit.events])
        values = {
            "of": lease.run_id,
            "held": lease.fence,
            "more": len(drafts),
            "new_status": last_not_none(job.commit.status for job in jobs),
            "new_seconds": last_not_none(job.commit.active_seconds for job in jobs),
        }
        self._cursor.execute(self._statements.take, values)
        rows = self._cursor.fetchall()  # all, so that the statement is finished
        if not rows:
            for job in jobs:
                job.fail(fence_lost(lease))
            return
        run, last = rows[0]
        first = last - len(drafts) + 1
        self._events += event_rows(run, drafts, first)
        answer(jobs, drafts, common.envelopes(lease.run_id, drafts, first))
        for job in jobs:
            self._steps += (step_row(run, step) for step in job.commit.steps)
            self._holds += (hold_row(run, hold) for hold in job.commit.holds)
            self._ledger += (ledger_row(run, row) for row in job.commit.ledger)

    def _new_drafts(self, run_id: str, drafts: list[EventDraft]) -> list[EventDraft]:
        if not self._careful or not drafts:
            return common.new_drafts(drafts)
        keys = [draft.key for draft in drafts]
        return common.new_drafts(drafts, set(self._connection.execute(_STORED, {"of": run_id, "keys": keys}).scalars()))


def event_rows(run: int, drafts: Sequence[EventDraft], first: int) -> list[Row]:
    """Rows for the log in the driver's form, numbered from `first`."""
    return [
        {
            "run": run,
            "seq": seq,
            "key": draft.key,
            "step": draft.step,
            "attempt": draft.attempt,
            "at": draft.at,
            "path": to_json(draft.path),
            "type": draft.type,
            "data": draft.data,
        }
        for seq, draft in enumerate(drafts, first)
    ]


def step_row(run: int, step: StepRecord) -> Row:
    """A step's row."""
    return {"run": run, "key": step.key, "input_hash": step.input_hash, "tag": step.tag, "data": step.data}


def hold_row(run: int, hold: HoldRecord) -> Row:
    """A hold's row."""
    return {"run": run, "step": hold.step, "account": hold.account, "amount": to_json(hold.amount), "state": hold.state}


def ledger_row(run: int, row: LedgerRow) -> Row:
    """A ledger row's row."""
    return {"run": run, "kind": row.kind, "id": row.id, "lane": row.lane, "data": row.data}


def group_by_lease(jobs: Iterable[CommitJob]) -> Iterable[list[CommitJob]]:
    """The jobs of each lease, in order."""
    leases: dict[tuple[str, int], list[CommitJob]] = {}
    for job in jobs:
        leases.setdefault((job.lease.run_id, job.lease.fence), []).append(job)
    return leases.values()


def last_not_none(values: Iterable[object]) -> object:
    """The last value that is not None."""
    return next((value for value in reversed([*values]) if value is not None), None)


def answer(jobs: Sequence[CommitJob], drafts: Sequence[EventDraft], envelopes: Sequence[Envelope]) -> None:
    """Answer each job with the envelopes of its drafts; `envelopes` are those of `drafts`, some or all, in order."""
    position = 0
    for job in jobs:
        first = position
        for draft in job.commit.events:
            if position < len(drafts) and drafts[position] is draft:
                position += 1
        job.succeed(tuple(envelopes[first:position]))
