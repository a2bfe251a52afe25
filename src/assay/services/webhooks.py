"""Webhooks: addresses that receive the outcomes of runs and schedules, signed as Standard Webhooks, with retries.

Messages contain names, ids and states; the API has the rest. (https://www.standardwebhooks.com, 1.0)
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import logging
import random
import secrets
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Literal, get_args

import msgspec

from assay.core.errors import FetchFailed, StoreError, UnknownName, UsageError
from assay.core.events import RunCancelled, RunCompleted, RunFailed, RunWaiting
from assay.core.ports import Journal
from assay.core.ports.webhooks import Delivery, NewEvent, NewEvents, Poster, Webhook, WebhookStore
from assay.run.tasks import Tasks, loop_listener, run_together, wait_for_event

WebhookEvent = Literal["run.finished", "run.failed", "run.cancelled", "run.waiting", "schedule.finished"]
RunWebhookEvent = Literal["run.finished", "run.failed", "run.cancelled", "run.waiting"]
EVENTS: tuple[WebhookEvent, ...] = get_args(WebhookEvent)
RUN_EVENTS: tuple[RunWebhookEvent, ...] = get_args(RunWebhookEvent)

EVENT_NAMES: dict[str, WebhookEvent] = {
    RunCompleted.kind: "run.finished",
    RunFailed.kind: "run.failed",
    RunCancelled.kind: "run.cancelled",
    RunWaiting.kind: "run.waiting",
}
"""The events of runs that webhooks receive."""
MAX_WEBHOOKS = 20
"""Webhooks of one user."""
PREFIX = "whsec_"
SECRET_BYTES = 32
SECRET_LENGTHS = range(24, 65)
"""Allowed lengths of a Standard Webhooks secret in bytes."""


class RunOutcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="object", tag="run"):
    """The outcome of a run. `topic` is what it waits for, `stop_reason` how it ended, `verified` whether its claims
    hold.
    """

    id: str
    status: str
    url: str
    topic: str = ""
    stop_reason: str = ""
    verified: bool | None = None


class ScheduleOutcome(msgspec.Struct, frozen=True, kw_only=True, tag_field="object", tag="schedule"):
    """The outcome of a due schedule: its run, "" if there is none, and how that ended."""

    id: str
    run: str
    status: str
    url: str


class WebhookMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message to a webhook. `created_at` is in seconds since 1970, `timestamp` the same as ISO 8601."""

    id: str
    object: Literal["event"] = "event"
    type: str
    created_at: int
    timestamp: str
    data: RunOutcome | ScheduleOutcome


class _EventFacts(msgspec.Struct, frozen=True):
    """The part of events that is read: nothing that repeats what was asked, read or written."""

    topic: str = ""
    stop_reason: str = ""
    verified: bool | None = None


class Webhooks:
    """The webhooks of the users of a home."""

    def __init__(self, store: WebhookStore, poster: Poster) -> None:
        self._store, self._poster = store, poster

    async def add(self, owner: str, url: str, events: Sequence[WebhookEvent] = EVENTS) -> Webhook:
        """Create a webhook; return it with its secret, which is never shown again.

        Raises:
            UsageError: the address is not valid, or the user has too many webhooks.
        """
        if len(await self.all(owner)) >= MAX_WEBHOOKS:
            raise UsageError(f"a user has at most {MAX_WEBHOOKS} webhooks: remove one first")
        secret = PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()
        return await self._store.add(await self._check(owner, url, secret, events))

    async def make_for_run(self, owner: str, url: str, secret: str, events: Sequence[RunWebhookEvent]) -> Webhook:
        """Make a webhook for a run that is yet to be created and will store it (`Assay.create`).

        Raises:
            UsageError: the address is not valid, or the secret does not follow Standard Webhooks.
        """
        _check_secret(secret)
        return await self._check(owner, url, secret, events)

    async def _check(self, owner: str, url: str, secret: str, events: Sequence[str]) -> Webhook:
        if not events:
            raise UsageError(f"name one or more events of a webhook: {', '.join(EVENTS)}")
        try:
            await self._poster.check_address(url)
        except FetchFailed as error:
            raise UsageError(
                f"the address cannot be a webhook ({error}): give one that begins with https:// and is public"
            ) from error
        id, kinds = f"wh_{secrets.token_hex(8)}", tuple(dict.fromkeys(events))
        return Webhook(id=id, owner=owner, url=url, secret=secret, events=kinds)

    async def all(self, owner: str, run: str = "") -> list[Webhook]:
        """The webhooks of a user for all their runs, or for one `run` (its id) only."""
        return await self._store.all(owner, run)

    async def find(self, owner: str, id: str) -> Webhook:
        """One of them.

        Raises:
            UnknownName: the user has no such webhook.
        """
        webhook = await self._store.find(owner, id)
        if webhook is None:
            raise UnknownName("webhook", id, (other.id for other in await self.all(owner)))
        return webhook

    async def remove(self, owner: str, id: str) -> None:
        """Delete one of them, with its waiting messages.

        Raises:
            UnknownName: the user has no such webhook.
        """
        if not await self._store.remove(owner, id):
            await self.find(owner, id)

    async def deliveries(self, owner: str, id: str, limit: int) -> list[Delivery]:
        """The messages of one of them, sent or waiting, newest first.

        Raises:
            UnknownName: the user has no such webhook.
        """
        return await self._store.deliveries((await self.find(owner, id)).id, limit)

    async def schedule_finished(self, owner: str, schedule: str, run: str, status: str) -> None:
        """Queue messages about the outcome of a schedule; a repetition for the same run is sent once."""
        now = datetime.now(UTC)
        key = run or now.isoformat()
        news = ScheduleOutcome(id=schedule, run=run, status=status, url=f"/api/v1/runs/{run}" if run else "")
        kind: WebhookEvent = "schedule.finished"
        deliveries = [
            _delivery(webhook, kind, now, news, schedule, key)
            for webhook in await self._store.all(owner)
            if kind in webhook.events and not webhook.disabled
        ]
        await self._store.record_deliveries({}, deliveries)


