"""Webhooks and their deliveries in SQL.

The events for a webhook are read from the logs of the runs themselves, which survive the death of any process: `heard`
records up to which event each run was examined. Runs in progress are not examined.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    union,
    update,
)

from assay.core.ports.webhooks import Delivery, DeliveryState, NewEvent, NewEvents, Webhook
from assay.store.sql import sqlite
from assay.store.sql.tables import deliveries, events, heard, runs, webhooks
from assay.store.sql.transactions import TransactedPort

SETTLED = ("waiting", "completed", "failed", "cancelled")
"""The statuses of runs with something to report."""
OVER = ("completed", "cancelled")
"""The statuses of runs that never continue."""

_ADD = insert(webhooks)
_HEARD = sqlite.insert(heard)
_HEARD = _HEARD.on_conflict_do_update(
    index_elements=["run"], set_={"seq": _HEARD.excluded.seq}, where=heard.c.seq < _HEARD.excluded.seq
)
_KEEP = sqlite.insert(deliveries).on_conflict_do_nothing(index_elements=["id"])
_WEBHOOK = tuple(webhooks.c[name] for name in Webhook.__struct_fields__)


class SqlWebhooks(TransactedPort):
    """`WebhookStore` over a database, through the process's writer."""

    async def add(self, webhook: Webhook) -> Webhook:
        def add(connection: Connection, now: float) -> Webhook:
            made = msgspec.structs.replace(webhook, created=now)
            newest = connection.execute(select(func.max(runs.c.number))).scalar() or 0
            connection.execute(_ADD, _row(made) | {"after": newest})
            going = select(runs.c.number, runs.c.last_seq).where(
                runs.c.owner == made.owner, runs.c.status.not_in(OVER), ~exists().where(webhooks.c.run == runs.c.run_id)
            )
            if rows := [{"run": row.number, "seq": row.last_seq} for row in connection.execute(going)]:
                # runs that an earlier webhook of the owner has yet to be notified about stay as they are
                connection.execute(sqlite.insert(heard).on_conflict_do_nothing(index_elements=["run"]), rows)
            return made

        return await self._transactions.write_at(add)

    async def all(self, owner: str | None = None, run: str = "") -> list[Webhook]:
        chosen = select(*_WEBHOOK).order_by(webhooks.c.created, webhooks.c.id)
        if owner is not None:
            chosen = chosen.where(webhooks.c.owner == owner, webhooks.c.run == run)
        else:
            waits = exists().where(deliveries.c.webhook == webhooks.c.id, deliveries.c.state == "waiting")
            chosen = chosen.where(or_(webhooks.c.run == "", ~_all_events_noted(), waits))
        return [_webhook(row) for row in await self._transactions.rows(chosen)]

    async def find(self, owner: str, id: str) -> Webhook | None:
        chosen = select(*_WEBHOOK).where(webhooks.c.owner == owner, webhooks.c.id == id)
        return next(map(_webhook, await self._transactions.rows(chosen)), None)

    async def remove(self, owner: str, id: str) -> bool:
        def remove(connection: Connection) -> bool:
            gone = delete(webhooks).where(webhooks.c.owner == owner, webhooks.c.id == id)
            found = connection.execute(gone).rowcount > 0
            if found:
                connection.execute(delete(deliveries).where(deliveries.c.webhook == id))
            return found

        return await self._transactions.write(remove)

    async def disable(self, id: str, why: str) -> None:
        def disable(connection: Connection) -> None:
            connection.execute(update(webhooks).where(webhooks.c.id == id).values(disabled=why))
            waiting = and_(deliveries.c.webhook == id, deliveries.c.state == "waiting")
            connection.execute(update(deliveries).where(waiting).values(state="failed", error=why))

        await self._transactions.write(disable)

    async def unsent_events(self, types: Collection[str], limit: int) -> list[NewEvents]:
        return await self._transactions.read(_unsent_events, types, limit)

    async def record_deliveries(self, seen: Mapping[int, int], deliveries: Sequence[Delivery]) -> None:
        def note(connection: Connection, now: float) -> None:
            known = set(connection.execute(select(webhooks.c.id)).scalars())
            rows = [_row(each) | {"created": now, "due": now} for each in deliveries if each.webhook in known]
            if rows:
                connection.execute(_KEEP, rows)
            if seen:
                there = set(connection.execute(select(runs.c.number).where(runs.c.number.in_(seen))).scalars())
                if rows := [{"run": run, "seq": seq} for run, seq in seen.items() if run in there]:
                    connection.execute(_HEARD, rows)

        await self._transactions.write_at(note)

    async def claim(self, limit: int, seconds: float) -> list[tuple[Delivery, Webhook]]:
        def claim(connection: Connection, now: float) -> list[tuple[Delivery, Webhook]]:
            due = and_(deliveries.c.state == "waiting", deliveries.c.due <= now)
            chosen = select(deliveries).where(due).order_by(deliveries.c.due).limit(limit)
            found = connection.execute(chosen.with_for_update(skip_locked=True)).all()
            if not found:
                return []
            taken = update(deliveries).where(deliveries.c.id.in_([row.id for row in found]))
            connection.execute(taken.values(due=now + seconds, attempts=deliveries.c.attempts + 1))
            wanted = select(*_WEBHOOK).where(webhooks.c.id.in_({row.webhook for row in found}))
            known = {row.id: _webhook(row) for row in connection.execute(wanted)}
            made = (_delivery(row, attempts=row.attempts + 1, due=now + seconds) for row in found)
            return [(each, known[each.webhook]) for each in made if each.webhook in known]

        return await self._transactions.write_at(claim)

    async def record_outcome(
        self, id: str, state: DeliveryState, *, status: int = 0, error: str = "", wait: float = 0
    ) -> None:
        def settle(connection: Connection, now: float) -> None:
            values = {"state": state, "status": status, "error": error, "due": now + wait}
            waits = and_(deliveries.c.id == id, deliveries.c.state == "waiting")
            connection.execute(update(deliveries).where(waits).values(values))

        await self._transactions.write_at(settle)

    async def deliveries(self, webhook: str, limit: int) -> list[Delivery]:
        chosen = select(deliveries).where(deliveries.c.webhook == webhook)
        chosen = chosen.order_by(deliveries.c.created.desc(), deliveries.c.id).limit(limit)
        return [_delivery(row) for row in await self._transactions.rows(chosen)]

    async def drop_settled(self, seconds: float) -> int:
        def drop(connection: Connection, now: float) -> int:
            oldest = now - seconds
            settled = and_(deliveries.c.created < oldest, deliveries.c.state != "waiting")
            dropped = connection.execute(delete(deliveries).where(settled)).rowcount
            kept = exists().where(deliveries.c.webhook == webhooks.c.id)
            over = and_(webhooks.c.run != "", webhooks.c.created < oldest, _all_events_noted(), ~kept)
            connection.execute(delete(webhooks).where(over))
            return dropped

        return await self._transactions.write_at(drop)


