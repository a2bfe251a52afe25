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

MAX_PAUSE_SECONDS = 2 * 86_400.0
"""More than any message waits to be sent again."""
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
            new_webhook = msgspec.structs.replace(webhook, created=now)
            newest = connection.execute(select(func.max(runs.c.number))).scalar() or 0
            connection.execute(_ADD, _row(new_webhook) | {"after": newest})
            going = select(runs.c.number, runs.c.last_seq).where(
                runs.c.owner == new_webhook.owner,
                runs.c.status.not_in(OVER),
                ~exists().where(webhooks.c.run == runs.c.run_id),
            )
            if rows := [{"run": row.number, "seq": row.last_seq} for row in connection.execute(going)]:
                # runs that an earlier webhook of the owner has yet to be notified about stay as they are
                connection.execute(sqlite.insert(heard).on_conflict_do_nothing(index_elements=["run"]), rows)
            return new_webhook

        return await self._transactions.write_at(add)

    async def all(self, owner: str | None = None, run: str = "") -> list[Webhook]:
        statement = select(*_WEBHOOK).order_by(webhooks.c.created, webhooks.c.id)
        if owner is not None:
            statement = statement.where(webhooks.c.owner == owner, webhooks.c.run == run)
        else:
            waits = exists().where(deliveries.c.webhook == webhooks.c.id, deliveries.c.state == "waiting")
            statement = statement.where(or_(webhooks.c.run == "", ~_all_events_noted(), waits))
        return [_webhook(row) for row in await self._transactions.rows(statement)]

    async def find(self, owner: str, id: str) -> Webhook | None:
        statement = select(*_WEBHOOK).where(webhooks.c.owner == owner, webhooks.c.id == id)
        return next(map(_webhook, await self._transactions.rows(statement)), None)

    async def remove(self, owner: str, id: str) -> bool:
        def remove(connection: Connection) -> bool:
            statement = delete(webhooks).where(webhooks.c.owner == owner, webhooks.c.id == id)
            removed = connection.execute(statement).rowcount > 0
            if removed:
                connection.execute(delete(deliveries).where(deliveries.c.webhook == id))
            return removed

        return await self._transactions.write(remove)

    async def disable(self, id: str, why: str) -> None:
        def disable(connection: Connection) -> None:
            connection.execute(update(webhooks).where(webhooks.c.id == id).values(disabled=why))
            condition = and_(deliveries.c.webhook == id, deliveries.c.state == "waiting")
            connection.execute(update(deliveries).where(condition).values(state="failed", error=why))

        await self._transactions.write(disable)

    async def unsent_events(self, types: Collection[str], limit: int) -> list[NewEvents]:
        return await self._transactions.read(_unsent_events, types, limit)

    async def record_deliveries(self, processed: Mapping[int, int], deliveries: Sequence[Delivery]) -> None:
        def note(connection: Connection, now: float) -> None:
            webhook_ids = set(connection.execute(select(webhooks.c.id)).scalars())
            rows = [
                _row(delivery) | {"created": now, "due": now}
                for delivery in deliveries
                if delivery.webhook in webhook_ids
            ]
            if rows:
                connection.execute(_KEEP, rows)
            if processed:
                existing = set(connection.execute(select(runs.c.number).where(runs.c.number.in_(processed))).scalars())
                if rows := [{"run": run, "seq": seq} for run, seq in processed.items() if run in existing]:
                    connection.execute(_HEARD, rows)

        await self._transactions.write_at(note)

    async def claim(self, limit: int, seconds: float) -> list[tuple[Delivery, Webhook]]:
        def claim(connection: Connection, now: float) -> list[tuple[Delivery, Webhook]]:
            # A message that is due so far ahead has waited since before the clock was set back.
            is_due = or_(deliveries.c.due <= now, deliveries.c.due > now + MAX_PAUSE_SECONDS)
            due = and_(deliveries.c.state == "waiting", is_due)
            statement = select(deliveries).where(due).order_by(deliveries.c.due).limit(limit)
            rows = connection.execute(statement.with_for_update(skip_locked=True)).all()
            if not rows:
                return []
            claim_statement = update(deliveries).where(deliveries.c.id.in_([row.id for row in rows]))
            connection.execute(claim_statement.values(due=now + seconds, attempts=deliveries.c.attempts + 1))
            query = select(*_WEBHOOK).where(webhooks.c.id.in_({row.webhook for row in rows}))
            webhooks_by_id = {row.id: _webhook(row) for row in connection.execute(query)}
            claimed = (_delivery(row, attempts=row.attempts + 1, due=now + seconds) for row in rows)
            return [
                (delivery, webhooks_by_id[delivery.webhook])
                for delivery in claimed
                if delivery.webhook in webhooks_by_id
            ]

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
        statement = select(deliveries).where(deliveries.c.webhook == webhook)
        statement = statement.order_by(deliveries.c.created.desc(), deliveries.c.id).limit(limit)
        return [_delivery(row) for row in await self._transactions.rows(statement)]

    async def drop_settled(self, seconds: float) -> int:
        def drop(connection: Connection, now: float) -> int:
            oldest = now - seconds
            settled = and_(deliveries.c.created < oldest, deliveries.c.state != "waiting")
            dropped = connection.execute(delete(deliveries).where(settled)).rowcount
            has_deliveries = exists().where(deliveries.c.webhook == webhooks.c.id)
            finished = and_(webhooks.c.run != "", webhooks.c.created < oldest, _all_events_noted(), ~has_deliveries)
            connection.execute(delete(webhooks).where(finished))
            return dropped

        return await self._transactions.write_at(drop)