def _check_secret(secret: str) -> None:
    """Raise UsageError if a secret does not follow Standard Webhooks, without repeating it."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except ValueError:
        key = b""
    if not secret.startswith(PREFIX) or len(key) not in SECRET_LENGTHS:
        raise UsageError(
            f"the secret of a webhook is {PREFIX} and then 24 to 64 random bytes in Base64: make one with "
            f'`echo "{PREFIX}$(openssl rand -base64 32)"`'
        )


def deliveries_of(news: NewEvents, webhooks: Iterable[Webhook]) -> list[Delivery]:
    """The messages for a run owner's webhooks about new events; equal events give equal ids."""
    return [
        _delivery(webhook, kind, event_time, _run_news(news, event), news.run_id, str(event.seq))
        for event in news.events
        for webhook in webhooks
        if webhook.owner == news.owner
        and webhook.run in ("", news.run_id)
        and not webhook.disabled
        and (kind := EVENT_NAMES[event.type]) in webhook.events
        and (event_time := datetime.fromisoformat(event.at)).timestamp() >= webhook.created - 1  # clocks differ
    ]


def _run_news(news: NewEvents, event: NewEvent) -> RunOutcome:
    facts = msgspec.json.decode(event.data, type=_EventFacts)
    statuses = {"run.finished": "completed"}
    kind = EVENT_NAMES[event.type]
    return RunOutcome(
        id=news.run_id,
        status=statuses.get(kind, kind.removeprefix("run.")),
        url=f"/api/v1/runs/{news.run_id}",
        topic=facts.topic,
        stop_reason=facts.stop_reason,
        verified=facts.verified,
    )


def _delivery(
    webhook: Webhook, kind: WebhookEvent, event_time: datetime, news: RunOutcome | ScheduleOutcome, *key: str
) -> Delivery:
    digest = hashlib.sha256("\0".join((webhook.id, kind, *key)).encode()).hexdigest()
    message = WebhookMessage(
        id=f"evt_{digest[:32]}",
        type=kind,
        created_at=int(event_time.timestamp()),
        timestamp=event_time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        data=news,
    )
    return Delivery(id=message.id, webhook=webhook.id, type=kind, body=msgspec.json.encode(message))


