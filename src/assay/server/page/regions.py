"""The screen of a run in regions: each is rendered from a part of the view, and only if that part has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from markupsafe import Markup

from assay.core.claims import VERDICTS
from assay.core.markers import strip_markers
from assay.core.phrases import STOP_REASONS
from assay.core.ports import FINAL, RunStatus
from assay.core.translation import N_, gettext
from assay.core.usage import Budget
from assay.core.view import Lane, RunView, ToolUse, Turn
from assay.export.html.article import render_run_article
from assay.export.html.evidence_section import sources_section
from assay.export.html.markup import gather_material
from assay.export.report_parts import report_locale
from assay.locale import use_locale
from assay.server.page.templates_environment import fragment
from assay.server.page.words import format_count

PHASES = ("triage", "background", "plan", "research", "write", "verify")
_PHASE_WORDS = {
    "triage": N_("Question"),
    "background": N_("First look"),
    "plan": N_("Planning"),
    "research": N_("Research"),
    "write": N_("Writing"),
    "verify": N_("Checking"),
}
_STATES = {
    "created": N_("Waiting for a free worker"),
    "running": N_("Working"),
    "paused": N_("Paused"),
    "completed": N_("Done"),
    "failed": N_("Failed"),
    "cancelled": N_("Cancelled"),
}
MAX_SOURCES = 40
"""An active run shows the latest sources, an ended one all."""


class PhaseShown(msgspec.Struct, frozen=True):
    """A phase of a run."""

    words: str
    state: str


class Meter(msgspec.Struct, frozen=True, kw_only=True):
    """The usage of something, and its limit if there is one; `share` is in percent."""

    name: str
    used: float
    limit: float | None = None
    kind: str = "count"

    @property
    def share(self) -> int:
        """The used share of the limit."""
        return min(100, round(100 * self.used / self.limit)) if self.limit else 0


class PageRegion(msgspec.Struct, frozen=True):
    """A part of the screen: its template, and the part of the view it shows. A `dear` one may be rendered later."""

    name: str
    made_of: Callable[[RunView], object]
    values: Callable[[RunView], dict[str, Any]]
    dear: bool = False

    def render(self, view: RunView) -> Markup:
        """The region as HTML: one element with the id `r-NAME`."""
        template = "lane" if self.name.startswith("lane-") else self.name
        return fragment(f"run/{template}.html", view=view, over=view.status in FINAL, **self.values(view))


def regions_of(view: RunView) -> tuple[PageRegion, ...]:
    """Every region that the screen of a run has now."""
    return (*_FIXED, *(_lane_region(lane.lane) for lane in view.lanes))


# status


def _status(view: RunView) -> dict[str, Any]:
    return {
        "state": state_of(view),
        "phases": tuple(_phases(view)),
        "active": active_seconds(view),
        "ended": gettext(STOP_REASONS[view.stop_reason]) if view.stop_reason in STOP_REASONS else view.stop_reason,
        "done": summary_of(view),
    }


def state_of(view: RunView) -> str:
    """The state of a run in a few words."""
    if view.status == "waiting":
        return (
            N_("Waiting for you to approve the plan") if view.waiting_for == "plan" else N_("Waiting for your answers")
        )
    if view.status == "running" and view.active_phase:
        return _PHASE_WORDS.get(view.active_phase, view.active_phase)
    return _STATES.get(view.status, view.status)


def summary_of(view: RunView) -> str:
    """The work of a run, in a line: `14 searches, 38 pages, 6 min`."""
    used = view.usage.total
    parts = [
        format_count(used.searches, "{count} search", "{count} searches"),
        format_count(used.pages, "{count} page", "{count} pages"),
    ]
    parts += [format_count(len(view.lanes), "{count} agent", "{count} agents")] if view.lanes else []
    return ", ".join(parts)


def _phases(view: RunView) -> Iterator[PhaseShown]:
    finished_names = {phase.name for phase in view.phases if phase.finished_at}
    for name in PHASES:
        going = name == view.active_phase and view.status not in FINAL
        state = "now" if going else "done" if name in finished_names else "left" if view.status in FINAL else "next"
        yield PhaseShown(_PHASE_WORDS[name], state)


def active_seconds(view: RunView, now: datetime | None = None) -> float:
    """How long a run was active: waiting for a person or a process does not count."""
    started_at = _moment(view.started_at)
    if started_at is None:
        return 0.0
    rest_start = view.status != "running" and _moment(view.last_at)
    end = _moment(view.finished_at) or rest_start or now or datetime.now(UTC)
    paused = timedelta()
    for pause in view.pauses:
        pause_start, pause_end = _moment(pause.began_at), _moment(pause.ended_at)
        if pause_start is not None:
            paused += max((pause_end or end) - pause_start, timedelta())
    return max((end - started_at - paused).total_seconds(), 0.0)


def _moment(iso: str) -> datetime | None:
    try:
        return datetime.fromisoformat(iso)
    except ValueError:
        return None


# plan, money, sources


def _spending_values(view: RunView) -> dict[str, Any]:
    budget = view.brief.budget if view.brief else Budget()
    used, models = view.usage.total, tuple(dict.fromkeys(view.models.values()))
    meters = (
        Meter(name=N_("Cost"), used=used.usd, limit=budget.usd, kind="money"),
        Meter(name=N_("Tokens"), used=used.tokens, limit=budget.tokens),
        Meter(name=N_("Searches"), used=used.searches, limit=budget.searches),
        Meter(name=N_("Pages read"), used=used.pages, limit=budget.pages),
    )
    return {"meters": meters, "seconds": budget.seconds, "active": active_seconds(view), "models": models}


def _sources(view: RunView) -> dict[str, Any]:
    ids_by_document: dict[str, list[str]] = {}
    for source in view.sources.values():
        ids_by_document.setdefault(source.document_sha256 or source.url, []).append(source.id)
    id_groups = (
        list(ids_by_document.values()) if view.status in FINAL else list(ids_by_document.values())[-MAX_SOURCES:]
    )
    first_sources = [view.sources[ids[0]] for ids in id_groups]
    documents = tuple({"title": first.title or first.url, "url": first.url} for first in first_sources)
    return {"found": documents, "count": len(ids_by_document)}


# agents


def _team(view: RunView) -> dict[str, Any]:
    is_over = view.status in FINAL
    pipeline = tuple(pipeline_of(view))
    return {
        "lanes": tuple(lane_of(lane, view.status) for lane in view.lanes),
        "pipeline": pipeline if is_over else pipeline[-MAX_STEPS:],
        "steps": len(pipeline),
    }


def _lane_region(number: int) -> PageRegion:
    def find_lane(view: RunView) -> Lane:
        return next(lane for lane in view.lanes if lane.lane == number)

    def values(view: RunView) -> dict[str, Any]:
        return {"lane": lane_of(find_lane(view), view.status)}

    return PageRegion(f"lane-{number}", lambda view: (find_lane(view), view.status), values)


# the report as it is written


def _report(view: RunView) -> dict[str, Any]:
    if view.report.state == "none" or not view.report.text:
        return {"text": None, "counts": ()}
    with use_locale(report_locale(view)):
        text = render_run_article(gather_material(view, "numbers"))
    counts = [(name, getattr(view.summary, name)) for name in VERDICTS if getattr(view.summary, name)]
    return {"text": text.html, "counts": tuple(counts)}


def _quotes(view: RunView) -> dict[str, Any]:
    if view.report.state == "none" or not view.claims:
        return {"quotes": None}
    with use_locale(report_locale(view)):
        return {"quotes": sources_section(gather_material(view, "numbers"))}


def _tail(view: RunView) -> dict[str, Any]:
    writes = view.report.state == "writing"
    return {"tail": strip_markers(view.report.text[-2 * TAIL :])[-TAIL:].lstrip() if writes else ""}


_FIXED: tuple[PageRegion, ...] = (
    PageRegion(
        "status",
        lambda view: (
            view.status,
            view.waiting_for,
            view.active_phase,
            tuple((phase.name, bool(phase.finished_at)) for phase in view.phases),
            view.error,
            view.exhausted,
            view.report.state,
        ),
        _status,
    ),
    PageRegion(
        "needs",
        lambda view: (view.status, view.waiting_for, view.clarification, view.waiting_for == "plan" and view.plan),
        lambda _view: {},
    ),
    PageRegion(
        "plan",
        lambda view: (view.plan, view.plan_text if view.plan is None else "", view.coverage, view.status),
        lambda _view: {},
    ),
    PageRegion("spend", lambda view: (view.usage.total, view.low, view.status, view.models), _spending_values),
    PageRegion("steering", lambda view: (view.steering, view.warnings), lambda _view: {}),
    PageRegion("sources", lambda view: (len(view.sources), view.unreadable, view.status in FINAL), _sources),
    PageRegion(
        "team",
        lambda view: (
            tuple(lane.lane for lane in view.lanes),
            view.status in FINAL,
            tuple(phase.turns for phase in view.phases),
            view.reflections,
        ),
        _team,
        dear=True,
    ),
    PageRegion("tail", lambda view: (view.report.state, view.report.text), _tail),
    PageRegion(
        "report", lambda view: (view.report, view.claims, view.summary, view.status in FINAL), _report, dear=True
    ),
    PageRegion(
        "quotes",
        lambda view: (tuple(claim.passages for claim in view.claims), view.unreadable, view.report.state),
        _quotes,
        dear=True,
    ),
)


TAIL = 130
"""Characters shown of text in progress."""
MAX_STEPS = 30
"""An active run shows the latest steps of an agent, an ended one all."""


class AgentAction(msgspec.Struct, frozen=True, kw_only=True):
    """One thing an agent did: a thought, a search, a page it opened, another tool."""

    kind: str
    text: str
    note: str = ""
    failed: bool = False
    going: bool = False


class LaneShown(msgspec.Struct, frozen=True, kw_only=True):
    """An agent on the screen. `now` says in a few words what it is doing.

    `stoppable` says that it is at work, and can be stopped.
    """

    id: str
    number: int
    stoppable: bool
    title: str
    task: str
    state: str
    now: str
    doings: tuple[AgentAction, ...]
    steps: int
    finding: str
    writing: bool
    sources: int
    error: str


def pipeline_of(view: RunView) -> Iterator[AgentAction]:
    """Work outside the agents: the first look, and what decided the next step."""
    for phase in view.phases:
        for turn in phase.turns:
            yield from _doings(turn)
    for reflection in view.reflections:
        yield AgentAction(kind="decision", text=reflection.reasoning or reflection.decision, note=reflection.note)


def lane_of(lane: Lane, run_status: RunStatus) -> LaneShown:
    """An agent: of an ended run with all its steps, else with the latest."""
    is_over = run_status in FINAL
    actions: tuple[AgentAction, ...] = ()
    for turn in reversed(lane.turns):
        actions = (*_doings(turn), *actions)
        if not is_over and len(actions) >= MAX_STEPS:
            actions = actions[-MAX_STEPS:]
            break
    state: str = lane.state
    if (lane.state == "planned" and is_over) or (lane.state == "running" and run_status != "running"):
        state = "stopped" if is_over else run_status  # with its run
    return LaneShown(
        id=f"lane-{lane.lane}",
        number=lane.lane,
        stoppable=state == "running" and run_status == "running",
        title=gettext("Agent {number}").format(number=lane.lane),
        task=lane.task,
        state=state,
        now=gettext("Given up") if is_over and lane.state == "planned" else _current_activity(lane, actions),
        doings=actions,
        steps=sum(len(turn.thoughts) + len(turn.tools) for turn in lane.turns),
        finding=lane.finding.text,
        writing=bool(lane.finding.text) and not lane.finding.finished and lane.state == "running",
        sources=len(lane.sources),
        error=lane.error,
    )


def _current_activity(lane: Lane, doings: tuple[AgentAction, ...]) -> str:
    if lane.state == "planned":
        return gettext("Waiting for its turn")
    if lane.state == "finished":
        return format_count(len(lane.sources), "Finished: {count} source", "Finished: {count} sources")
    if lane.state != "running":
        return gettext("Failed") if lane.state == "failed" else gettext("Given up")
    if lane.finding.text:
        return gettext("Writing: {text}").format(text=strip_markers(lane.finding.text)[-TAIL:].lstrip())
    return doings[-1].text if doings else gettext("Starting")


def _doings(turn: Turn) -> Iterator[AgentAction]:
    last = len(turn.thoughts) - 1
    for index, thought in enumerate(turn.thoughts):
        yield AgentAction(kind="thought", text=thought, going=turn.thinking and index == last)
    for tool in turn.tools:
        yield _tool(tool)
    for search in turn.searches:
        if search.failed:
            yield AgentAction(kind="search", text=f"{search.provider}: {search.query}", note=search.failed, failed=True)


_TOOLS = {
    "search": N_("Searching"),
    "open": N_("Reading"),
    "recall": N_("Looking again"),
    "calculate": N_("Calculating"),
}


def _tool(tool: ToolUse) -> AgentAction:
    kind = tool.tool if tool.tool in _TOOLS else "tool"
    if tool.outcome == "running":
        return AgentAction(
            kind=kind, text=f"{gettext(_TOOLS.get(tool.tool, tool.tool))} {_argument(tool.arguments)}", going=True
        )
    return AgentAction(kind=kind, text=tool.summary or tool.tool, failed=tool.outcome == "failed")


def _argument(arguments: str) -> str:
    """The first text in a call's arguments."""
    try:
        decoded = msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return ""
    values = list(decoded.values()) if isinstance(decoded, dict) else [decoded]
    return next((value for value in values if isinstance(value, str)), "")
