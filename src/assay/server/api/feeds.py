"""Feeds of schedules: what changed between reports, for anyone with the address."""

from __future__ import annotations

import asyncio

import msgspec
from starlette.responses import Response

from assay.core.sources import sha256
from assay.export.atom import MEDIA, AtomFeed, FeedEntry, atom
from assay.server.api.schedules import book_of
from assay.server.problems import refusal
from assay.server.wire import Endpoints, RouteCall
from assay.services.schedules import Schedule, ScheduleBook
from assay.services.schedules.feeds import PATH, close_feed, feed_entries, open_feed, schedule_of

routes = Endpoints("schedules")
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
