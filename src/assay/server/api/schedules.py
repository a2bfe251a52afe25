"""Schedules: questions that the server asks repeatedly, and feeds of what changed between their reports."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import cast

import msgspec
from starlette.responses import Response

from assay.core.errors import NotBuilt
from assay.core.run_options import RunOptions
from assay.core.sources import sha256
from assay.export.atom import MEDIA, AtomFeed, FeedEntry, atom
from assay.server.api.run_requests import RequestBody, RunWanted, options_of, sources_of
from assay.server.problems import refusal
from assay.server.wire import Endpoints, RouteCall
from assay.services.schedules import (
    PATH,
    Schedule,
    ScheduleBook,
    close_feed,
    feed_entries,
    lasting,
    lasting_sources,
    open_feed,
    read_every,
    schedule_of,
)

routes = Endpoints("schedules")


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


@routes.get("/schedules")
async def list_schedules(call: RouteCall) -> ScheduleList:
    """List the schedules, and when each is due."""
    return ScheduleList(schedules=tuple(map(_shown, book_of(call).all())))


@routes.post("/schedules", status=201)
async def add_schedule(call: RouteCall, body: ScheduleWanted) -> ScheduleShown:
    """Have the server ask a question repeatedly; it is due at once."""
    book, seconds = book_of(call), read_every(body.every)
    wanted = cast(
        "RunOptions", {name: value for name, value in options_of(body.run).items() if value not in (None, (), {})}
    )
    kept = lasting(body.run.question, wanted, call.backend.settings)
    sources = sources_of(body.run.scope, call.backend.settings)
    named = lasting_sources(sources) if sources is not None else None
    made = book.add(body.run.question, seconds, named, kept, datetime.now(UTC))
    call.about(made.id)
    return _shown(made)


@routes.delete("/schedules/{schedule}", status=204)
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


def _shown(schedule: Schedule) -> ScheduleShown:
    return ScheduleShown(
        id=schedule.id,
        question=schedule.question,
        every=schedule.every,
        created_at=schedule.created_at,
        next_at=schedule.next_at,
        sources=schedule.sources,
        runs=schedule.runs,
        current=schedule.current,
        has_feed=bool(schedule.feed),
    )


public = Endpoints("schedules", prefix="")

GONE = "this address leads nowhere: it is no feed, or was made worthless"


class FeedMade(msgspec.Struct, frozen=True, kw_only=True):
    """The address of a feed, shown only this once."""

    url: str


@routes.post("/schedules/{schedule}/feed", status=201)
async def open_schedule_feed(call: RouteCall, schedule: str) -> FeedMade:
    """Create an Atom feed of a schedule: anyone with its address may read what changes from report to report.

    The address is shown only this once; an earlier one stops working.
    """
    _allowed(call)
    secret = open_feed(book_of(call), schedule)
    return FeedMade(url=str(call.request.base_url).rstrip("/") + PATH + secret)


@routes.delete("/schedules/{schedule}/feed", status=204)
async def close_schedule_feed(call: RouteCall, schedule: str) -> None:
    """Revoke the address of a schedule's feed."""
    close_feed(book_of(call), schedule)


@public.get(PATH + "{secret}", scope="", media=(MEDIA,))
async def show_feed(call: RouteCall, secret: str) -> Response:
    """Show the Atom feed of a schedule: an entry for each report, with the changed claims."""
    _allowed(call)
    home = call.backend.engine("").home
    found = await asyncio.to_thread(schedule_of, ScheduleBook(home, None), secret) if home is not None else None
    if found is None:
        raise refusal("unknown-name", GONE)
    tag = f'W/"{sha256(" ".join((found.question, *found.runs)).encode())[:20]}"'
    headers = {"ETag": tag, "X-Robots-Tag": "noindex", "Referrer-Policy": "no-referrer"}
    if tag in call.request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    entries = await feed_entries(call.backend.engine(found.owner), found)
    site = str(call.request.base_url).rstrip("/")
    data = await asyncio.to_thread(_written, found, entries, site, site + PATH + secret)
    return Response(data, headers=headers, media_type=MEDIA)


def _written(schedule: Schedule, entries: tuple[FeedEntry, ...], site: str, url: str) -> bytes:
    return atom(
        AtomFeed(
            id=schedule.id,
            question=schedule.question,
            created_at=schedule.created_at,
            url=url,
            site=site,
            entries=entries,
        )
    )


def _allowed(call: RouteCall) -> None:
    """Refuse if sharing is off."""
    if not call.backend.settings.server.shares:
        raise refusal("not-set-up", "feeds are off on this server (setting server.shares)")
