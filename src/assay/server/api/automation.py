"""What goes on without a request: schedules with feeds of what changes, jobs for workers, webhooks for outcomes."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import cast

import msgspec
from starlette.responses import Response

from assay.core.errors import NotBuilt
from assay.core.ports.jobs import Job, JobFilter, JobState
from assay.core.ports.webhooks import Delivery, DeliveryState, Webhook
from assay.core.run_options import RunOptions
from assay.core.sources import sha256
from assay.export.atom import MEDIA, AtomFeed, render_feed
from assay.server.api.documents import hide_upload_paths
from assay.server.api.run_requests import RequestBody, RunWanted, options_of, sources_of
from assay.server.problems import refusal
from assay.server.wire import Endpoints, RouteCall, format_timestamp, struct_from
from assay.services.jobs.specifications import SyncJob
from assay.services.schedules import (
    FEED_PATH,
    Schedule,
    ScheduleBook,
    absolute_sources,
    close_feed,
    feed_entries,
    open_feed,
    parse_interval,
    schedule_of,
    stored_options,
)
from assay.services.webhooks import EVENTS, WebhookEvent, Webhooks

schedule_routes = Endpoints("schedules")


class ScheduleWanted(RequestBody, frozen=True, kw_only=True):
    """A run to start repeatedly: `every` is `12h`, `7d`, `daily`, `weekly`."""

    every: str
    run: RunWanted


class ScheduleShown(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule; `every` is in seconds, times are ISO 8601 UTC, `runs` are those that ended with a report."""

    id: str
    question: str
    every: int
    created_at: str
    next_at: str
    sources: tuple[str, ...] | None
    runs: tuple[str, ...]
    current: str
    has_feed: bool


class ScheduleList(msgspec.Struct, frozen=True, kw_only=True):
    """The schedules, in the order they were made."""

    schedules: tuple[ScheduleShown, ...]


@schedule_routes.get("/schedules")
async def list_schedules(call: RouteCall) -> ScheduleList:
    """List the schedules, and when each is due."""
    return ScheduleList(schedules=tuple(map(_schedule_shown, book_of(call).all())))


@schedule_routes.post("/schedules", status=201)
async def add_schedule(call: RouteCall, body: ScheduleWanted) -> ScheduleShown:
    """Have the server ask a question repeatedly; it is due at once."""
    book, seconds = book_of(call), parse_interval(body.every)
    options = cast(
        "RunOptions", {name: value for name, value in options_of(body.run).items() if value not in (None, (), {})}
    )
    option_texts = stored_options(body.run.question, options, call.backend.settings)
    sources = sources_of(body.run.scope, call.backend.settings)
    stored_sources = absolute_sources(sources) if sources is not None else None
    schedule = book.add(body.run.question, seconds, stored_sources, option_texts, datetime.now(UTC))
    call.set_subject(schedule.id)
    return _schedule_shown(schedule)


@schedule_routes.delete("/schedules/{schedule}", status=204)
async def remove_schedule(call: RouteCall, schedule: str) -> None:
    """Delete a schedule; the runs that answered it stay."""
    book = book_of(call)
    book.remove(book.find(schedule).id)


def book_of(call: RouteCall) -> ScheduleBook:
    """The schedules of the user.

    Raises:
        NotBuilt: everything is in memory, so none can be stored.
    """
    if call.assay.home is None:
        raise NotBuilt("schedules need a home: start the server with one (--home)")
    return ScheduleBook(call.assay.home, call.owner)


def _schedule_shown(schedule: Schedule) -> ScheduleShown:
    return struct_from(ScheduleShown, schedule, has_feed=bool(schedule.feed))


feed_routes = Endpoints("schedules", prefix="")

GONE = "this address leads nowhere: it is no feed, or was made worthless"


class FeedMade(msgspec.Struct, frozen=True, kw_only=True):
    """The address of a feed, shown only this once."""

    url: str


@schedule_routes.post("/schedules/{schedule}/feed", status=201)
async def open_schedule_feed(call: RouteCall, schedule: str) -> FeedMade:
    """Create an Atom feed of a schedule: anyone with its address may read what changes from report to report.

    The address is shown only this once; an earlier one stops working.
    """
    _require_shares(call)
    secret = open_feed(book_of(call), schedule)
    return FeedMade(url=str(call.request.base_url).rstrip("/") + FEED_PATH + secret)


@schedule_routes.delete("/schedules/{schedule}/feed", status=204)
async def close_schedule_feed(call: RouteCall, schedule: str) -> None:
    """Revoke the address of a schedule's feed."""
    close_feed(book_of(call), schedule)


@feed_routes.get(FEED_PATH + "{secret}", scope="", media=(MEDIA,))
async def show_feed(call: RouteCall, secret: str) -> Response:
    """Show the Atom feed of a schedule: an entry for each report, with the changed claims."""
    _require_shares(call)
    home = call.backend.assay_for("").home
    schedule = await asyncio.to_thread(schedule_of, ScheduleBook(home, None), secret) if home is not None else None
    if schedule is None:
        raise refusal("unknown-name", GONE)
    tag = f'W/"{sha256(" ".join((schedule.question, *schedule.runs)).encode())[:20]}"'
    headers = {"ETag": tag, "X-Robots-Tag": "noindex", "Referrer-Policy": "no-referrer"}
    if tag in call.request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    entries = await feed_entries(call.backend.assay_for(schedule.owner), schedule)
    site = str(call.request.base_url).rstrip("/")
    feed = struct_from(AtomFeed, schedule, url=site + FEED_PATH + secret, site=site, entries=entries)
    data = await asyncio.to_thread(render_feed, feed)
    return Response(data, headers=headers, media_type=MEDIA)


