"""The admins' view of all users: names, numbers and times, and never a question or a text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import msgspec

from assay.core.errors import UsageError
from assay.core.ports import RunFilter, RunRow, RunStatus, lists
from assay.core.ports.users import AuditEntry, AuditFilter
from assay.server.api.run_requests import RequestBody
from assay.server.limits import LimitBook, UserLimits
from assay.server.wire import Endpoints, RouteCall, struct_from
from assay.services.run_lists import QueueStanding

routes = Endpoints("admin")

Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Amount = Annotated[float, msgspec.Meta(gt=0)]
Rate = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]

DAYS = 30
"""Days of usage shown by default."""


class AuditWanted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which entries: of an `actor`, of an `action` (the operation's name), from `since` until before `until` (ISO
    8601).
    """

    actor: str = ""
    action: str = ""
    since: str = ""
    until: str = ""
    cursor: str = ""
    limit: int = 100


class AuditShown(msgspec.Struct, frozen=True, kw_only=True):
    """An action that was done or refused (`status` of 400 and more).

    `action` is the name of an operation of this API, `subject` what it was applied to. `via` says how the actor was
    identified: session, token, login, none (no users), command (on the machine itself).
    """

    at: str
    actor: str
    action: str
    subject: str
    via: str
    address: str
    status: int


class AuditPage(msgspec.Struct, frozen=True, kw_only=True):
    """Entries, newest first; `next` continues the list, empty at the end."""

    entries: tuple[AuditShown, ...]
    next: str


class UsageWanted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `user`, and the time in which runs began: from `since` until before `until` (ISO 8601 UTC). Default: the last
    30 days.
    """

    user: str = ""
    since: str = ""
    until: str = ""


class DayUsage(msgspec.Struct, frozen=True, kw_only=True):
    """The usage of a model by a user's runs of one day (UTC); a run with several models counts for each."""

    day: str
    user: str
    model: str
    runs: int
    model_calls: int
    input_tokens: int
    output_tokens: int
    usd: float
    unpriced_calls: int


class LimitsWanted(RequestBody, frozen=True, kw_only=True):
    """The limits of a user: null is no limit; missing ones are as in the settings."""

    runs_per_day: Count | msgspec.UnsetType | None = msgspec.UNSET
    usd_per_day: Amount | msgspec.UnsetType | None = msgspec.UNSET
    tokens_per_day: Count | msgspec.UnsetType | None = msgspec.UNSET
    runs_at_once: Count | msgspec.UnsetType | None = msgspec.UNSET
    requests_per_minute: Rate | msgspec.UnsetType | None = msgspec.UNSET
    runs_per_hour: Rate | msgspec.UnsetType | None = msgspec.UNSET


