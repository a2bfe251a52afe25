"""The journal's other writes: runs, leases, control, messages.

Each checks before it writes, and is handed its transaction: it is whole or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, case, or_, select, update

from assay.core.errors import LeaseHeld
from assay.core.ports import Action, EventDraft, Lease
from assay.store import common
from assay.store.sql import sqlite
from assay.store.sql.commits import Statements, event_rows
from assay.store.sql.tables import events, holds, inbox, ledger, runs, steps

_CREATE = sqlite.insert(runs).on_conflict_do_nothing(index_elements=["run_id"]).returning(runs.c.number)

_ACQUIRE = (
    update(runs)
    .where(
        runs.c.run_id == bindparam("of"),
        or_(
            runs.c.lease_until <= bindparam("now"),
            runs.c.holder.in_(("", bindparam("by"), bindparam("evicted"))),
        ),
    )
    .values(holder=bindparam("by"), lease_until=bindparam("until"), fence=runs.c.fence + 1)
    .returning(runs.c.fence)
)

_OWN = (runs.c.run_id == bindparam("of"), runs.c.fence == bindparam("held"), runs.c.holder == bindparam("by"))

_RELEASE = update(runs).where(*_OWN).values(holder="", lease_until=0.0)

_CONTROL = (
    update(runs)
    .where(runs.c.run_id == bindparam("of"))
    .values(control=case((runs.c.control == "cancel", "cancel"), else_=bindparam("asked")))
    .returning(runs.c.number)
)

_NUMBER = select(runs.c.number).where(runs.c.run_id == bindparam("of"))

_HELD = select(runs.c.number, runs.c.holder, runs.c.lease_until).where(runs.c.run_id == bindparam("of"))


def create(
    connection: Connection,
    statements: Statements,
    run_id: str,
    question: str,
    brief: bytes,
    drafts: Sequence[EventDraft],
    at: str,
    thread: str,
) -> None:
    """Make a run with its first events.

    Raises:
        StoreError: there is a run of that id.
    """
    row = {
        "run_id": run_id,
        "question": question,
        "brief": brief,
        "created_at": at,
        "status": "created",
        "holder": "",
        "lease_until": 0.0,
        "fence": 0,
        "control": "",
        "active_seconds": 0.0,
        "last_seq": len(drafts),
        "thread": thread,
    }
    number = connection.execute(_CREATE, row).scalar()
    if number is None:
        raise common.run_exists(run_id)
    if drafts:
        connection.connection.cursor().executemany(statements.events, event_rows(number, drafts, 1))


def acquire(connection: Connection, run_id: str, holder: str, now: float, ttl: float, evict: str) -> Lease:
    """Take the lease when it is free, expired, the holder's own, or held by `evict`.

    Raises:
        LeaseHeld: another holder's lease has not expired.
        UnknownName: no such run.
    """
    values = {"of": run_id, "now": now, "by": holder, "evicted": evict, "until": now + ttl}
    fence = connection.execute(_ACQUIRE, values).scalar()
    if fence is None:
        held = connection.execute(select(runs.c.holder).where(runs.c.run_id == run_id)).scalar()
        raise common.unknown_run(run_id) if held is None else LeaseHeld(run_id, held)
    return Lease(run_id=run_id, fence=fence, holder=holder)


def renew(connection: Connection, statements: Statements, lease: Lease, until: float) -> Action:
    """Hold on until then; the control row. Every run asks for this four times a second.

    Raises:
        FenceLost: the lease is another's, or was given up.
    """
    values = {"of": lease.run_id, "held": lease.fence, "by": lease.holder, "until": until}
    cursor = connection.connection.cursor()
    cursor.execute(statements.renew, values)
    found = cursor.fetchall()  # all, so that the statement is finished
    cursor.close()
    if not found:
        raise common.fence_lost(lease)
    action: Action = found[0][0]
    return action


def release(connection: Connection, lease: Lease) -> None:
    """Give the lease up if it is still held."""
    connection.execute(_RELEASE, {"of": lease.run_id, "held": lease.fence, "by": lease.holder})


def control(connection: Connection, run_id: str, action: Action) -> None:
    """Set the control row; `cancel` stays.

    Raises:
        UnknownName: no such run.
    """
    if connection.execute(_CONTROL, {"of": run_id, "asked": action}).scalar() is None:
        raise common.unknown_run(run_id)


def post(connection: Connection, run_id: str, topic: str, data: bytes) -> None:
    """Leave a message.

    Raises:
        UnknownName: no such run.
    """
    number = connection.execute(_NUMBER, {"of": run_id}).scalar()
    if number is None:
        raise common.unknown_run(run_id)
    connection.execute(inbox.insert(), {"run": number, "topic": topic, "data": data})


def delete(connection: Connection, run_id: str, now: float, evict: str) -> None:
    """Forget a run whose lease is free, expired, or held by `evict`.

    Raises:
        LeaseHeld: another holder's lease has not expired.
        UnknownName: no such run.
    """
    row = connection.execute(_HELD, {"of": run_id}).first()
    if row is None:
        raise common.unknown_run(run_id)
    if row.lease_until > now and row.holder not in ("", evict):
        raise LeaseHeld(run_id, row.holder)
    for table in (events, steps, holds, ledger, inbox):
        connection.execute(table.delete().where(table.c.run == row.number))
    connection.execute(runs.delete().where(runs.c.number == row.number))
