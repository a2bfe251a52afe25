"""The first screen: a question, where to search for its answer, and the latest runs; and questions asked repeatedly."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from starlette.responses import Response

from assay.core.brief import ROLES, Estimate
from assay.core.errors import AssayError, UnknownName
from assay.core.ports import RunStatus
from assay.core.ports.lists import CELL_OF
from assay.core.ports.models import BUILT_IN
from assay.core.translation import N_
from assay.plugins import names
from assay.server.api import automation, reports, runs
from assay.server.page.forms import EMPTY, PageForm, begin_once, check_places, form_for, read_form, requested_run
from assay.server.page.shelfscreen import collection_choices, max_form_bytes, store_files
from assay.server.page.templates_environment import fault_values, fragment_response, go_to, is_fragment, screen
from assay.server.problems import Refusal, refusal
from assay.server.wire import RouteCall
from assay.services.schedules import format_interval

LATEST = 6
EXAMPLES = (
    N_("What do these documents agree on, and where do they contradict each other?"),
    N_("Which figures are given for the same thing, and by which document?"),
    N_("What are the open questions in these documents?"),
)


FOLDED_FIELDS = (
    *(
        "mode",
        "depth",
        "strategy",
        "minutes",
        "usd",
        "tokens",
        "searches",
        "urls",
        "sites_allow",
        "sites_deny",
        "since",
        "until",
        "length",
    ),
    *("language", "instructions", "template", "model", *(f"model_{role}" for role in ROLES)),
)
"""The fields below the fold of the form: it is open where one has a value, since the value may be what is wrong."""


class HomeSetup(msgspec.Struct, frozen=True, kw_only=True):
    """The means available: the models, whether the built-in one writes, whether the web may be searched."""

    built_in: bool
    models: tuple[str, ...]
    web: bool
    strategies: tuple[str, ...]


async def show_home(call: RouteCall) -> Response:
    """The form for a question; `like` names a run to ask again, differently."""
    query = call.request.query_params
    if like := query.get("like", ""):
        brief = (await call.backend.view(call.owner, like)).brief
        if brief is not None:
            return await _home(call, form_for(brief, call.backend.settings))
    return await _home(call, PageForm({"question": (query.get("question", ""),)}))


async def ask(call: RouteCall) -> Response:
    """Start the run a form asks for; problems are shown beside the form.

    Files that cannot be read are such a problem: the report would not say that they are missing.
    """
    form = await read_form(call.request, max_form_bytes(call))
    unread: tuple[str, ...] = ()

    async def begin() -> str:
        nonlocal form, unread
        run_request = requested_run(form)
        if form.files:
            form_files = await store_files(call, form.files, "asked")
            collections = (*form.texts("collection"), form_files.collection)
            form = PageForm(
                form.fields | {"collection": collections}
            )  # ticked from now on: they need not be sent again
            if unread := form_files.unread:
                raise refusal("invalid")
            scope = msgspec.structs.replace(run_request.scope, collections=collections)
            run_request = msgspec.structs.replace(run_request, scope=scope)
        return (await runs.create_run(call, run_request, runs.Patience())).id

    try:
        check_places(form)
        run = await begin_once(call, form, begin)
    except (Refusal, AssayError) as error:
        values = fault_values(error) | ({"fault": ""} if unread else {})  # the files say more
        return await _home(call, form, unread=unread, **values)
    finally:
        await call.request.close()
    return go_to(f"/runs/{run}")


async def estimate(call: RouteCall) -> Response:
    """Estimate a run, beside the form, without starting one."""
    form = await read_form(call.request)
    run_estimate, wrong = None, fault_values(None)
    try:
        run_estimate = await reports.estimate_run(call, requested_run(form))
    except (Refusal, AssayError) as error:
        wrong = fault_values(error)
    if is_fragment(call.request):
        return fragment_response(call.request, "parts/estimate.html", estimate=run_estimate, fault=wrong["fault"])
    return await _home(call, form, estimate=run_estimate, **wrong)


async def _home(
    call: RouteCall,
    form: PageForm,
    *,
    fault: str = "",
    status: int = 200,
    estimate: Estimate | None = None,
    unread: Sequence[str] = (),
) -> Response:
    page = await runs.list_runs(call, runs.RunsWanted(not_label=CELL_OF, limit=LATEST))
    ticked = frozenset(form.texts("collection")) if "web_asked" in form.fields else None  # the form is new
    return screen(
        call,
        "home.html",
        section="ask",
        status=status,
        form=form,
        fault=fault,
        unread=unread,
        estimate=estimate,
        runs=page.runs,
        more=bool(page.next),
        choices=await collection_choices(call, ticked),
        limited=any(form.text(name) not in ("", "auto") for name in FOLDED_FIELDS),
        setup=_setup(call),
        examples=EXAMPLES,
    )


def _setup(call: RouteCall) -> HomeSetup:
    settings = call.backend.settings
    roles = settings.roles()
    models = tuple(dict.fromkeys(role_models[0] for role_models in roles.values() if role_models))
    writes = roles["complex"]
    return HomeSetup(
        built_in=not writes or writes[0].partition(":")[0] == BUILT_IN,
        models=models,
        web=not settings.search.offline,
        strategies=names("strategies"),
    )


# Schedules: questions that the server asks repeatedly, and the reports that answered them.

SHOWN_OUTCOMES = 3
OFFERED_INTERVALS = ("daily", "weekly", "12h", "2w", "4w")
"""Suggested intervals; any other can be typed."""


class ScheduledRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run of a schedule, and its state."""

    id: str
    status: RunStatus
    created_at: str


class ScheduleEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule on the screen: its interval, and its last runs, latest first."""

    schedule: automation.ScheduleShown
    every: str
    outcomes: tuple[ScheduledRun, ...]
    current: ScheduledRun | None


async def add_schedule(call: RouteCall) -> Response:
    """Have the server ask a question repeatedly."""
    form = await read_form(call.request)

    async def add() -> str:
        schedule = automation.ScheduleWanted(every=form.text("every"), run=requested_run(form))
        return (await automation.add_schedule(call, schedule)).id

    try:
        check_places(form)
        await begin_once(call, form, add)
    except (Refusal, AssayError) as error:
        return await list_schedules(call, form, error)
    return go_to("/schedules")


async def remove_schedule(call: RouteCall, schedule: str) -> Response:
    """Delete a schedule; the runs that answered it stay."""
    await automation.remove_schedule(call, schedule)
    return go_to("/schedules")


async def make_feed(call: RouteCall, schedule: str) -> Response:
    """Create a feed, and show its address, only this once."""
    try:
        feed = await automation.open_schedule_feed(call, schedule)
    except (Refusal, AssayError) as error:
        return await list_schedules(call, fault=error)
    return await list_schedules(call, link=feed.url, linked=schedule)


async def close_feed(call: RouteCall, schedule: str) -> Response:
    """Revoke the address of a feed."""
    await automation.close_schedule_feed(call, schedule)
    return go_to("/schedules")


async def list_schedules(
    call: RouteCall,
    form: PageForm = EMPTY,
    fault: Refusal | AssayError | None = None,
    *,
    link: str = "",
    linked: str = "",
) -> Response:
    """The schedules, and the form for a new one."""
    schedules = (await automation.list_schedules(call)).schedules
    return screen(
        call,
        "schedules.html",
        section="runs",
        **fault_values(fault),
        secret=bool(link),
        link=link,
        linked=linked,
        sharing=call.backend.settings.server.shares,
        entries=[await _entry(call, schedule) for schedule in schedules],
        choices=await collection_choices(call, frozenset(form.texts("collection")) if form.fields else None),
        often=OFFERED_INTERVALS,
        setup=_setup(call),
        form=form,
    )


async def _entry(call: RouteCall, schedule: automation.ScheduleShown) -> ScheduleEntry:
    latest = [await _outcome(call, run) for run in schedule.runs[: -SHOWN_OUTCOMES - 1 : -1]]
    return ScheduleEntry(
        schedule=schedule,
        every=format_interval(schedule.every),
        outcomes=tuple(outcome for outcome in latest if outcome is not None),
        current=await _outcome(call, schedule.current) if schedule.current else None,
    )


async def _outcome(call: RouteCall, run: str) -> ScheduledRun | None:
    """The state of a run; None if it was deleted."""
    try:
        row = await call.assay.find(run)
    except UnknownName:
        return None
    return ScheduledRun(id=row.run_id, status=row.status, created_at=row.created_at)
