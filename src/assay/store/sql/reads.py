"""What is read of the journal, each inside one transaction."""

from __future__ import annotations

from collections.abc import Collection

import msgspec
from sqlalchemy import Connection, Row, Text, cast, exists, func, select

from assay.core.events import Envelope
from assay.core.ports import EventKey, HoldRecord, LedgerRow, Memory, RunRow, Spent, StepRecord
from assay.core.usage import Usage
from assay.store import common
from assay.store.sql import tables

_RUN = (
    tables.runs.c.run_id,
    tables.runs.c.question,
    tables.runs.c.status,
    tables.runs.c.created_at,
    tables.runs.c.holder,
    tables.runs.c.fence,
    tables.runs.c.active_seconds,
    tables.runs.c.last_seq,
    tables.runs.c.thread,
    tables.runs.c.lease_until,
    exists().where(tables.queue.c.run == tables.runs.c.number, tables.queue.c.ready == 1).label("queued"),
)

_LONGEST_REFERENCE = 200
_OFFERED = 200


def load(connection: Connection, run_id: str) -> Memory:
    """Everything stored about a run.

    Raises:
        UnknownName: no such run.
    """
    row = connection.execute(select(tables.runs).where(tables.runs.c.run_id == run_id)).first()
    if row is None:
        raise common.unknown_run(run_id)
    return Memory(
        brief=row.brief,
        status=row.status,
        fence=row.fence,
        steps=_steps(connection, row.number),
        events=_keys(connection, row.number),
        holds=_holds(connection, row.number),
        ledger=_ledger(connection, row.number),
        active_seconds=row.active_seconds,
    )


def events(connection: Connection, run_id: str, after: int, limit: int | None) -> list[Envelope]:
    """The log from `seq > after`.

    Raises:
        UnknownName: no such run.
    """
    table = tables.events.c
    chosen = (
        select(table.seq, table.at, table.path, table.type, table.data)
        .where(table.run == _number(connection, run_id), table.seq > after)
        .order_by(table.seq)
        .limit(None if limit is None else max(limit, 0))
    )
    return [
        Envelope(seq=seq, run_id=run_id, at=at, path=tuple(path), type=type_, data=msgspec.Raw(data))
        for seq, at, path, type_, data in connection.execute(chosen)
    ]


def inbox(connection: Connection, run_id: str, topic: str) -> list[bytes]:
    """Messages left on `topic`, oldest first.

    Raises:
        UnknownName: no such run.
    """
    table = tables.inbox.c
    chosen = select(table.data).where(table.run == _number(connection, run_id), table.topic == topic)
    return list(connection.execute(chosen.order_by(table.number)).scalars())


def runs(connection: Connection, limit: int, now: float) -> list[RunRow]:
    """Newest first."""
    chosen = select(*_RUN).order_by(tables.runs.c.number.desc()).limit(max(limit, 0))
    return [_row(row, now) for row in connection.execute(chosen)]


def rows(connection: Connection, run_ids: Collection[str], now: float) -> dict[str, RunRow]:
    """The runs with these ids, by id."""
    chosen = select(*_RUN).where(tables.runs.c.run_id.in_(sorted(run_ids)))
    return {row.run_id: _row(row, now) for row in connection.execute(chosen)}


def find(connection: Connection, reference: str, now: float) -> RunRow:
    """A run by its id, the start of its id, or `last`.

    Raises:
        UnknownName: none, or more than one, begins so.
    """
    run_id = tables.runs.c.run_id
    row = connection.execute(select(*_RUN).where(run_id == reference)).first()
    if row is None and reference == "last":
        row = connection.execute(select(*_RUN).order_by(tables.runs.c.number.desc()).limit(1)).first()
    if row is None:
        chosen = common.only(reference, _starting(connection, reference), _newest(connection))
        row = connection.execute(select(*_RUN).where(run_id == chosen)).one()
    return _row(row, now)


