"""Reads of the journal, each inside one transaction; they raise what its port says."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Text,
    and_,
    bindparam,
    cast,
    exists,
    func,
    or_,
    select,
    true,
)

from assay.core.errors import FenceLost
from assay.core.events import Envelope
from assay.core.ports import (
    ACTIVE_STATUSES,
    EventKey,
    HoldRecord,
    Lease,
    LedgerRow,
    Memory,
    News,
    Renewal,
    RunRow,
    RunSpending,
    StepRecord,
)
from assay.core.usage import Usage
from assay.store import common
from assay.store.common import read_labels_text
from assay.store.leases import fence_lost, is_held
from assay.store.sql import tables
from assay.store.sql.shelves import batches

RUN_COLUMNS = (
    tables.runs.c.run_id,
    tables.runs.c.question,
    tables.runs.c.status,
    tables.runs.c.created_at,
    tables.runs.c.holder,
    tables.runs.c.fence,
    tables.runs.c.active_seconds,
    tables.runs.c.last_seq,
    tables.runs.c.thread,
    tables.runs.c.owner,
    tables.runs.c.labels,
    tables.runs.c.lease_until,
    exists().where(tables.queue.c.run == tables.runs.c.number, tables.queue.c.ready == 1).label("queued"),
)

_NUMBERED = select(tables.runs.c.number, *RUN_COLUMNS).where(tables.runs.c.run_id.in_(bindparam("ids", expanding=True)))
"""Runs by their ids; one statement for any number of them."""

_LEFT = select(func.count()).where(tables.inbox.c.run == tables.runs.c.number).scalar_subquery()
_LEASES = select(
    tables.runs.c.run_id,
    tables.runs.c.fence,
    tables.runs.c.holder,
    tables.runs.c.lease_until,
    tables.runs.c.control,
    _LEFT,
).where(tables.runs.c.run_id.in_(bindparam("ids", expanding=True)))

_NO_ROW = ("", -1, "", 0.0, "", 0)

_INBOX = (
    select(tables.inbox.c.data)
    .select_from(
        tables.runs.outerjoin(
            tables.inbox, and_(tables.inbox.c.run == tables.runs.c.number, tables.inbox.c.topic == bindparam("topic"))
        )
    )
    .where(tables.runs.c.run_id == bindparam("of"))
    .order_by(tables.inbox.c.number)
)
"""The messages on a topic; a single row without one if there are none, and no row if there is no such run."""
_OWN_INBOX = _INBOX.where(tables.runs.c.owner == bindparam("owner"))

_NUMBER = select(tables.runs.c.number).where(tables.runs.c.run_id == bindparam("of"))
_OWN_NUMBER = _NUMBER.where(tables.runs.c.owner == bindparam("owner"))
_LOG, _OWN_LOG = (
    select(*tables.events.c["seq", "at", "path", "type", "data"])
    .where(tables.events.c.run == number.scalar_subquery(), tables.events.c.seq > bindparam("after"))
    .order_by(tables.events.c.seq)
    for number in (_NUMBER, _OWN_NUMBER)
)
"""A log is read each time it has grown: in one statement."""
_SOME_LOG, _SOME_OWN_LOG = (log.limit(bindparam("most")) for log in (_LOG, _OWN_LOG))

_RUN = select(tables.runs).where(tables.runs.c.run_id == bindparam("of"))
_STEPS = select(*tables.steps.c["key", "input_hash", "tag", "data"]).where(tables.steps.c.run == bindparam("of"))
_KEYS = (
    select(*tables.events.c["seq", "key", "step", "attempt"])
    .where(tables.events.c.run == bindparam("of"))
    .order_by(tables.events.c.seq)
)
_HOLDS = select(*tables.holds.c["step", "account", "amount", "state"]).where(tables.holds.c.run == bindparam("of"))
_LEDGER = (
    select(*tables.ledger.c["kind", "id", "lane", "data"])
    .where(tables.ledger.c.run == bindparam("of"))
    .order_by(tables.ledger.c.number)
)
"""What a run is loaded from; made once, since making a statement takes longer than executing it."""

TOGETHER = 16
"""Logs read by one statement, whose text is the same for any number."""
_EVENT = tables.events.c
_NEWS = (
    select(_EVENT.run, _EVENT.seq, _EVENT.at, _EVENT.path, _EVENT.type, _EVENT.data)
    .where(or_(*(and_(_EVENT.run == bindparam(f"run{n}"), _EVENT.seq > bindparam(f"seq{n}")) for n in range(TOGETHER))))
    .order_by(_EVENT.run, _EVENT.seq)
    .limit(bindparam("most"))
)
_NO_RUN = dict.fromkeys((f"run{n}" for n in range(TOGETHER)), -1) | dict.fromkeys(
    (f"seq{n}" for n in range(TOGETHER)), 0
)

_MAX_REFERENCE_CHARS = 200
_OFFERED = 200


def owner_condition(owner: str | None) -> ColumnElement[bool]:
    """The runs an owner may see; None sees all."""
    return true() if owner is None else tables.runs.c.owner == owner


def load(connection: Connection, run_id: str, owner: str | None) -> Memory:
    """Return everything stored about a run."""
    row = connection.execute(_RUN.where(owner_condition(owner)), {"of": run_id}).first()
    if row is None:
        raise common.unknown_run(run_id)
    parameters = {"of": row.number}
    # By step, in code, so that sums of floats do not depend on a database's collation.
    holds = sorted(connection.execute(_HOLDS, parameters), key=lambda row: str(row[0]))
    return Memory(
        brief=row.brief,
        status=row.status,
        fence=row.fence,
        steps={
            key: StepRecord(key=key, input_hash=input_hash, tag=tag, data=data)
            for key, input_hash, tag, data in connection.execute(_STEPS, parameters)
        },
        events=tuple(
            EventKey(seq=seq, key=key, step=step, attempt=attempt)
            for seq, key, step, attempt in connection.execute(_KEYS, parameters)
        ),
        holds=tuple(
            HoldRecord(step=step, account=account, amount=msgspec.convert(amount, Usage), state=state)
            for step, account, amount, state in holds
        ),
        ledger=tuple(
            LedgerRow(kind=kind, id=id, lane=lane, data=data)
            for kind, id, lane, data in connection.execute(_LEDGER, parameters)
        ),
        active_seconds=row.active_seconds,
    )


class LeaseNews(NamedTuple):
    """What others want of runs, as `Journal.renew_all` returns it; and when each lease ends that is held."""

    outcomes: dict[Lease, Renewal | FenceLost]
    ends: dict[Lease, float]


def read_leases(connection: Connection, leases: Sequence[Lease]) -> LeaseNews:
    """Look at leases and at what others want of their runs."""
    rows: dict[str, Sequence[Any]] = {}
    for batch in batches(leases):
        result = connection.execute(_LEASES, {"ids": [lease.run_id for lease in batch]})
        # The driver's own rows: making SQLAlchemy's takes longer than reading them.
        rows.update((row[0], row) for row in result.cursor.fetchall())
    news = LeaseNews({}, {})
    for lease in leases:
        _, fence, holder, until, action, messages = rows.get(lease.run_id, _NO_ROW)
        if fence != lease.fence or holder != lease.holder:
            news.outcomes[lease] = fence_lost(lease)
            continue
        news.ends[lease] = until
        if action or messages:
            news.outcomes[lease] = Renewal(action, messages)
    return news


def events(connection: Connection, run_id: str, owner: str | None, after: int, limit: int | None) -> list[Envelope]:
    """The log from `seq > after`."""
    if limit is None:
        statement = _LOG if owner is None else _OWN_LOG
    else:
        statement = _SOME_LOG if owner is None else _SOME_OWN_LOG
    parameters = {"of": run_id, "owner": owner, "after": after, "most": max(limit or 0, 0)}
    records = connection.execute(statement, parameters).all()
    if not records:
        run_number(connection, run_id, owner)  # raises where there is no such run
    return [_envelope(run_id, *record) for record in records]


def _envelope(run_id: str, seq: int, at: str, path: list[str], type: str, data: bytes) -> Envelope:
    return Envelope(seq=seq, run_id=run_id, at=at, path=tuple(path), type=type, data=msgspec.Raw(data))


def inbox(run_id: str, owner: str | None, topic: str) -> tuple[Select[Any], dict[str, object]]:
    """The statement for the messages on `topic`, with its parameters; `remaining_messages` reads its rows."""
    statement = _INBOX if owner is None else _OWN_INBOX
    return statement, {"of": run_id, "topic": topic, "owner": owner}


def remaining_messages(run_id: str, rows: Sequence[Row[Any]]) -> list[bytes]:
    """The messages, oldest first."""
    if not rows:
        raise common.unknown_run(run_id)
    return [data for (data,) in rows if data is not None]


def runs(connection: Connection, now: float, owner: str | None, limit: int) -> list[RunRow]:
    """The runs, newest first."""
    statement = (
        select(*RUN_COLUMNS).where(owner_condition(owner)).order_by(tables.runs.c.number.desc()).limit(max(limit, 0))
    )
    return [run_row(row, now) for row in connection.execute(statement)]


def rows(connection: Connection, now: float, run_ids: Collection[str], owner: str | None) -> dict[str, RunRow]:
    """The runs with these ids, by id."""
    statement = select(*RUN_COLUMNS).where(tables.runs.c.run_id.in_(sorted(run_ids)), owner_condition(owner))
    return {row.run_id: run_row(row, now) for row in connection.execute(statement)}


def news(
    connection: Connection, now: float, after: Mapping[str, int], owner: str | None, limit: int
) -> dict[str, News]:
    """The runs with these ids, and at most `limit` events of each after the given number."""
    by_number = dict[int, RunRow]()
    for row in connection.execute(_NUMBERED.where(owner_condition(owner)), {"ids": sorted(after)}):
        by_number[row.number] = run_row(row, now)
    positions = [(number, max(after[row.run_id], 0)) for number, row in by_number.items()]
    grown = [(number, seq) for number, seq in positions if seq < by_number[number].last_seq]
    new: dict[int, list[Envelope]] = {number: [] for number in by_number}
    remaining = max(limit, 0)
    for first in range(0, len(grown), TOGETHER):
        numbers = {f"run{n}": number for n, (number, _) in enumerate(grown[first : first + TOGETHER])}
        seqs = {f"seq{n}": seq for n, (_, seq) in enumerate(grown[first : first + TOGETHER])}
        for number, *rest in connection.execute(_NEWS, _NO_RUN | numbers | seqs | {"most": remaining}):
            new[number].append(_envelope(by_number[number].run_id, *rest))
            remaining -= 1
    return {row.run_id: News(row=row, events=tuple(new[number])) for number, row in by_number.items()}


def find(connection: Connection, now: float, reference: str, owner: str | None) -> RunRow:
    """A run by its id, the beginning of its id, or `last`."""
    run_id, statement = tables.runs.c.run_id, select(*RUN_COLUMNS).where(owner_condition(owner))
    row = connection.execute(statement.where(run_id == reference)).first()
    if row is None and reference == common.LAST_REFERENCE:
        row = connection.execute(statement.order_by(tables.runs.c.number.desc()).limit(1)).first()
    if row is None:
        resolved_id = common.resolve_run_id(
            reference, _run_ids_starting(connection, reference, owner), _newest_run_ids(connection, owner)
        )
        row = connection.execute(statement.where(run_id == resolved_id)).one()
    return run_row(row, now)


def latest(connection: Connection, now: float, thread: str, owner: str | None) -> RunRow | None:
    """The newest run of a thread; None if it has none."""
    statement = (
        select(*RUN_COLUMNS)
        .where(tables.runs.c.thread == thread, owner_condition(owner))
        .order_by(tables.runs.c.number.desc())
    )
    row = connection.execute(statement.limit(1)).first() if thread else None
    return None if row is None else run_row(row, now)


def spending(
    connection: Connection, since: str, owner: str | None, limit: int | None, only: Collection[str] | None = None
) -> list[RunSpending]:
    """What the runs created since then have used, newest first."""
    table, holds = tables.runs.c, tables.holds.c
    columns = (table.number, table.run_id, table.status, table.brief, table.active_seconds)
    statement = select(*columns).where(table.created_at >= since, owner_condition(owner)).order_by(table.number.desc())
    if only is not None:
        statement = statement.where(table.run_id.in_(sorted(only)))
    records = connection.execute(statement.limit(limit)).all()
    amounts: dict[int, list[tuple[str, Usage]]] = {row.number: [] for row in records}
    # Selected as text: there may be thousands, and msgspec decodes them ten times as fast as the JSON type.
    text = select(holds.run, holds.step, cast(holds.amount, Text)).where(holds.run >= min(amounts, default=0))
    for run, step, amount in connection.execute(text):
        if run in amounts:
            amounts[run].append((step, msgspec.json.decode(amount, type=Usage)))
    # In the order of steps, as everywhere: sums of floats depend on it.
    return [common.run_spending(row, (used for _, used in sorted(amounts[row.number]))) for row in records]


def active_runs(connection: Connection, owner: str | None) -> int:
    """How many runs are queued or being executed."""
    statement = (
        select(func.count())
        .select_from(tables.runs)
        .where(tables.runs.c.status.in_(ACTIVE_STATUSES), owner_condition(owner))
    )
    return connection.execute(statement).scalar_one()


def _run_ids_starting(connection: Connection, reference: str, owner: str | None) -> list[str]:
    if not 0 < len(reference) <= _MAX_REFERENCE_CHARS or "\0" in reference:  # which Postgres cannot store in text
        return []
    run_id = tables.runs.c.run_id
    # Not LIKE: SQLite's ignores case.
    statement = select(run_id).where(func.substr(run_id, 1, len(reference)) == reference, owner_condition(owner))
    return sorted(connection.execute(statement).scalars())


def _newest_run_ids(connection: Connection, owner: str | None) -> list[str]:
    statement = (
        select(tables.runs.c.run_id).where(owner_condition(owner)).order_by(tables.runs.c.number.desc()).limit(_OFFERED)
    )
    return list(connection.execute(statement).scalars())


def run_number(connection: Connection, run_id: str, owner: str | None) -> int:
    """The number of a run."""
    statement = _NUMBER if owner is None else _OWN_NUMBER
    number: int | None = connection.execute(statement, {"of": run_id, "owner": owner}).scalar()
    if number is None:
        raise common.unknown_run(run_id)
    return number


def run_row(row: Row[*tuple[object, ...]], now: float) -> RunRow:
    """A run in a list, from the columns `RUN_COLUMNS` and any further ones."""
    values = {name: value for name, value in row._asdict().items() if name != "number"}
    if not is_held(values.pop("lease_until"), now):
        values["holder"] = ""
    return RunRow(**{**values, "labels": read_labels_text(values["labels"])})
