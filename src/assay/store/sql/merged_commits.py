"""Writes groups of commits in PostgreSQL's fastest way: one statement per lease, and one round trip per group.

Over a network a transaction's time is its round trips. Statement by statement, a step takes five: the beginning, the
fence with the numbers, events, steps, the end. Here one statement checks the fence, numbers the events and writes every
table, and the statements of a group are sent together, in the pipeline mode of PostgreSQL's protocol.

After a lost fence no row of that lease is written, and the other leases of the group are unaffected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection

from assay.core.ports import EventDraft
from assay.store import common
from assay.store.leases import fence_lost
from assay.store.sql.commits import (
    CommitJob,
    Row,
    answer,
    event_rows,
    group_by_lease,
    hold_row,
    last_not_none,
    ledger_row,
    step_row,
)

CHANNEL = "'assay_' || current_schema()"
"""The channel that announces grown logs to processes, as SQL: its schema identifies a library in a database."""

_EVENTS = {
    "key": "text",
    "step": "text",
    "attempt": "int",
    "at": "text",
    "path": "json",
    "type": "text",
    "data": "bytea",
}
_STEPS = {"key": "text", "input_hash": "text", "tag": "text", "data": "bytea"}
_HOLDS = {"step": "text", "account": "text", "amount": "json", "state": "text"}
_LEDGER = {"kind": "text", "id": "text", "lane": "int", "data": "bytea"}


def _parameter_rows(table: str, columns: dict[str, str]) -> str:
    """The rows for a table, as parallel columns, each with its place."""
    arrays = ", ".join(f"%({table}_{name})s::{kind}[]" for name, kind in columns.items())
    return f"unnest({arrays}) WITH ORDINALITY AS given({', '.join(columns)}, place)"


def _upsert(table: str, columns: dict[str, str], same: str) -> str:
    names = ", ".join(columns)
    values = ", ".join(f"given.{name}" for name in columns)
    assignments = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in same.split(", "))
    return (
        f"INSERT INTO {table} (run, {names}) SELECT taken.number, {values}"
        f" FROM taken, {_parameter_rows(table, columns)} ORDER BY given.place"
        f" ON CONFLICT (run, {same}) DO UPDATE SET {assignments}"
    )


_WRITE = f"""
WITH taken AS (
  UPDATE runs SET
    last_seq = last_seq + %(more)s::bigint,
    status = coalesce(%(new_status)s::text, status),
    active_seconds = coalesce(%(new_seconds)s::float8, active_seconds)
  WHERE run_id = %(of)s::text AND fence = %(held)s::bigint RETURNING number, last_seq
), said AS (
  INSERT INTO events (run, seq, {", ".join(_EVENTS)})
  SELECT taken.number, taken.last_seq - %(more)s::bigint + given.place, {", ".join(f"given.{name}" for name in _EVENTS)}
  FROM taken, {_parameter_rows("events", _EVENTS)}
), done AS (
  {_upsert("steps", _STEPS, "key")}
), held AS (
  {_upsert("holds", _HOLDS, "step")}
), kept AS (
  {_upsert("ledger", _LEDGER, "kind, id")}
)
SELECT last_seq, pg_notify({CHANNEL}, %(of)s::text) FROM taken
"""


def write(connection: Connection, jobs: Iterable[CommitJob]) -> None:
    """Write the jobs, commit, and give each job its result.

    An event key that is already stored is an error, like anything the database refuses; then nothing is written.
    """
    driver: Any = connection.connection.driver_connection
    leases = [_Lease(same) for same in group_by_lease(jobs)]
    with _one_round_trip(driver):
        cursors = [driver.execute(_WRITE, lease.values()) for lease in leases]
    for lease, cursor in zip(leases, cursors, strict=True):
        lease.answer(cursor.fetchall())


@contextmanager
def _one_round_trip(driver: Any) -> Iterator[None]:
    """Send everything inside together, as one transaction: the open one, which this ends, else one of its own.

    In pipeline mode, statements sent together form a transaction without statements to begin and end it.
    """
    if driver.info.transaction_status.name != "IDLE":
        with driver.pipeline():
            yield
        driver.commit()
        return
    driver.autocommit = True
    try:
        with driver.pipeline():
            yield
    finally:
        driver.autocommit = False


class _Lease:
    """All commits of one lease."""

    def __init__(self, jobs: Sequence[CommitJob]) -> None:
        self._jobs, self._lease = jobs, jobs[0].lease
        self._drafts: list[EventDraft] = common.new_drafts([draft for job in jobs for draft in job.commit.events])

    def values(self) -> dict[str, object]:
        """The statement's parameters; of rows with one key the later one, at the place of the earlier."""
        commits = [job.commit for job in self._jobs]
        steps = {step.key: step_row(0, step) for commit in commits for step in commit.steps}
        holds = {hold.step: hold_row(0, hold) for commit in commits for hold in commit.holds}
        ledger = {(row.kind, row.id): ledger_row(0, row) for commit in commits for row in commit.ledger}
        return {
            "of": self._lease.run_id,
            "held": self._lease.fence,
            "more": len(self._drafts),
            "new_status": last_not_none(commit.status for commit in commits),
            "new_seconds": last_not_none(commit.active_seconds for commit in commits),
            **_columns("events", _EVENTS, event_rows(0, self._drafts, 0)),
            **_columns("steps", _STEPS, steps.values()),
            **_columns("holds", _HOLDS, holds.values()),
            **_columns("ledger", _LEDGER, ledger.values()),
        }

    def answer(self, rows: Sequence[tuple[int, object]]) -> None:
        """Give the waiting callers their results, after the commit."""
        if not rows:
            for job in self._jobs:
                job.fail(fence_lost(self._lease))
            return
        first = rows[0][0] - len(self._drafts) + 1
        answer(self._jobs, self._drafts, common.envelopes(self._lease.run_id, self._drafts, first))


def _columns(table: str, names: Iterable[str], rows: Iterable[Row]) -> dict[str, list[object]]:
    row_list = list(rows)
    return {f"{table}_{name}": [row[name] for row in row_list] for name in names}
