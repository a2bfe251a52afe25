"""The journal's other writes: runs, leases, control, messages.

Each checks before it writes, in the transaction it is given, so it takes effect completely or not at all. They raise
what the journal's port says.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, bindparam, case, exists, or_, select, update

from assay.core.errors import LeaseHeld
from assay.core.ports import MAX_LEASE_SECONDS, Action, EventDraft, Lease, QueuePlace, Renewal, RunInputs
from assay.store import common
from assay.store.common import given_labels, labels_text
from assay.store.leases import fence_lost, is_held
from assay.store.sql import reads, sqlite, webhooks
from assay.store.sql.commits import Statements, event_rows, ledger_row, step_row
from assay.store.sql.shelves import batches
from assay.store.sql.tables import events, heard, holds, inbox, ledger, queue, runs, steps, threads

_THREAD = sqlite.insert(threads).on_conflict_do_nothing(index_elements=["owner", "name"])

# A thread that has the id of its first run as its name also keeps that run's title.
_BEGUN = (
    update(runs)
    .where(runs.c.run_id == bindparam("name"), runs.c.owner == bindparam("whose"), runs.c.thread == "")
    .values(thread=bindparam("name"))
)

_CREATE = sqlite.insert(runs).on_conflict_do_nothing(index_elements=["run_id"]).returning(runs.c.number)

_PUT = sqlite.insert(queue)
_PUT = _PUT.on_conflict_do_update(
    index_elements=["run"],
    set_={name: _PUT.excluded[name] for name in ("owner", "priority", "ready", "taken", "release")},
)

_ACQUIRE = (
    update(runs)
    .where(
        runs.c.run_id == bindparam("of"),
        or_(
            runs.c.lease_until <= bindparam("now"),
            runs.c.lease_until > bindparam("longest"),
            runs.c.holder.in_(("", bindparam("by"), bindparam("evicted"))),
        ),
    )
    .values(holder=bindparam("by"), lease_until=bindparam("until"), fence=runs.c.fence + 1)
    .returning(runs.c.fence)
)

_OWN = (runs.c.run_id == bindparam("of"), runs.c.fence == bindparam("held"), runs.c.holder == bindparam("by"))

_RENEW_MANY = (
    update(runs)
    .where(runs.c.run_id.in_(bindparam("ids", expanding=True)), runs.c.holder == bindparam("by"))
    .values(lease_until=bindparam("until"))
    .returning(runs.c.run_id, runs.c.fence)
)

_RELEASE = update(runs).where(*_OWN).values(holder="", lease_until=0.0)

_CONTROL = (
    update(runs)
    .where(runs.c.run_id == bindparam("of"))
    .values(control=case((runs.c.control == "cancel", "cancel"), else_=bindparam("asked")))
    .returning(runs.c.number)
)

_KEYS = select(events.c.key).where(events.c.run == bindparam("of"), events.c.key.in_(bindparam("keys", expanding=True)))

_NUMBERED = (
    update(runs)
    .where(runs.c.number == bindparam("of"))
    .values(last_seq=runs.c.last_seq + bindparam("more", type_=BigInteger()))
    .returning(runs.c.last_seq)
)

_HELD = select(runs.c.number, runs.c.holder, runs.c.lease_until).where(runs.c.run_id == bindparam("of"))


class NewRun(NamedTuple):
    """The initial data of a run; `at` is its time (ISO 8601 UTC)."""

    run_id: str
    question: str
    brief: bytes
    at: str
    thread: str
    owner: str


def create(
    connection: Connection,
    statements: Statements,
    new: NewRun,
    drafts: Sequence[EventDraft],
    inputs: RunInputs,
    now: float,
) -> None:
    """Create a run with its first events and its input, and its thread if it is the first run of one.

    If it has a place in the queue, it is created together with it, or not at all.
    """
    row = {
        "run_id": new.run_id,
        "question": new.question,
        "brief": new.brief,
        "created_at": new.at,
        "status": "created",
        "holder": "",
        "lease_until": 0.0,
        "fence": 0,
        "control": "",
        "active_seconds": 0.0,
        "last_seq": len(drafts),
        "thread": new.thread,
        "owner": new.owner,
        "lookup": common.fold_text(new.question),
        "collections": common.collections_text(new.brief),
        "labels": labels_text(given_labels(new.brief)),
    }
    number = connection.execute(_CREATE, row).scalar()
    if number is None:
        raise common.run_exists(new.run_id)
    if new.thread:
        connection.execute(_BEGUN, {"name": new.thread, "whose": new.owner})
        connection.execute(_THREAD, {"name": new.thread, "owner": new.owner})
    for statement, rows in (
        (statements.events, event_rows(number, drafts, 1)),
        (statements.steps, [step_row(number, step) for step in inputs.steps]),
        (statements.ledger, [ledger_row(number, row) for row in inputs.ledger]),
    ):
        if rows:
            connection.connection.cursor().executemany(statement, rows)
    if inputs.place is not None:
        enqueue(connection, number, inputs.place)
    if inputs.webhook is not None:
        webhooks.add_for_run(connection, inputs.webhook, new.run_id, now)


def enqueue(connection: Connection, number: int, place: QueuePlace) -> None:
    """Put a run into the queue, or move it there; workers may take it from now on."""
    row = {"owner": place.user, "priority": place.priority, "release": place.release}
    connection.execute(_PUT, {"run": number, "ready": 1, "taken": 0, **row})


def acquire(
    connection: Connection, run_id: str, owner: str | None, holder: str, period: tuple[float, float], evict: str = ""
) -> Lease:
    """Take the lease for `period` if it is free, expired, the holder's own, or held by `evict`."""
    now, until = period
    longest = now + MAX_LEASE_SECONDS
    values = {"of": run_id, "now": now, "longest": longest, "by": holder, "evicted": evict, "until": until}
    fence = connection.execute(_ACQUIRE.where(reads.owner_condition(owner)), values).scalar()
    if fence is None:
        current_holder = connection.execute(
            select(runs.c.holder).where(runs.c.run_id == run_id, reads.owner_condition(owner))
        ).scalar()
        raise common.unknown_run(run_id) if current_holder is None else LeaseHeld(run_id, current_holder)
    return Lease(run_id=run_id, fence=fence, holder=holder)