def _require_shares(call: RouteCall) -> None:
    if not call.backend.settings.server.shares:
        raise refusal("not-set-up", "feeds are off on this server (setting server.shares)")


# Jobs: long work for workers (`assay worker`).

job_routes = Endpoints("jobs")

MAX_LISTED_JOBS = 100


class JobWanted(RequestBody, frozen=True, kw_only=True):
    """A job to begin: `sync` names a collection whose places to look at again."""

    sync: str


class JobShown(msgspec.Struct, frozen=True, kw_only=True):
    """A job. `seq` counts its updates, `line` is the latest progress message, `finished` of `total` parts are done.

    `stopping` says that it was cancelled and its worker has not stopped yet. `error` says why it failed.
    """

    id: str
    kind: str
    name: str
    state: JobState
    seq: int
    line: str
    finished: int
    total: int
    stopping: bool
    priority: int
    tries: int
    warnings: tuple[str, ...]
    error: str
    created_at: str
    updated_at: str


class JobList(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs, newest first."""

    jobs: tuple[JobShown, ...]


@job_routes.get("/jobs")
async def list_jobs(call: RouteCall) -> JobList:
    """List jobs in progress and those that ended in the last 30 days, newest first."""
    return JobList(jobs=tuple(map(_job_shown, await call.assay.jobs(JobFilter(limit=MAX_LISTED_JOBS)))))


@job_routes.post("/jobs", status=202)
async def begin_job(call: RouteCall, body: JobWanted) -> JobShown:
    """Queue a job that looks again at every place a collection was added from."""
    job = await call.backend.begin_job(call.owner, SyncJob(collection=body.sync))
    call.set_subject(job.id)
    return _job_shown(job)


@job_routes.get("/jobs/{job}")
async def show_job(call: RouteCall, job: str) -> JobShown:
    """Show a job."""
    return _job_shown(await call.assay.job(job))


@job_routes.post("/jobs/{job}/cancel")
async def cancel_job(call: RouteCall, job: str) -> JobShown:
    """End a job: at once if it waits, within seconds if a worker has it. Completed work stays."""
    return _job_shown(await call.assay.cancel_job(job))


@job_routes.post("/jobs/{job}/retry")
async def retry_job(call: RouteCall, job: str) -> JobShown:
    """Queue a failed or cancelled job again; completed work is not repeated."""
    return _job_shown(await call.backend.retry_job(call.owner, job))


def _job_shown(job: Job) -> JobShown:
    warnings = tuple(map(hide_upload_paths, job.result.get("warnings", ())))
    return struct_from(
        JobShown, job, line=hide_upload_paths(job.line), error=hide_upload_paths(job.error), warnings=warnings
    )


# Webhooks: addresses of a user that receive the outcomes of the user's runs and schedules.

webhook_routes = Endpoints("webhooks")

MAX_DELIVERIES = 100
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


@webhook_routes.get("/webhooks")
async def list_webhooks(call: RouteCall, query: WhichWebhooks) -> WebhookList:
    """List the user's webhooks, or with `run` the one of that run; without their secrets."""
    run = (await call.assay.find(query.run)).run_id if query.run else ""
    return WebhookList(webhooks=tuple(map(_webhook_shown, await _webhooks(call).all(call.owner, run))))


@webhook_routes.post("/webhooks", status=201)
async def add_webhook(call: RouteCall, body: WebhookWanted) -> WebhookMade:
    """Send events to an address from now on; its secret is shown only this once."""
    webhook = await _webhooks(call).add(call.owner, body.url, body.events)
    call.set_subject(webhook.id)
    return WebhookMade(webhook=_webhook_shown(webhook), secret=webhook.secret)


@webhook_routes.get("/webhooks/{webhook}")
async def show_webhook(call: RouteCall, webhook: str) -> WebhookShown:
    """Show a webhook."""
    return _webhook_shown(await _webhooks(call).find(call.owner, webhook))


@webhook_routes.delete("/webhooks/{webhook}", status=204)
async def remove_webhook(call: RouteCall, webhook: str) -> None:
    """Stop sending to an address, including waiting messages."""
    await _webhooks(call).remove(call.owner, webhook)


@webhook_routes.get("/webhooks/{webhook}/deliveries")
async def list_deliveries(call: RouteCall, webhook: str) -> DeliveryList:
    """List sent and waiting messages of a webhook."""
    deliveries = await _webhooks(call).deliveries(call.owner, webhook, MAX_DELIVERIES)
    return DeliveryList(deliveries=tuple(map(_delivery, deliveries)))


def _webhooks(call: RouteCall) -> Webhooks:
    return call.backend.assay.webhooks


def _webhook_shown(webhook: Webhook) -> WebhookShown:
    return struct_from(WebhookShown, webhook, created_at=format_timestamp(webhook.created))


def _delivery(delivery: Delivery) -> DeliveryShown:
    next_at = format_timestamp(delivery.due) if delivery.state == "waiting" else ""
    return struct_from(DeliveryShown, delivery, created_at=format_timestamp(delivery.created), next_at=next_at)