def signed_headers(delivery: Delivery, secret: str, now: float) -> dict[str, str]:
    """The headers that prove a message's origin: HMAC-SHA256 over its id, the time it is sent, and its body."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    content = f"{delivery.id}.{int(now)}.".encode() + delivery.body
    signature = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    return {
        "Content-Type": "application/json",
        "webhook-id": delivery.id,
        "webhook-timestamp": str(int(now)),
        "webhook-signature": f"v1,{signature}",
    }


# Sending: new events are read from the store, stored as deliveries, and sent until they are received.

log = logging.getLogger(__name__)

RETRY_PAUSES = (5.0, 30.0, 120.0, 600.0, 3_600.0, 10_800.0, 28_800.0, 86_400.0)
"""Seconds before a message is sent again, after the first failure, the second and so on; then it has failed."""
JITTER = 0.1
MAX_WAIT_SECONDS = 86_400.0
"""The longest pause that a receiver may ask for."""
CLAIM_SECONDS = 30.0
"""Seconds for which nobody else sends a message that we have claimed; longer than one attempt takes."""
AT_ONCE = 8
LOOK_SECONDS = 2.0
"""Between two looks into the store without notifications."""
REST_SECONDS = 0.25
"""Between two looks while there are always new events."""
RUNS_AT_ONCE = 100
GONE = 410
"""The receiver wants no more messages."""


class WebhookSender:
    """Sends messages to the webhooks of a home, until it is cancelled."""

    def __init__(self, store: WebhookStore, journal: Journal, poster: Poster) -> None:
        """`journal` sees the runs of all."""
        self._store, self._journal, self._poster = store, journal, poster
        self._news = asyncio.Event()
        self._sending: set[asyncio.Task[None]] = set()

    async def work(self) -> None:
        """Look for new events, and send what is due."""
        tasks = Tasks()
        stop = self._journal.listen(loop_listener(lambda _: self._news.set()))
        try:
            while True:
                self._news.clear()
                try:
                    webhooks = await self._store.all()
                    if webhooks:
                        await self._queue_deliveries(webhooks)
                        await self._send(tasks)
                except StoreError as error:
                    log.warning("webhooks: %s; trying again", error)
                    webhooks = []
                await self._pause(heed=bool(webhooks))
        finally:
            stop()
            await tasks.close()

    async def send_due(self) -> int:
        """Find new events and send everything due now; return how many messages were sent.

        Raises:
            StoreError: the store cannot be read or written.
        """
        webhooks, sent = await self._store.all(), 0
        if webhooks:
            await self._queue_deliveries(webhooks)
            while due := await self._store.claim(AT_ONCE, CLAIM_SECONDS):
                await run_together(*(self._attempt(delivery, webhook) for delivery, webhook in due))
                sent += len(due)
        return sent

    async def _pause(self, *, heed: bool) -> None:
        await asyncio.sleep(REST_SECONDS)
        if heed:
            await wait_for_event(self._news, LOOK_SECONDS)
        else:  # without receivers, active runs are not news
            await asyncio.sleep(LOOK_SECONDS)

    async def _queue_deliveries(self, webhooks: Sequence[Webhook]) -> None:
        while batch := await self._store.unsent_events(EVENT_NAMES, RUNS_AT_ONCE):
            deliveries = [delivery for news in batch for delivery in deliveries_of(news, webhooks)]
            await self._store.record_deliveries({news.number: news.last_seq for news in batch}, deliveries)
            if len(batch) < RUNS_AT_ONCE:
                return

    async def _send(self, tasks: Tasks) -> None:
        free = AT_ONCE - len(self._sending)
        if free <= 0:
            return
        for delivery, webhook in await self._store.claim(free, CLAIM_SECONDS):
            task = tasks.start(self._attempt(delivery, webhook), f"webhook {webhook.id}")
            self._sending.add(task)
            task.add_done_callback(self._on_done)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._sending.discard(task)
        self._news.set()  # there may be more that is due

    async def _attempt(self, delivery: Delivery, webhook: Webhook) -> None:
        """Make one attempt, and store its outcome."""
        headers = signed_headers(delivery, webhook.secret, time.time())
        try:
            answer = await self._poster.post(webhook.url, headers, delivery.body)
        except FetchFailed as error:
            kind = str(error).partition(":")[0]
            await self._fail(delivery, 0, kind, None, for_good=kind == "blocked")
            return
        if 200 <= answer.status < 300:
            await self._store.record_outcome(delivery.id, "sent", status=answer.status)
        elif answer.status == GONE:
            await self._store.disable(webhook.id, "gone")
        else:
            await self._fail(delivery, answer.status, "refused", answer.retry_after)

    async def _fail(
        self, delivery: Delivery, status: int, error: str, retry_after: float | None, *, for_good: bool = False
    ) -> None:
        if for_good or delivery.attempts > len(RETRY_PAUSES):
            log.warning("webhook %s: %s was not delivered: %s", delivery.webhook, delivery.id, error)
            await self._store.record_outcome(delivery.id, "failed", status=status, error=error)
            return
        wait = RETRY_PAUSES[delivery.attempts - 1] * random.uniform(1.0, 1.0 + JITTER)
        if retry_after is not None:
            wait = max(wait, min(retry_after, MAX_WAIT_SECONDS))
        await self._store.record_outcome(delivery.id, "waiting", status=status, error=error, wait=wait)
