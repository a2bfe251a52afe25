"""The admin screens: users, usage, runs as metadata, the queue and its problems, the audit log."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import date, timedelta

import msgspec
from starlette.responses import Response

from assay.core.errors import AssayError
from assay.core.ports import ACTIVE_STATUSES
from assay.core.ports.users import PERMISSIONS
from assay.server.api import admin, system, users
from assay.server.page.forms import PageForm, convert_texts, read_form
from assay.server.page.templates_environment import fault_values, go_to, screen
from assay.server.problems import Refusal
from assay.server.wire import RouteCall

MAX_RUNS = 50
MAX_PLOT_DAYS = 366
"""Days in the plot; all are in the table."""
STATUSES = ("created", "running", "waiting", "paused", "completed", "failed", "cancelled", "exhausted")
HIGH, STEP = 100.0, 10.0
"""The height of the plot, and the width of a day in it."""


class UsageBar(msgspec.Struct, frozen=True, kw_only=True):
    """A day of the plot: the position, height and label of its bar."""

    day: str
    x: float
    height: float
    usd: float
    tokens: int


class UsageSum(msgspec.Struct, frozen=True, kw_only=True):
    """The usage of a user or a model over all these days."""

    name: str
    calls: int
    tokens: int
    usd: float


async def show_usage(call: RouteCall) -> Response:
    """Usage by day, user and model."""
    query = convert_texts(_query_values(call, "user", "since", "until"), admin.UsageWanted)
    usage = await admin.list_usage(call, query)
    return screen(
        call,
        "admin/usage.html",
        section="settings",
        wanted=query,
        since=usage.since[:10],
        rows=usage.usage[::-1],
        bars=usage_bars(usage.usage),
        of_users=_sums(usage.usage, lambda row: row.user),
        of_models=_sums(usage.usage, lambda row: row.model),
    )


async def add_user(call: RouteCall) -> Response:
    """Add a user; without a password they can only log in at the provider."""
    form = await read_form(call.request, 10_000)
    fields: dict[str, str] = {"name": form.text("name"), "role": form.text("role")}
    if password := next(iter(form.fields.get("password", ())), ""):
        fields["password"] = password
    try:
        await users.add_user(call, convert_texts(fields, users.UserWanted))
    except (Refusal, AssayError) as error:
        return await list_users(call, error, form)
    return go_to("/admin/users")


async def change_user(call: RouteCall, user: str) -> Response:
    """Change the role of a user."""
    form = await read_form(call.request, 10_000)
    try:
        await users.change_user(call, user, convert_texts({"role": form.text("role")}, users.UserChange))
    except (Refusal, AssayError) as error:
        return await list_users(call, error)
    return go_to("/admin/users")


async def remove_user(call: RouteCall, user: str) -> Response:
    """Remove a user, with all their data if that is ticked."""
    form = await read_form(call.request, 10_000)
    try:
        await users.remove_user(call, user, users.UserRemoval(data="all" if form.text("data") else "none"))
    except (Refusal, AssayError) as error:
        return await list_users(call, error)
    return go_to("/admin/users")


async def list_runs(call: RouteCall) -> Response:
    """Runs of all users: owners and states, without their contents."""
    query = _query_values(call, "user", "cursor")
    status = call.request.query_params.get("status", "")
    parameters = query | ({"status": (status,)} if status else {}) | {"limit": MAX_RUNS}
    page = await admin.list_all_runs(call, convert_texts(parameters, admin.AllRunsWanted))
    return screen(
        call,
        "admin/runs.html",
        section="settings",
        runs=page.runs,
        next=page.next,
        user=query.get("user", ""),
        chosen=status,
        statuses=STATUSES,
    )


async def show_health(call: RouteCall) -> Response:
    """The queue, the runs at work, and everything that prevents the server from working."""
    going = await admin.list_all_runs(call, admin.AllRunsWanted(status=ACTIVE_STATUSES, limit=MAX_RUNS))
    findings = (await system.show_findings(call)).findings
    order = {"broken": 0, "note": 1, "ok": 2}
    return screen(
        call,
        "admin/health.html",
        section="settings",
        queue=await admin.show_queue(call),
        runs=going.runs,
        more=bool(going.next),
        findings=sorted(findings, key=lambda finding: order[finding.state]),
        states=Counter(finding.state for finding in findings),
    )


async def show_audit(call: RouteCall) -> Response:
    """The audit log."""
    query = _query_values(call, "actor", "action", "since", "cursor")
    page = await admin.list_audit(call, convert_texts({**query, "limit": MAX_RUNS}, admin.AuditWanted))
    return screen(call, "admin/audit.html", section="settings", entries=page.entries, next=page.next, asked=query)


def usage_bars(rows: Iterable[admin.DayUsage]) -> tuple[UsageBar, ...]:
    """A bar for each day from the first to the last: of money if some was spent, else of tokens."""
    usd: dict[str, float] = defaultdict(float)
    tokens: Counter[str] = Counter()
    for row in rows:
        usd[row.day] += row.usd
        tokens[row.day] += row.input_tokens + row.output_tokens
    if not tokens:
        return ()
    last = date.fromisoformat(max(tokens))
    first = max(date.fromisoformat(min(tokens)), last - timedelta(days=MAX_PLOT_DAYS - 1))
    days = [(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)]
    values = [usd[day] if any(usd.values()) else float(tokens[day]) for day in days]
    highest = max(values) or 1.0
    return tuple(
        UsageBar(
            day=day,
            x=number * STEP,
            height=round(HIGH * value / highest, 2),
            usd=round(usd[day], 6),
            tokens=tokens[day],
        )
        for number, (day, value) in enumerate(zip(days, values, strict=True))
    )


def _sums(rows: Iterable[admin.DayUsage], name: Callable[[admin.DayUsage], str]) -> list[UsageSum]:
    """The sums, largest first."""
    rows_by_name: dict[str, list[admin.DayUsage]] = defaultdict(list)
    for row in rows:
        rows_by_name[name(row)].append(row)
    sums = (
        UsageSum(
            name=group,
            calls=sum(row.model_calls for row in group_rows),
            tokens=sum(row.input_tokens + row.output_tokens for row in group_rows),
            usd=sum(row.usd for row in group_rows),
        )
        for group, group_rows in rows_by_name.items()
    )
    return sorted(sums, key=lambda group: (-group.usd, -group.tokens, group.name))


async def list_users(
    call: RouteCall, fault: Refusal | AssayError | None = None, form: PageForm | None = None
) -> Response:
    """The users, and the form for a new one."""
    return screen(
        call,
        "admin/users.html",
        section="settings",
        **fault_values(fault, tuple(map(str, call.request.path_params.values()))),
        users=(await users.list_users(call)).users,
        roles=tuple(PERMISSIONS),
        name=form.text("name") if form else "",
    )


def _query_values(call: RouteCall, *names: str) -> dict[str, object]:
    """These query parameters, without empty ones."""
    query = call.request.query_params
    return {name: text for name in names if (text := query.get(name, "").strip())}
