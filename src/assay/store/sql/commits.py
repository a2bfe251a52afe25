"""Groups of commits as SQL: one statement takes the fence check and the numbers, then one per table.

This is the one hot path of the store. Its statements are SQLAlchemy's, compiled once and handed to the driver as text:
executing them through SQLAlchemy costs 0.4 ms more per commit (0.7 against 0.3), most of it repeated set-up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Connection, Dialect, Float, Text, bindparam, func, insert, select, update
from sqlalchemy.sql.base import Executable

from assay.core.events import Envelope
from assay.core.ports import Commit, EventDraft, HoldRecord, Lease, LedgerRow, StepRecord
from assay.store import common
from assay.store.sql import sqlite
from assay.store.sql.tables import events, holds, ledger, runs, steps
from assay.store.sql.writer import WriteJob

Row = dict[str, Any]


class CommitJob(WriteJob):
    """A commit on its way."""

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

_RENEW = (
    update(runs)
    .where(runs.c.run_id == bindparam("of"), runs.c.fence == bindparam("held"), runs.c.holder == bindparam("by"))
    .values(lease_until=bindparam("until"))
    .returning(runs.c.control)
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

# The later row wins, at the earlier one's place: a step that diverged is done again, and says what holds now.
_LEDGER = sqlite.insert(ledger)
_LEDGER = _LEDGER.on_conflict_do_update(
    index_elements=["run", "kind", "id"],
    set_={name: _LEDGER.excluded[name] for name in ("lane", "data")},
)


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


class CommitGroup:
    """Commits which share a transaction. Each fails alone when its fence is lost.

    `careful` looks for event keys which are stored already; without it such a key is a constraint error, and the
    group has to be written again carefully. The engine never repeats a key, so looking each time would be waste.
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
        """Write the jobs and give each its answer."""
        for same in by_lease(jobs):
            self._take(same)
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

    def _take(self, jobs: Sequence[CommitJob]) -> None:
        """Number the events of one lease's commits and collect their rows."""
        lease = jobs[0].lease
        drafts = self._fresh(lease.run_id, [draft for job in jobs for draft in job.commit.events])
        values = {
            "of": lease.run_id,
            "held": lease.fence,
            "more": len(drafts),
            "new_status": last_set(job.commit.status for job in jobs),
            "new_seconds": last_set(job.commit.active_seconds for job in jobs),
        }
        self._cursor.execute(self._statements.take, values)
        taken = self._cursor.fetchall()  # all, so that the statement is finished
        if not taken:
            for job in jobs:
                job.fail(common.fence_lost(lease))
            return
        run, last = taken[0]
        first = last - len(drafts) + 1
        self._events += event_rows(run, drafts, first)
        answer(jobs, drafts, common.envelopes(lease.run_id, drafts, first))
        for job in jobs:
            self._collect(run, job.commit)

    def _fresh(self, run_id: str, drafts: list[EventDraft]) -> list[EventDraft]:
        if not self._careful or not drafts:
            return common.fresh(drafts)
        keys = [draft.key for draft in drafts]
        return common.fresh(drafts, set(self._connection.execute(_STORED, {"of": run_id, "keys": keys}).scalars()))

    def _collect(self, run: int, commit: Commit) -> None:
        self._steps += (step_row(run, step) for step in commit.steps)
        self._holds += (hold_row(run, hold) for hold in commit.holds)
        self._ledger += (ledger_row(run, row) for row in commit.ledger)


def event_rows(run: int, drafts: Sequence[EventDraft], first: int) -> list[Row]:
    """Rows for the log as the driver takes them, numbered from `first`."""
    return [
        {
            "run": run,
            "seq": seq,
            "key": draft.key,
            "step": draft.step,
            "attempt": draft.attempt,
            "at": draft.at,
            "path": _json(draft.path),
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
    return {"run": run, "step": hold.step, "account": hold.account, "amount": _json(hold.amount), "state": hold.state}


def ledger_row(run: int, row: LedgerRow) -> Row:
    """A ledger row's row."""
    return {"run": run, "kind": row.kind, "id": row.id, "lane": row.lane, "data": row.data}


def by_lease(jobs: Iterable[CommitJob]) -> Iterable[list[CommitJob]]:
    """The jobs of each lease, in order."""
    leases: dict[tuple[str, int], list[CommitJob]] = {}
    for job in jobs:
        leases.setdefault((job.lease.run_id, job.lease.fence), []).append(job)
    return leases.values()


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def last_set(values: Iterable[object]) -> object:
    """The last one that is set."""
    found = None
    for value in values:
        if value is not None:
            found = value
    return found


def answer(jobs: Sequence[CommitJob], drafts: Sequence[EventDraft], written: Sequence[Envelope]) -> None:
    """Give each job the envelopes of its own drafts; `written` are those of `drafts`, a part of all in order."""
    position = 0
    for job in jobs:
        first = position
        for draft in job.commit.events:
            if position < len(drafts) and drafts[position] is draft:
                position += 1
        job.succeed(tuple(written[first:position]))