def renew(connection: Connection, statements: Statements, lease: Lease, until: float) -> Renewal:
    """Extend the lease to `until`, and return what others want of the run."""
    cursor = connection.connection.cursor()
    cursor.execute(statements.renew, {"of": lease.run_id, "held": lease.fence, "by": lease.holder, "until": until})
    rows = cursor.fetchall()  # all, so that the statement is finished
    cursor.close()
    if not rows:
        raise fence_lost(lease)
    return Renewal(*rows[0])


def renew_many(connection: Connection, leases: Sequence[Lease], until: float) -> set[Lease]:
    """Extend leases to `until`, and return those that do not belong to another.

    Where their holder has taken the lease again meanwhile, that one is extended, and the old one left out.
    """
    renewed = set()
    for holder in dict.fromkeys(lease.holder for lease in leases):
        for ids in batches([lease.run_id for lease in leases if lease.holder == holder]):
            rows = connection.execute(_RENEW_MANY, {"ids": ids, "by": holder, "until": until})
            renewed |= {(holder, run_id, fence) for run_id, fence in rows.cursor.fetchall()}
    return {lease for lease in leases if (lease.holder, lease.run_id, lease.fence) in renewed}


def release(connection: Connection, lease: Lease) -> None:
    """Give up the lease if it is still held."""
    connection.execute(_RELEASE, {"of": lease.run_id, "held": lease.fence, "by": lease.holder})


def control(
    connection: Connection,
    statements: Statements,
    run_id: str,
    owner: str | None,
    action: Action,
    drafts: Sequence[EventDraft],
) -> None:
    """Set the control row; a `cancel` is never replaced."""
    number = connection.execute(_CONTROL.where(reads.owner_condition(owner)), {"of": run_id, "asked": action}).scalar()
    if number is None:
        raise common.unknown_run(run_id)
    _append(connection, statements, number, drafts)


def post(
    connection: Connection,
    statements: Statements,
    run: int,
    topic: str,
    data: bytes,
    drafts: Sequence[EventDraft],
) -> None:
    """Leave a message for the run with this number."""
    connection.execute(inbox.insert(), {"run": run, "topic": topic, "data": data})
    _append(connection, statements, run, drafts)


def _append(connection: Connection, statements: Statements, run: int, drafts: Sequence[EventDraft]) -> None:
    """Append events that need no lease to a run's log; those whose key is already there are skipped."""
    if not drafts:
        return
    stored_keys = connection.execute(_KEYS, {"of": run, "keys": [draft.key for draft in drafts]}).scalars()
    new = common.new_drafts(drafts, set(stored_keys))
    last = connection.execute(_NUMBERED, {"of": run, "more": len(new)}).scalar_one()
    if new:
        connection.connection.cursor().executemany(statements.events, event_rows(run, new, last - len(new) + 1))


def delete(connection: Connection, now: float, run_id: str, owner: str | None, evict: Collection[str]) -> None:
    """Delete a run whose lease is free, expired, or held by one of `evict`."""
    number = lock_free_run(connection, now, run_id, owner, evict)
    webhooks.drop_of_run(connection, run_id)
    for table in (events, steps, holds, ledger, inbox, queue, heard):
        connection.execute(table.delete().where(table.c.run == number))
    statement = runs.delete().where(runs.c.number == number).returning(runs.c.owner, runs.c.thread)
    run_owner, thread = connection.execute(statement).one()
    if thread:  # it exists as long as it has a run
        other_runs = exists().where(runs.c.owner == run_owner, runs.c.thread == thread)
        connection.execute(threads.delete().where(threads.c.owner == run_owner, threads.c.name == thread, ~other_runs))


def lock_free_run(connection: Connection, now: float, run_id: str, owner: str | None, evict: Collection[str]) -> int:
    """Keep a run unchanged until the transaction ends, with nobody executing it except `evict`; return its number."""
    row = connection.execute(_HELD.where(reads.owner_condition(owner)).with_for_update(), {"of": run_id}).first()
    if row is None:
        raise common.unknown_run(run_id)
    if is_held(row.lease_until, now) and row.holder and row.holder not in evict:
        raise LeaseHeld(run_id, row.holder)
    number: int = row.number
    return number
