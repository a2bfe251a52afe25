"""Asks due questions: a run for each, and how its report differs from the one before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timedelta
from typing import cast

import msgspec

from assay.core.allowance import OwnerLimits
from assay.core.assurance import report_state
from assay.core.difference import Difference, difference
from assay.core.errors import AssayError, LeaseHeld, StoreError, UnknownName
from assay.core.ports import FINAL
from assay.core.report import build_report
from assay.core.run_options import RunOptions
from assay.core.view import RunView
from assay.services.ports import Researcher
from assay.services.results import RunHandle
from assay.services.schedules import KEPT_RUNS, Schedule, ScheduleBook, format_time

FollowRun = Callable[[Schedule, RunHandle], Awaitable[RunView]]
"""Shows a run while it is active, and returns its result."""


class DueOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a due schedule: the run, and what changed since the one before, if there is one.

    `error` says why there is no run, or no report.
    """

    schedule: Schedule
    view: RunView | None = None
    changes: Difference | None = None
    error: str = ""


def is_due(schedule: Schedule, now: datetime) -> bool:
    """True if its time has come, or is so far ahead that it was set before the clock was set back."""
    due, every = datetime.fromisoformat(schedule.next_at), timedelta(seconds=schedule.every)
    return not now < due <= now + 2 * every


def next_due(schedule: Schedule, now: datetime) -> str:
    """When it is due again: in its own rhythm, without making up for missed times; after the clock was set back in a
    new one.
    """
    due, every = datetime.fromisoformat(schedule.next_at), timedelta(seconds=schedule.every)
    if due > now:
        return format_time(now + every)
    return format_time(due + ((now - due) // every + 1) * every)


async def run_due(
    assay: Researcher,
    book: ScheduleBook,
    now: Callable[[], datetime],
    follow: FollowRun,
    limits: Callable[[str], OwnerLimits | None] = lambda _owner: None,
) -> AsyncIterator[DueOutcome]:
    """Ask every due question, one after another, each as its owner; one that another process asks now is left to it.

    A run left by a killed process is resumed. One that waits for a person is asked again when it is due. `limits`
    return an owner's limits, None for those in the settings.

    Raises:
        StoreError: the home cannot be written.
    """
    for entry in await asyncio.to_thread(book.all):
        with book.claim(entry.id) as mine:
            try:
                schedule = await asyncio.to_thread(book.find, entry.id) if mine else None
                outcome = None
                if schedule is not None and (schedule.current or is_due(schedule, now())):
                    owner_assay = assay.owned_by(schedule.owner, limits(schedule.owner))
                    outcome = await _ask(owner_assay, book, schedule, now(), follow)
            except UnknownName:  # removed meanwhile, perhaps while its question was asked
                outcome = None
            if outcome is not None:
                yield outcome


async def _ask(
    assay: Researcher, book: ScheduleBook, schedule: Schedule, now: datetime, follow: FollowRun
) -> DueOutcome | None:
    """Ask the question, or resume its interrupted run; None if that is not due either."""
    try:
        handle = await _resume_current(assay, schedule)
        if handle is None:
            if not is_due(schedule, now):
                return None
            handle = _start(assay, book, schedule)
        view = await follow(schedule, handle)
    except LeaseHeld:
        return None  # somebody continues it by hand
    except StoreError:
        raise
    except AssayError as error:

        def failed(old: Schedule) -> Schedule:
            return msgspec.structs.replace(old, current="", next_at=_next_time(old, now))

        await asyncio.to_thread(book.change, schedule.id, failed)
        return DueOutcome(schedule=schedule, error=str(error))
    return await _record_run(assay, book, schedule, view, now)


async def _resume_current(assay: Researcher, schedule: Schedule) -> RunHandle | None:
    """Resume the run that an earlier process left; None if there is none."""
    if not schedule.current:
        return None
    try:
        row = await assay.find(schedule.current)
    except UnknownName:
        return None
    if row.status == "waiting" and not await assay.is_answered(row.run_id):
        return None
    if row.status == "paused":
        return None
    return await assay.resume(row.run_id)


def _start(assay: Researcher, book: ScheduleBook, schedule: Schedule) -> RunHandle:
    """Start a run, recorded before it is stored. The question stays due until it is answered."""
    handle = assay.start(schedule.question, sources=schedule.sources, **cast("RunOptions", dict(schedule.options)))
    # not in a thread: after an await part of the run could be stored
    book.change(schedule.id, lambda old: msgspec.structs.replace(old, current=handle.run_id))
    return handle


def _next_time(schedule: Schedule, now: datetime) -> str:
    """When it is due after it was asked."""
    return next_due(schedule, now) if is_due(schedule, now) else schedule.next_at


async def _record_run(
    assay: Researcher, book: ScheduleBook, schedule: Schedule, view: RunView, now: datetime
) -> DueOutcome:
    """Record the run, and return what changed."""
    has_report = view.status == "completed" and report_state(view) != "none"
    changes = await _changes(assay, schedule, view) if has_report else None

    def with_run(old: Schedule) -> Schedule:
        runs = (*old.runs, view.run_id)[-KEPT_RUNS:] if has_report else old.runs
        current = "" if view.status in FINAL else view.run_id
        return msgspec.structs.replace(old, current=current, runs=runs, next_at=_next_time(old, now))

    await asyncio.to_thread(book.change, schedule.id, with_run)
    return DueOutcome(schedule=schedule, view=view, changes=changes, error=view.error)


async def _changes(assay: Researcher, schedule: Schedule, view: RunView) -> Difference | None:
    """How the report differs from the one before; None if that is gone, or there was none."""
    if not schedule.last:
        return None
    try:
        before = await assay.view(schedule.last)
    except UnknownName:
        return None
    return difference(build_report(before, "none"), build_report(view, "none"))
