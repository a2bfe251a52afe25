"""Schedules: questions that the server asks repeatedly."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast

import msgspec

from assay.core.errors import NotBuilt
from assay.core.run_options import RunOptions
from assay.server.api.run_requests import RequestBody, RunWanted, options_of, sources_of
from assay.server.wire import Endpoints, RouteCall
from assay.services.schedules import Schedule, ScheduleBook, read_every
from assay.services.schedules.book import lasting, lasting_sources

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
        RunOptions, {name: value for name, value in options_of(body.run).items() if value not in (None, (), {})}
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
