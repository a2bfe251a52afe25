"""How a report was made: what was asked, by which models, how far, at what cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from markupsafe import Markup

from assay.core.plan import PlanStep
from assay.core.report import STOP_REASONS, Report
from assay.core.usage import Usage
from assay.core.view import RunView, SearchMade
from assay.export.html.ledger import box
from assay.export.html.markup import Child, counted, el, foreign, join
from assay.export.html.material import Material

_MODES = {
    "simple": "Direct answer",
    "web_search": "Web search",
    "deep_research": "Deep research",
    "agent": "One research agent",
    "auto": "Mode chosen by the question",
}


def made(material: Material) -> Markup:
    """The section on how the report was made."""
    view, report = material.view, material.report
    return el(
        "section",
        el("h2", "How this was made", id="made"),
        el("dl", *(_row(name, value) for name, value in _facts(view, report) if value)),
        box("Steps of the plan", map(_step, report.plan.steps if report.plan else ())),
        box("Searches", map(_search, _searches(view))),
        box("Warnings", (el("li", foreign(warning)) for warning in report.warnings)),
        aria_labelledby="made",
    )


def in_short(material: Material) -> Markup:
    """One line under the title: when, how, from how many sources, whether it passed its check."""
    view, report = material.view, material.report
    read = len(report.sources)
    facts: tuple[Child, ...] = (
        day(view.brief.date if view.brief else view.started_at),
        _way(report),
        f"{counted(len(material.cited), 'source')} cited, {read:,} read" if read else "no sources",
        verified(view),
    )
    return el("p", join((el("span", fact) for fact in facts if fact), " "), class_="short")


def verified(view: RunView) -> str:
    """Whether the final check was passed, or that there was none yet."""
    if view.verified:
        return "its citations and counts passed the final check"
    failed = view.gate is not None and not view.gate.passed
    return "did not pass its final check" if failed else "not verified"


def day(iso: str) -> str:
    """`2 January 2025` of an ISO date; what is none stays as it is."""
    try:
        date = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    return f"{date.day} {date:%B %Y}"


def _facts(view: RunView, report: Report) -> Iterator[tuple[str, Child]]:
    brief, usage = view.brief, view.usage.total
    yield "Question", foreign(report.question)
    yield "Instructions", foreign(brief.instructions) if brief else None
    yield "Looked in", foreign(brief.scope.label) if brief else None
    yield "Date", day(brief.date) if brief else None
    yield "Mode", join((_way(report), f"strategy {report.strategy}" if report.strategy else None), ", ")
    yield "Models", _models(report)
    yield "Time", _time(report.started_at, report.finished_at)
    yield "Ended", foreign(STOP_REASONS.get(report.stop_reason, report.stop_reason)) or report.status
    yield "Final check", verified(view)
    yield "Tokens", _tokens(usage)
    yield "Work", _work(usage)
    yield "Cost", _cost(usage)
    yield "Run", el("code", report.run_id)


def _way(report: Report) -> str:
    mode = _MODES.get(report.mode, report.mode)
    return f"{mode}, {report.depth} depth" if report.depth and report.mode == "deep_research" else mode


def _models(report: Report) -> Child:
    """Each model once, with the roles it answered for."""
    roles: dict[str, list[str]] = {}
    for role, model in report.models.items():
        roles.setdefault(model, []).append(role)
    return join((join((foreign(model), f" ({', '.join(named)})")) for model, named in roles.items()), ", ")


def _time(started: str, finished: str) -> str:
    try:
        begin, end = datetime.fromisoformat(started), datetime.fromisoformat(finished)
    except ValueError:
        return started
    return f"{begin:%Y-%m-%d %H:%M} to {end:%H:%M} {begin.tzname() or ''}".rstrip() + f" ({_span(end - begin)})"


def _span(span: timedelta) -> str:
    seconds = span.total_seconds()
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, left = divmod(round(seconds), 60)
    return f"{minutes} min {left} s"


def _tokens(usage: Usage) -> str:
    if not usage.tokens:
        return ""
    parts = [f"{usage.input_tokens:,} in", f"{usage.output_tokens:,} out"]
    parts += [f"{usage.cached_tokens:,} from cache"] if usage.cached_tokens else []
    parts += [f"{usage.cache_write_tokens:,} to cache"] if usage.cache_write_tokens else []
    parts += [f"{usage.reasoning_tokens:,} for reasoning"] if usage.reasoning_tokens else []
    return ", ".join(parts)


def _work(usage: Usage) -> str:
    counts = (
        (usage.model_calls, "model call", ""),
        (usage.searches, "search", "searches"),
        (usage.pages, "page", ""),
        (usage.agents, "agent", ""),
    )
    return ", ".join(counted(count, one, many) for count, one, many in counts if count)


def _cost(usage: Usage) -> str:
    if not usage.unpriced_calls:
        return f"{usage.usd:.4f} USD" if usage.usd else ""
    unpriced = f"{counted(usage.unpriced_calls, 'model call')} without a known price"
    return f"{usage.usd:.4f} USD and {unpriced}" if usage.usd else f"unknown: {unpriced}"


def _searches(view: RunView) -> Iterable[SearchMade]:
    turns = [turn for phase in view.phases for turn in phase.turns]
    turns += [turn for lane in view.lanes for turn in lane.turns]
    made = {(search.query, search.provider): search for turn in turns for search in turn.searches}
    return made.values()


def _search(search: SearchMade) -> Markup:
    found = f": {counted(search.results, 'result')}"
    return el("li", el("q", foreign(search.query)), " in ", foreign(search.provider), found)


def _step(step: PlanStep) -> Markup:
    return el("li", foreign(step.title), f": {step.status}")


def _row(name: str, value: Child) -> Markup:
    return el("div", el("dt", name), el("dd", value))