def drop_webhooks_of(connection: Connection, owner: str) -> None:
    """Delete all webhooks of an owner."""
    his = select(webhooks.c.id).where(webhooks.c.owner == owner)
    connection.execute(delete(deliveries).where(deliveries.c.webhook.in_(his)))
    connection.execute(delete(webhooks).where(webhooks.c.owner == owner))


def add_for_run(connection: Connection, webhook: Webhook, run_id: str, now: float) -> None:
    """Store a webhook for a run that is created in this transaction."""
    run_webhook = msgspec.structs.replace(webhook, run=run_id, created=now)
    connection.execute(_ADD, _row(run_webhook) | {"after": 0})


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
    subscribers = (
        select(webhooks.c.owner, func.min(webhooks.c.after).label("after"))
        .where(webhooks.c.disabled == "", webhooks.c.run == "")
        .group_by(webhooks.c.owner)
        .subquery()
    )
    last_seen = func.coalesce(heard.c.seq, 0)
    unsent = (
        select(runs.c.number, runs.c.run_id, runs.c.owner, runs.c.status, runs.c.last_seq, last_seen.label("seen"))
        .join(heard, heard.c.run == runs.c.number, isouter=True)
        .where(runs.c.status.in_(SETTLED), runs.c.last_seq > last_seen)
    )
    of_owners = unsent.join(subscribers, subscribers.c.owner == runs.c.owner).where(
        or_(heard.c.run.is_not(None), runs.c.number > subscribers.c.after)
    )
    of_runs = unsent.join(webhooks, webhooks.c.run == runs.c.run_id).where(webhooks.c.disabled == "")
    statement = union(of_owners, of_runs).order_by("number").limit(limit)
    return [
        NewEvents(
            number=row.number,
            run_id=row.run_id,
            owner=row.owner,
            status=row.status,
            last_seq=row.last_seq,
            events=_new_events(connection, row.number, row.seen, row.last_seq, types),
        )
        for row in connection.execute(statement).all()
    ]


def _new_events(
    connection: Connection, run: int, after: int, last: int, types: Collection[str]
) -> tuple[NewEvent, ...]:
    statement = (
        select(events.c.seq, events.c.type, events.c.at, events.c.data)
        .where(events.c.run == run, events.c.seq > after, events.c.seq <= last, events.c.type.in_(types))
        .order_by(events.c.seq)
    )
    return tuple(NewEvent(**row._asdict()) for row in connection.execute(statement))


def _row(record: Webhook | Delivery) -> dict[str, Any]:
    row = msgspec.structs.asdict(record)
    return row | ({"events": list(record.events)} if isinstance(record, Webhook) else {})


def _webhook(row: Row[Any]) -> Webhook:
    return Webhook(**row._asdict() | {"events": tuple(row.events)})


def _delivery(row: Row[Any], **changes: object) -> Delivery:
    return Delivery(**row._asdict() | changes)