def latest(connection: Connection, thread: str, now: float) -> RunRow | None:
    """The newest run of a thread, None where it has none."""
    chosen = select(*_RUN).where(tables.runs.c.thread == thread).order_by(tables.runs.c.number.desc()).limit(1)
    row = connection.execute(chosen).first() if thread else None
    return None if row is None else _row(row, now)


def spending(connection: Connection, since: str, limit: int | None) -> list[Spent]:
    """What the runs created since then have used, newest first."""
    table, held = tables.runs.c, tables.holds.c
    columns = (table.number, table.run_id, table.status, table.brief, table.active_seconds)
    chosen = select(*columns).where(table.created_at >= since).order_by(table.number.desc()).limit(limit)
    found = connection.execute(chosen).all()
    amounts: dict[int, list[tuple[str, Usage]]] = {row.number: [] for row in found}
    # As text: there are some thousand, and msgspec reads them ten times as fast as what the JSON type goes by.
    text = select(held.run, held.step, cast(held.amount, Text)).where(held.run >= min(amounts, default=0))
    for run, step, amount in connection.execute(text):
        if run in amounts:
            amounts[run].append((step, msgspec.json.decode(amount, type=Usage)))
    # In the order of steps, as everywhere: sums of floats depend on it.
    return [common.spending(row, (used for _, used in sorted(amounts[row.number]))) for row in found]


def _starting(connection: Connection, reference: str) -> list[str]:
    if not 0 < len(reference) <= _LONGEST_REFERENCE or "\0" in reference:  # which no text of Postgres may hold
        return []
    run_id = tables.runs.c.run_id
    # Not LIKE: SQLite's does not tell case apart.
    chosen = select(run_id).where(func.substr(run_id, 1, len(reference)) == reference)
    return sorted(connection.execute(chosen).scalars())


def _newest(connection: Connection) -> list[str]:
    chosen = select(tables.runs.c.run_id).order_by(tables.runs.c.number.desc()).limit(_OFFERED)
    return list(connection.execute(chosen).scalars())


def _number(connection: Connection, run_id: str) -> int:
    number: int | None = connection.execute(select(tables.runs.c.number).where(tables.runs.c.run_id == run_id)).scalar()
    if number is None:
        raise common.unknown_run(run_id)
    return number


def _row(row: Row[*tuple[object, ...]], now: float) -> RunRow:
    values = row._asdict()
    if not common.is_held(values.pop("lease_until"), now):
        values["holder"] = ""
    return RunRow(**values)


def _steps(connection: Connection, run: int) -> dict[str, StepRecord]:
    table = tables.steps.c
    chosen = select(table.key, table.input_hash, table.tag, table.data).where(table.run == run)
    return {
        key: StepRecord(key=key, input_hash=input_hash, tag=tag, data=data)
        for key, input_hash, tag, data in connection.execute(chosen)
    }


def _keys(connection: Connection, run: int) -> tuple[EventKey, ...]:
    table = tables.events.c
    chosen = select(table.seq, table.key, table.step, table.attempt).where(table.run == run).order_by(table.seq)
    return tuple(
        EventKey(seq=seq, key=key, step=step, attempt=attempt) for seq, key, step, attempt in connection.execute(chosen)
    )


def _holds(connection: Connection, run: int) -> tuple[HoldRecord, ...]:
    table = tables.holds.c
    chosen = select(table.step, table.account, table.amount, table.state).where(table.run == run)
    # By step, in code: sums of floats then do not depend on a database's collation.
    return tuple(
        HoldRecord(step=step, account=account, amount=msgspec.convert(amount, Usage), state=state)
        for step, account, amount, state in sorted(connection.execute(chosen), key=lambda row: str(row[0]))
    )


def _ledger(connection: Connection, run: int) -> tuple[LedgerRow, ...]:
    table = tables.ledger.c
    chosen = select(table.kind, table.id, table.lane, table.data).where(table.run == run).order_by(table.number)
    return tuple(
        LedgerRow(kind=kind, id=id_, lane=lane, data=data) for kind, id_, lane, data in connection.execute(chosen)
    )
