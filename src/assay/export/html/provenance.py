"""How a report was made: what was asked, by which models, how far, at what cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from markupsafe import Markup

from assay.core import phrases
from assay.core.assurance import told
from assay.core.phrases import STOP_REASONS, step_status
from assay.core.plan import PlanStep
from assay.core.report import Report
from assay.core.translation import colon, day, labelled, listed, number
from assay.core.translation import gettext as _
from assay.core.usage import Usage
from assay.core.view import RunView, SearchMade
from assay.export.html.ledger import box
from assay.export.html.markup import Child, Material, el, foreign, join


def made(material: Material) -> Markup:
    """The section on how the report was made."""
    view, report = material.view, material.report
    return el(
        "section",
        el("h2", _("How this was made"), id="made"),
        el("dl", *(_row(name, value) for name, value in _facts(view, report) if value)),
        box(_("Steps of the plan"), map(_step, report.plan.steps if report.plan else ())),
        box(_("Searches"), map(_search, _searches(view))),
        box(_("Warnings"), (el("li", foreign(warning)) for warning in report.warnings)),
        aria_labelledby="made",
    )


def in_short(material: Material) -> Markup:
    """One line under the title: when, how, from how many sources, whether it passed its check."""
    view, report = material.view, material.report
    facts: tuple[Child, ...] = (
        day(view.brief.date if view.brief else view.started_at),
        _way(report),
        _cited(material, len(report.sources)),
        told(view),
    )
    return el("p", join((el("span", fact) for fact in facts if fact), " "), class_="short")


def _cited(material: Material, read: int) -> str:
    if not read:
        return _("no sources")
    return _("{sources} cited, {count} read").format(sources=phrases.sources(len(material.cited)), count=number(read))


def _facts(view: RunView, report: Report) -> Iterator[tuple[str, Child]]:
    brief, usage = view.brief, view.usage.total
    yield _("Question"), foreign(report.question)
    yield _("Instructions"), foreign(brief.instructions) if brief else None
    yield _("Looked in"), foreign(brief.scope.label) if brief else None
    yield _("Date"), day(brief.date) if brief else None
    yield (
        _("Mode"),
        join((_way(report), _("strategy {name}").format(name=report.strategy) if report.strategy else None), _(", ")),
    )
    yield _("Models"), _models(report)
    yield _("Time"), _time(report.started_at, report.finished_at)
    ended = STOP_REASONS.get(report.stop_reason)
    yield _("Ended"), foreign(_(ended) if ended else report.stop_reason) or report.status
    yield _("Final check"), told(view)
    yield _("Tokens"), _tokens(usage)
    yield _("Work"), _work(usage)
    yield _("Cost"), _cost(usage)
    yield _("Run"), el("code", report.run_id)


def _way(report: Report) -> str:
    mode = phrases.mode(report.mode)
    if not report.depth or report.mode != "deep_research":
        return mode
    return listed((mode, _("{depth} depth").format(depth=phrases.depth(report.depth))))


def _models(report: Report) -> Child:
    """Each model once, with the roles it answered for."""
    roles: dict[str, list[str]] = {}
    for role, model in report.models.items():
        roles.setdefault(model, []).append(role)
    return join((join((foreign(model), f" ({', '.join(named)})")) for model, named in roles.items()), _(", "))


def _time(started: str, finished: str) -> str:
    try:
        begin, end = datetime.fromisoformat(started), datetime.fromisoformat(finished)
    except ValueError:
        return started
    return f"{begin:%Y-%m-%d %H:%M}–{end:%H:%M} {begin.tzname() or ''}".rstrip() + f" ({_span(end - begin)})"


def _span(span: timedelta) -> str:
    seconds = span.total_seconds()
    if seconds < 60:
        return _("{seconds} s").format(seconds=f"{seconds:.1f}")
    minutes, left = divmod(round(seconds), 60)
    return _("{minutes} min {seconds} s").format(minutes=minutes, seconds=left)


def _tokens(usage: Usage) -> str:
    if not usage.tokens:
        return ""
    parts = [(_("{count} in"), usage.input_tokens), (_("{count} out"), usage.output_tokens)]
    parts += [(_("{count} from cache"), usage.cached_tokens)] if usage.cached_tokens else []
    parts += [(_("{count} to cache"), usage.cache_write_tokens)] if usage.cache_write_tokens else []
    parts += [(_("{count} for reasoning"), usage.reasoning_tokens)] if usage.reasoning_tokens else []
    return listed(said.format(count=number(count)) for said, count in parts)


def _work(usage: Usage) -> str:
    done = (
        (usage.model_calls, phrases.model_calls),
        (usage.searches, phrases.searches),
        (usage.pages, phrases.pages),
        (usage.agents, phrases.agents),
    )
    return listed(said(count) for count, said in done if count)


def _cost(usage: Usage) -> str:
    if not usage.unpriced_calls:
        return f"{usage.usd:.4f} USD" if usage.usd else ""
    unpriced = phrases.unpriced_calls(usage.unpriced_calls)
    return listed((f"{usage.usd:.4f} USD", unpriced)) if usage.usd else labelled(_("unknown"), unpriced)


def _searches(view: RunView) -> Iterable[SearchMade]:
    turns = [turn for phase in view.phases for turn in phase.turns]
    turns += [turn for lane in view.lanes for turn in lane.turns]
    made = {(search.query, search.provider): search for turn in turns for search in turn.searches}
    return made.values()


def _search(search: SearchMade) -> Markup:
    found = phrases.hits(search.results)
    return el("li", el("q", foreign(search.query)), " (", foreign(search.provider), ")", colon(), found)


def _step(step: PlanStep) -> Markup:
    return el("li", foreign(step.title), colon(), step_status(step.status))


def _row(name: str, value: Child) -> Markup:
    return el("div", el("dt", name), el("dd", value))
