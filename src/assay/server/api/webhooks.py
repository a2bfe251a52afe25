"""Webhooks: addresses of one's own which are told how one's runs and schedules went."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from assay.core.ports.webhooks import Delivery, DeliveryState, Webhook
from assay.server.api.run_requests import RequestBody
from assay.server.wire import Endpoints, RouteCall
from assay.services.webhooks import EVENTS, WebhookEvent, Webhooks

routes = Endpoints("webhooks")

SHOWN = 100
"""Deliveries which are shown."""


class WebhookWanted(RequestBody, frozen=True, kw_only=True):
    """An address, and of which events it is told; of all, where nothing is said."""

    url: str
    events: tuple[WebhookEvent, ...] = EVENTS


class WhichWebhooks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Those which are told of all one's runs, or the one of a `run`."""

    run: str = ""


class WebhookShown(msgspec.Struct, frozen=True, kw_only=True):
    """A webhook without its secret; `disabled` says why it is told nothing any more, empty while it is.

    `run` is the one run it is told of, empty for all of one's runs.
    """

    id: str
    url: str
    events: tuple[str, ...]
    created_at: str
    disabled: str
    run: str


class WebhookMade(msgspec.Struct, frozen=True, kw_only=True):
    """A new webhook. Its `secret`, by which messages are verified, is told this once, and never again."""

    webhook: WebhookShown
    secret: str


class WebhookList(msgspec.Struct, frozen=True, kw_only=True):
    """One's webhooks, in the order of making."""

    webhooks: tuple[WebhookShown, ...]


class DeliveryShown(msgspec.Struct, frozen=True, kw_only=True):
    """What a webhook was told, or is to be: `id` is `webhook-id`, `status` the last HTTP status, 0 for none.

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
    """The last 100 deliveries, the newest first; those which wait no more are kept for a week."""

    deliveries: tuple[DeliveryShown, ...]


@routes.get("/webhooks")
async def list_webhooks(call: RouteCall, query: WhichWebhooks) -> WebhookList:
    """List one's webhooks, or with `run` the one which that run was begun with; without their secrets."""
    run = (await call.assay.find(query.run)).run_id if query.run else ""
    return WebhookList(webhooks=tuple(map(_shown, await _webhooks(call).all(call.owner, run))))


@routes.post("/webhooks", status=201)
async def add_webhook(call: RouteCall, body: WebhookWanted) -> WebhookMade:
    """Have an address told of what happens from now on; its secret is told this once."""
    made = await _webhooks(call).add(call.owner, body.url, body.events)
    call.about(made.id)
    return WebhookMade(webhook=_shown(made), secret=made.secret)


@routes.get("/webhooks/{webhook}")
async def show_webhook(call: RouteCall, webhook: str) -> WebhookShown:
    """Show a webhook."""
    return _shown(await _webhooks(call).find(call.owner, webhook))


@routes.delete("/webhooks/{webhook}", status=204)
async def remove_webhook(call: RouteCall, webhook: str) -> None:
    """Tell an address nothing any more, also not what waits."""
    await _webhooks(call).remove(call.owner, webhook)


@routes.get("/webhooks/{webhook}/deliveries")
async def list_deliveries(call: RouteCall, webhook: str) -> DeliveryList:
    """List what a webhook was told, and what waits to be."""
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
