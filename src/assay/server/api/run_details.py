"""Runs as the API shows them, in a list and in detail."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from assay.core.assurance import report_state
from assay.core.claims import Conflict, Summary
from assay.core.markers import CitationMode
from assay.core.plan import Coverage, Plan, Triage
from assay.core.ports import RunStatus
from assay.core.report import ReportClaim, ReportSource, build_report
from assay.core.usage import Usage
from assay.core.view import Lane, RunView, RunWarning, Spending, Steered
from assay.core.ways import adapt_wording
from assay.server.wire import RouteCall, struct_from
from assay.services.stored_runs import ListedRun

Part = Literal["plan", "report", "sources", "claims", "usage", "lanes", "view"]
PARTS: tuple[Part, ...] = get_args(Part)


class RunShown(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a list. `usd` and `tokens` are its usage so far; times are ISO 8601 UTC.

    `stop_reason` says why a completed run ended: `done`, `no_evidence`, or the limit that was reached.
    """

    id: str
    question: str
    status: RunStatus
    created_at: str
    thread: str
    user: str
    labels: dict[str, str]
    active_seconds: float
    last_seq: int
    queued: bool
    executed: bool
    usd: float
    tokens: int
    stop_reason: str = ""


class RunList(msgspec.Struct, frozen=True, kw_only=True):
    """Runs, newest first; `next` continues the list, empty at the end."""

    runs: tuple[RunShown, ...]
    next: str


class RunBegun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is stored and will be executed, and where to read about it."""

    id: str
    status: RunStatus
    url: str
    events_url: str


class ReportShown(msgspec.Struct, frozen=True, kw_only=True):
    """The report as far as it is written: Markdown with numbered citations."""

    state: Literal["none", "writing", "finished"]
    title: str
    markdown: str
    limits: tuple[str, ...]


class RunDetail(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run after its events up to `last_seq`; `events?after=last_seq` continues without missing any.

    `waiting_for` is `answers` or `plan` while it waits for a person; `questions` are its questions. Only the parts
    named in `expand` are included.
    """

    id: str
    question: str
    status: RunStatus
    last_seq: int
    waiting_for: str = ""
    questions: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    stop_reason: str = ""
    exhausted: str = ""
    error: str = ""
    verified: bool = False
    mode: str = ""
    depth: str = ""
    strategy: str = ""
    thread: str = ""
    parent: str = ""
    forked_from: str = ""
    user: str = ""
    labels: dict[str, str] = {}
    scope: str = ""
    models: dict[str, str] = {}
    created_at: str = ""
    started_at: str = ""
    finished_at: str = ""
    active_phase: str = ""
    triage: Triage | None = None
    documents: int = -1
    title: str = ""
    report_state: Literal["none", "writing", "finished"] = "none"
    summary: Summary = Summary()
    coverage: tuple[Coverage, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    steering: tuple[Steered, ...] = ()
    warnings: tuple[RunWarning, ...] = ()
    used: Usage = Usage()
    plan: Plan | None = None
    report: ReportShown | None = None
    sources: tuple[ReportSource, ...] | None = None
    claims: tuple[ReportClaim, ...] | None = None
    usage: Spending | None = None
    lanes: tuple[Lane, ...] | None = None
    view: RunView | None = None


def list_entry(row: ListedRun) -> RunShown:
    """A run in a list. Field by field: each follower of a list has hundreds of them made every second."""
    return RunShown(
        id=row.run_id,
        question=row.question,
        status=row.status,
        created_at=row.created_at,
        thread=row.thread,
        user=row.user,
        labels=row.labels,
        active_seconds=row.active_seconds,
        last_seq=row.last_seq,
        queued=row.queued,
        executed=bool(row.holder),
        usd=row.usd,
        tokens=row.tokens,
        stop_reason=row.stop_reason,
    )


def started_run(id: str, status: RunStatus = "created") -> RunBegun:
    """A run that was started."""
    return RunBegun(id=id, status=status, url=f"/api/v1/runs/{id}", events_url=f"/api/v1/runs/{id}/events")


def located_run(call: RouteCall, id: str, status: RunStatus = "created") -> RunBegun:
    """A run that was started; the header `Location` of the response has its address."""
    answer = started_run(id, status)
    call.headers["Location"] = answer.url
    return answer


def detail(view: RunView, expand: frozenset[Part] = frozenset(), citations: CitationMode = "numbers") -> RunDetail:
    """A run with the named parts."""
    brief = view.brief
    run_detail = struct_from(
        RunDetail,
        view,
        **dict.fromkeys(PARTS),  # which a view has too
        id=view.run_id,
        questions=view.clarification.questions,
        answers=view.clarification.answers,
        assumptions=view.clarification.assumptions,
        error=adapt_wording(view.error),
        thread=brief.thread if brief else "",
        parent=brief.parent if brief else "",
        forked_from=brief.fork.run if brief and brief.fork else "",
        user=brief.user if brief else "",
        labels=brief.labels if brief else {},
        scope=brief.scope.label if brief else "",
        title=view.report.title,
        report_state=report_state(view),
        used=view.usage.total,
    )
    return _expand(run_detail, view, expand, citations) if expand else run_detail


def _expand(run_detail: RunDetail, view: RunView, expand: frozenset[Part], citations: CitationMode) -> RunDetail:
    parts: dict[str, object] = {}
    if expand & {"report", "sources", "claims"}:
        report = build_report(view, citations)
        state = report_state(view)
        report_shown = ReportShown(state=state, title=view.report.title, markdown=report.markdown, limits=report.limits)
        parts |= {"report": report_shown, "sources": report.sources, "claims": report.claims}
    parts |= {"plan": view.plan, "usage": view.usage, "lanes": view.lanes, "view": view}
    return msgspec.structs.replace(run_detail, **{name: part for name, part in parts.items() if name in expand})