class LimitsShown(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a user; `given` names those set for this user."""

    user: str
    limits: UserLimits
    given: tuple[str, ...]


class LimitsList(msgspec.Struct, frozen=True, kw_only=True):
    """The default limits, and the users with limits of their own."""

    usual: UserLimits
    users: tuple[LimitsShown, ...]


class UsageList(msgspec.Struct, frozen=True, kw_only=True):
    """Usage since a day, by day, user and model, and the limits of each user."""

    since: str
    usage: tuple[DayUsage, ...]
    limits: UserLimits


class AllRunsWanted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which runs: of a `user`, of these statuses, begun from `since` until before `until` (ISO 8601 UTC)."""

    user: str = ""
    status: tuple[RunStatus, ...] = ()
    since: str = ""
    until: str = ""
    cursor: str = ""
    limit: int = 50


class RunStanding(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a user's run."""

    id: str
    user: str
    status: RunStatus
    created_at: str
    active_seconds: float
    queued: bool
    executed: bool


class AllRuns(msgspec.Struct, frozen=True, kw_only=True):
    """Runs of all users, newest first; `next` continues the list, empty at the end."""

    runs: tuple[RunStanding, ...]
    next: str


@routes.get("/admin/audit", scope="admin")
async def list_audit(call: RouteCall, query: AuditWanted) -> AuditPage:
    """List who did what, and when."""
    log = call.backend.assay.audit
    audit_filter = AuditFilter(
        actor=query.actor, action=query.action, since=_seconds(query.since), until=_seconds(query.until)
    )
    limit = lists.check_page_size(query.limit)
    entries = [] if log is None else await log.page(audit_filter, limit + 1, lists.read_cursor(query.cursor, int))
    after = lists.cursor_text(entries[limit - 1].number) if len(entries) > limit else ""
    return AuditPage(entries=tuple(map(_audit_entry, entries[:limit])), next=after)


@routes.get("/admin/usage", scope="admin")
async def list_usage(call: RouteCall, query: UsageWanted) -> UsageList:
    """List the usage of all users' runs, by day, user and model, and the limits of each user."""
    since = query.since or (datetime.now(UTC) - timedelta(days=DAYS)).date().isoformat()
    usage = await call.backend.assay.overview.usage(since, query.until)
    rows = (
        struct_from(DayUsage, row.usage, day=row.day, user=row.owner, model=row.model, runs=row.runs)
        for row in usage
        if not query.user or row.owner == query.user
    )
    return UsageList(since=since, usage=tuple(rows), limits=call.backend.limits.usual)


@routes.get("/admin/limits", scope="admin")
async def list_user_limits(call: RouteCall) -> LimitsList:
    """List the default limits, and the users with limits of their own."""
    book = call.backend.limits
    await book.refresh()
    return LimitsList(usual=book.usual, users=tuple(_limits_shown(book, user) for user in sorted(book.overrides())))


@routes.put("/admin/limits/{user}", scope="admin")
async def set_user_limits(call: RouteCall, user: str, body: LimitsWanted) -> LimitsShown:
    """Set the limits of one user, replacing earlier ones; they apply on all servers within 5 seconds."""
    await call.backend.assay.users.find(user)
    limits = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not msgspec.UNSET}
    await call.backend.limits.set_limits(user, limits)
    return _limits_shown(call.backend.limits, user)


@routes.delete("/admin/limits/{user}", scope="admin", status=204)
async def reset_user_limits(call: RouteCall, user: str) -> None:
    """Reset the limits of one user to those in the settings."""
    await call.backend.assay.users.find(user)
    await call.backend.limits.set_limits(user, {})


def _limits_shown(book: LimitBook, user: str) -> LimitsShown:
    return LimitsShown(user=user, limits=book.limits_of(user), given=tuple(sorted(book.overrides().get(user, ()))))


@routes.get("/admin/runs", scope="admin")
async def list_all_runs(call: RouteCall, query: AllRunsWanted) -> AllRuns:
    """List the runs of all users: owners and states, without their contents."""
    rows, after = await call.backend.assay.overview.runs(
        query.user or None,
        RunFilter(status=query.status, since=query.since, until=query.until),
        query.cursor,
        query.limit,
    )
    return AllRuns(runs=tuple(map(_run_shown, rows)), next=after)


@routes.get("/admin/queue", scope="admin")
async def show_queue(call: RouteCall) -> QueueStanding:
    """Show how many runs wait, are executed, or wait for a person, and which processes execute runs."""
    return await call.backend.assay.overview.queue()


def _run_shown(row: RunRow) -> RunStanding:
    return struct_from(RunStanding, row, id=row.run_id, user=row.owner, executed=bool(row.holder))


def _audit_entry(entry: AuditEntry) -> AuditShown:
    return struct_from(AuditShown, entry, at=datetime.fromtimestamp(entry.at, UTC).isoformat(timespec="seconds"))


def _seconds(text: str) -> float:
    """A time as seconds since 1970, 0 for none.

    Raises:
        UsageError: it is not valid.
    """
    try:
        moment = datetime.fromisoformat(text) if text else None
    except ValueError:
        raise UsageError(f"{text[:40]!r} is not a time: write it as 2026-11-23 or 2026-11-23T12:00:00Z") from None
    if moment is None:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
