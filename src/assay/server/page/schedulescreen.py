"""Schedules: questions that the server asks repeatedly, and the reports that answered them."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from assay.core.errors import AssayError, UnknownName
from assay.core.ports import RunStatus
from assay.server.api import schedules
from assay.server.page.forms import PageForm, read_form, run_wanted
from assay.server.page.templates_environment import go_to, screen
from assay.server.problems import Refusal, problem_of
from assay.server.wire import RouteCall
from assay.services.schedules import format_interval

LATEST = 3
OFTEN = ("daily", "weekly", "12h", "2w", "4w")
"""Suggested intervals; any other can be typed."""


class ScheduledRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run of a schedule, and its state."""

    id: str
    status: RunStatus
    created_at: str


class ScheduleEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule on the screen: its interval, and its last runs, latest first."""

    schedule: schedules.ScheduleShown
    every: str
    outcomes: tuple[ScheduledRun, ...]
    current: ScheduledRun | None


async def list_schedules(call: RouteCall) -> Response:
    """The schedules, and the form for a new one."""
    return await _schedules(call, PageForm({}))


async def add_schedule(call: RouteCall) -> Response:
    """Have the server ask a question repeatedly."""
    form = await read_form(call.request)
    try:
        wanted = schedules.ScheduleWanted(every=form.text("every"), run=run_wanted(form))
        await schedules.add_schedule(call, wanted)
    except (Refusal, AssayError) as error:
        return await _schedules(call, form, error)
    return go_to("/schedules")


async def remove_schedule(call: RouteCall, schedule: str) -> Response:
    """Delete a schedule; the runs that answered it stay."""
    await schedules.remove_schedule(call, schedule)
    return go_to("/schedules")


async def make_feed(call: RouteCall, schedule: str) -> Response:
    """Create a feed, and show its address, only this once."""
    try:
        made = await schedules.open_schedule_feed(call, schedule)
    except (Refusal, AssayError) as error:
        return await _schedules(call, PageForm({}), error)
    return await _schedules(call, PageForm({}), link=made.url, linked=schedule)


async def close_feed(call: RouteCall, schedule: str) -> Response:
    """Revoke the address of a feed."""
    await schedules.close_schedule_feed(call, schedule)
    return go_to("/schedules")


async def _schedules(
    call: RouteCall, form: PageForm, fault: Refusal | AssayError | None = None, *, link: str = "", linked: str = ""
) -> Response:
    problem = fault.problem if isinstance(fault, Refusal) else problem_of(fault) if fault else None
    found = (await schedules.list_schedules(call)).schedules
    return screen(
        call,
        "schedules.html",
        section="runs",
        status=problem.status if problem else 200,
        secret=bool(link),
        link=link,
        linked=linked,
        sharing=call.backend.settings.server.shares,
        fault=(problem.detail or problem.title) if problem else "",
        entries=[await _entry(call, each) for each in found],
        collections=[row for row in await call.assay.collections() if row.documents],
        often=OFTEN,
        form=form,
    )


async def _entry(call: RouteCall, schedule: schedules.ScheduleShown) -> ScheduleEntry:
    latest = [await _outcome(call, run) for run in schedule.runs[: -LATEST - 1 : -1]]
    return ScheduleEntry(
        schedule=schedule,
        every=format_interval(schedule.every),
        outcomes=tuple(each for each in latest if each is not None),
        current=await _outcome(call, schedule.current) if schedule.current else None,
    )


async def _outcome(call: RouteCall, run: str) -> ScheduledRun | None:
    """The state of a run; None if it was deleted."""
    try:
        row = await call.assay.find(run)
    except UnknownName:
        return None
    return ScheduledRun(id=row.run_id, status=row.status, created_at=row.created_at)
