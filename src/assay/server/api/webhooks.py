"""Webhooks: addresses of a user that receive the outcomes of the user's runs and schedules."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from assay.core.ports.webhooks import Delivery, DeliveryState, Webhook
from assay.server.api.run_requests import RequestBody
from assay.server.wire import Endpoints, RouteCall
from assay.services.webhooks import EVENTS, WebhookEvent, Webhooks

routes = Endpoints("webhooks")

SHOWN = 100
"""Deliveries that are shown."""


class WebhookWanted(RequestBody, frozen=True, kw_only=True):
    """An address, and the events it receives; by default all."""

    url: str
    events: tuple[WebhookEvent, ...] = EVENTS


class WhichWebhooks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Webhooks for all the user's runs, or the one of a `run`."""

    run: str = ""


class WebhookShown(msgspec.Struct, frozen=True, kw_only=True):
    """A webhook without its secret; `disabled` says why it receives nothing any more, empty while it does.

    `run` is the one run it is for, empty for all of the user's runs.
    """

    id: str
    url: str
    events: tuple[str, ...]
    created_at: str
    disabled: str
    run: str


class WebhookMade(msgspec.Struct, frozen=True, kw_only=True):
    """A new webhook. Its `secret`, for verifying messages, is shown only this once."""

    webhook: WebhookShown
    secret: str


class WebhookList(msgspec.Struct, frozen=True, kw_only=True):
    """The user's webhooks, in the order they were made."""

    webhooks: tuple[WebhookShown, ...]


class DeliveryShown(msgspec.Struct, frozen=True, kw_only=True):
    """A message to a webhook, sent or waiting: `id` is `webhook-id`, `status` the last HTTP status, 0 for none.

    `error` is a word: refused, timeout, unreachable, blocked, gone. `next_at` is when it is sent again.
    """

    id: str
    type: str
    state: DeliveryState
    attempts: int
    status: int
    error: str
    created_at: str
    next_at: str


class DeliveryList(msgspec.Struct, frozen=True, kw_only=True):
    """The last 100 deliveries, newest first; those that do not wait any more are kept for a week."""

    deliveries: tuple[DeliveryShown, ...]


@routes.get("/webhooks")
async def list_webhooks(call: RouteCall, query: WhichWebhooks) -> WebhookList:
    """List the user's webhooks, or with `run` the one of that run; without their secrets."""
    run = (await call.assay.find(query.run)).run_id if query.run else ""
    return WebhookList(webhooks=tuple(map(_shown, await _webhooks(call).all(call.owner, run))))


@routes.post("/webhooks", status=201)
async def add_webhook(call: RouteCall, body: WebhookWanted) -> WebhookMade:
    """Send events to an address from now on; its secret is shown only this once."""
    made = await _webhooks(call).add(call.owner, body.url, body.events)
    call.about(made.id)
    return WebhookMade(webhook=_shown(made), secret=made.secret)


@routes.get("/webhooks/{webhook}")
async def show_webhook(call: RouteCall, webhook: str) -> WebhookShown:
    """Show a webhook."""
    return _shown(await _webhooks(call).find(call.owner, webhook))


@routes.delete("/webhooks/{webhook}", status=204)
async def remove_webhook(call: RouteCall, webhook: str) -> None:
    """Stop sending to an address, including waiting messages."""
    await _webhooks(call).remove(call.owner, webhook)


@routes.get("/webhooks/{webhook}/deliveries")
async def list_deliveries(call: RouteCall, webhook: str) -> DeliveryList:
    """List sent and waiting messages of a webhook."""
    found = await _webhooks(call).deliveries(call.owner, webhook, SHOWN)
    return DeliveryList(deliveries=tuple(map(_delivery, found)))


def _webhooks(call: RouteCall) -> Webhooks:
    return call.backend.assay.webhooks


def _shown(webhook: Webhook) -> WebhookShown:
    return WebhookShown(
        id=webhook.id,
        url=webhook.url,
        events=webhook.events,
        created_at=_iso(webhook.created),
        disabled=webhook.disabled,
        run=webhook.run,
    )


def _delivery(delivery: Delivery) -> DeliveryShown:
    return DeliveryShown(
        id=delivery.id,
        type=delivery.type,
        state=delivery.state,
        attempts=delivery.attempts,
        status=delivery.status,
        error=delivery.error,
        created_at=_iso(delivery.created),
        next_at=_iso(delivery.due) if delivery.state == "waiting" else "",
    )


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