def drop_webhooks_of(connection: Connection, owner: str) -> None:
    """Delete all webhooks of an owner."""
    his = select(webhooks.c.id).where(webhooks.c.owner == owner)
    connection.execute(delete(deliveries).where(deliveries.c.webhook.in_(his)))
    connection.execute(delete(webhooks).where(webhooks.c.owner == owner))


def add_for_run(connection: Connection, webhook: Webhook, run_id: str, now: float) -> None:
    """Store a webhook for a run that is created in this transaction."""
    made = msgspec.structs.replace(webhook, run=run_id, created=now)
    connection.execute(_ADD, _row(made) | {"after": 0})


def drop_of_run(connection: Connection, run_id: str) -> None:
    """Delete the webhook of a run, and its pending deliveries."""
    its = select(webhooks.c.id).where(webhooks.c.run == run_id)
    connection.execute(delete(deliveries).where(deliveries.c.webhook.in_(its)))
    connection.execute(delete(webhooks).where(webhooks.c.run == run_id))


def _all_events_noted() -> ColumnElement[bool]:
    """True if the run of a webhook has ended, and all its events were noted."""
    return (
        exists(select(1).select_from(runs).join(heard, heard.c.run == runs.c.number))
        .where(runs.c.run_id == webhooks.c.run, runs.c.status.in_(OVER), heard.c.seq >= runs.c.last_seq)
        .correlate(webhooks)
    )


def _unsent_events(connection: Connection, types: Collection[str], limit: int) -> list[NewEvents]:
    told = (
        select(webhooks.c.owner, func.min(webhooks.c.after).label("after"))
        .where(webhooks.c.disabled == "", webhooks.c.run == "")
        .group_by(webhooks.c.owner)
        .subquery()
    )
    seen = func.coalesce(heard.c.seq, 0)
    settled = (
        select(runs.c.number, runs.c.run_id, runs.c.owner, runs.c.status, runs.c.last_seq, seen.label("seen"))
        .join(heard, heard.c.run == runs.c.number, isouter=True)
        .where(runs.c.status.in_(SETTLED), runs.c.last_seq > seen)
    )
    of_owners = settled.join(told, told.c.owner == runs.c.owner).where(
        or_(heard.c.run.is_not(None), runs.c.number > told.c.after)
    )
    of_runs = settled.join(webhooks, webhooks.c.run == runs.c.run_id).where(webhooks.c.disabled == "")
    chosen = union(of_owners, of_runs).order_by("number").limit(limit)
    return [
        NewEvents(
            number=row.number,
            run_id=row.run_id,
            owner=row.owner,
            status=row.status,
            last_seq=row.last_seq,
            events=_new_events(connection, row.number, row.seen, row.last_seq, types),
        )
        for row in connection.execute(chosen).all()
    ]


def _new_events(connection: Connection, run: int, seen: int, last: int, types: Collection[str]) -> tuple[NewEvent, ...]:
    chosen = (
        select(events.c.seq, events.c.type, events.c.at, events.c.data)
        .where(events.c.run == run, events.c.seq > seen, events.c.seq <= last, events.c.type.in_(types))
        .order_by(events.c.seq)
    )
    return tuple(NewEvent(**row._asdict()) for row in connection.execute(chosen))


def _row(made: Webhook | Delivery) -> dict[str, Any]:
    row = msgspec.structs.asdict(made)
    return row | ({"events": list(made.events)} if isinstance(made, Webhook) else {})


def _webhook(row: Row[Any]) -> Webhook:
    return Webhook(**row._asdict() | {"events": tuple(row.events)})


def _delivery(row: Row[Any], **changed: object) -> Delivery:
    return Delivery(**row._asdict() | changed)
