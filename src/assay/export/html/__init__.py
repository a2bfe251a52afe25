"""The report as one self-contained HTML page: it needs no network, no server, and no script for reading.

`article` is its text, `evidence_section` its sources, `ledger` its claims; `markup` makes HTML of text.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from importlib.resources import files

from markupsafe import Markup

from assay.core import phrases
from assay.core.assurance import assurance_text
from assay.core.claims import HOLDING
from assay.core.clean import one_line
from assay.core.markers import CitationMode
from assay.core.phrases import STOP_REASONS, step_status
from assay.core.plan import PlanStep
from assay.core.report import Report
from assay.core.translation import (
    colon_text,
    current_phrases,
    format_day,
    format_number,
    is_right_to_left,
    join_list,
    label_text,
)
from assay.core.translation import gettext as _
from assay.core.usage import Usage
from assay.core.view import RunView, SearchMade
from assay.export import ViewExporter, report_parts
from assay.export.html import markup
from assay.export.html.article import Article, PageHeading, fields_section, render_run_article
from assay.export.html.evidence_section import sources_section
from assay.export.html.ledger import (
    claims_to_check,
    conflicts_section,
    counts_section,
    details_box,
    ledger_section,
    limits_section,
    open_parts,
)
from assay.export.html.markup import Child, PageMaterial, el, gather_material, isolate, join
from assay.export.report_parts import report_locale
from assay.locale import use_locale

# How a report was made: what was asked, by which models, how far, at what cost.


def method_section(material: PageMaterial) -> Markup:
    """The section on how the report was made."""
    view, report = material.view, material.report
    return el(
        "section",
        el("h2", _("How this was made"), id="made"),
        el("dl", *(_row(name, value) for name, value in _facts(view, report) if value)),
        details_box(_("Steps of the plan"), map(_step, report.plan.steps if report.plan else ())),
        details_box(_("Searches"), map(_search, _searches(view))),
        details_box(_("Warnings"), (el("li", isolate(warning)) for warning in report.warnings)),
        aria_labelledby="made",
    )


def summary_line(material: PageMaterial) -> Markup:
    """One line under the title: when, how, from how many sources, whether it passed its check."""
    view, report = material.view, material.report
    facts: tuple[Child, ...] = (
        format_day(view.brief.date if view.brief else view.started_at),
        _mode_text(report),
        _cited_text(material, len(report.sources)),
        assurance_text(view),
    )
    return el("p", join((el("span", fact) for fact in facts if fact), " "), class_="short")


def _cited_text(material: PageMaterial, read_count: int) -> str:
    if not read_count:
        return _("no sources")
    return _("{sources} cited, {count} read").format(
        sources=phrases.sources(len(material.cited)), count=format_number(read_count)
    )


def _facts(view: RunView, report: Report) -> Iterator[tuple[str, Child]]:
    brief, usage = view.brief, view.usage.total
    yield _("Question"), isolate(report.question)
    yield _("Instructions"), isolate(brief.instructions) if brief else None
    yield _("Looked in"), isolate(brief.scope.label) if brief else None
    yield _("Date"), format_day(brief.date) if brief else None
    yield (
        _("Mode"),
        join(
            (_mode_text(report), _("strategy {name}").format(name=report.strategy) if report.strategy else None),
            _(", "),
        ),
    )
    yield _("Models"), _models(report)
    yield _("Time"), _time(report.started_at, report.finished_at)
    reason = STOP_REASONS.get(report.stop_reason)
    yield _("Ended"), isolate(_(reason) if reason else report.stop_reason) or report.status
    yield _("Final check"), assurance_text(view)
    yield _("Tokens"), _tokens(usage)
    yield _("Work"), _work(usage)
    yield _("Cost"), _cost(usage)
    yield _("Run"), el("code", report.run_id)


def _mode_text(report: Report) -> str:
    mode = phrases.mode(report.mode)
    if not report.depth or report.mode != "deep_research":
        return mode
    return join_list((mode, _("{depth} depth").format(depth=phrases.depth(report.depth))))


def _models(report: Report) -> Child:
    """Each model once, with the roles it answered for."""
    roles: dict[str, list[str]] = {}
    for role, model in report.models.items():
        roles.setdefault(model, []).append(role)
    return join((join((isolate(model), f" ({', '.join(role_names)})")) for model, role_names in roles.items()), _(", "))


def _time(started_at: str, finished_at: str) -> str:
    try:
        begin, end = datetime.fromisoformat(started_at), datetime.fromisoformat(finished_at)
    except ValueError:
        return started_at
    return f"{begin:%Y-%m-%d %H:%M}–{end:%H:%M} {begin.tzname() or ''}".rstrip() + f" ({_span(end - begin)})"


def _span(span: timedelta) -> str:
    seconds = span.total_seconds()
    if seconds < 60:
        return _("{seconds} s").format(seconds=f"{seconds:.1f}")
    minutes, remainder = divmod(round(seconds), 60)
    return _("{minutes} min {seconds} s").format(minutes=minutes, seconds=remainder)


def _tokens(usage: Usage) -> str:
    if not usage.tokens:
        return ""
    parts = [(_("{count} in"), usage.input_tokens), (_("{count} out"), usage.output_tokens)]
    parts += [(_("{count} from cache"), usage.cached_tokens)] if usage.cached_tokens else []
    parts += [(_("{count} to cache"), usage.cache_write_tokens)] if usage.cache_write_tokens else []
    parts += [(_("{count} for reasoning"), usage.reasoning_tokens)] if usage.reasoning_tokens else []
    return join_list(phrase.format(count=format_number(count)) for phrase, count in parts)


def _work(usage: Usage) -> str:
    counts = (
        (usage.model_calls, phrases.model_calls),
        (usage.searches, phrases.searches),
        (usage.pages, phrases.pages),
        (usage.agents, phrases.agents),
    )
    return join_list(phrase(count) for count, phrase in counts if count)


def _cost(usage: Usage) -> str:
    if not usage.unpriced_calls:
        return f"{usage.usd:.4f} USD" if usage.usd else ""
    unpriced = phrases.unpriced_calls(usage.unpriced_calls)
    return join_list((f"{usage.usd:.4f} USD", unpriced)) if usage.usd else label_text(_("unknown"), unpriced)


def _searches(view: RunView) -> Iterable[SearchMade]:
    turns = [turn for phase in view.phases for turn in phase.turns]
    turns += [turn for lane in view.lanes for turn in lane.turns]
    searches = {(search.query, search.provider): search for turn in turns for search in turn.searches}
    return searches.values()


def _search(search: SearchMade) -> Markup:
    hits = phrases.hits(search.results)
    return el(
        "li",
        el("q", isolate(search.query)),
        " (",
        isolate(search.provider),
        ")",
        colon_text(),
        hits,
    )


def _step(step: PlanStep) -> Markup:
    return el("li", isolate(step.title), " (", step_status(step.status), ")")


def _row(name: str, value: Child) -> Markup:
    return el("div", el("dt", name), el("dd", value))


_LONG_QUESTION = 80  # characters; a longer one is set smaller


def render_page(material: PageMaterial) -> str:
    """The page of a report as HTML, ending with a line end."""
    text = render_run_article(material)
    parts = (
        _open_questions(material),
        fields_section(material.report),
        sources_section(material),
        ledger_section(material, text.words),
        method_section(material),
    )
    tail = [part for part in parts if part]
    body = (
        markup.sprite(),
        el("a", _("Skip to the report"), href="#report", class_="skip"),
        el("header", el("p", _("Assay research report"), class_="kicker"), _title(material), summary_line(material)),
        el("div", _side(material, text), el("main", _top(material, text), _text(material, text), *tail), class_="page"),
        el("script", Markup(_read_asset("script.js"))),
    )
    return f"<!doctype html>\n{_root(material, body)}\n"


def _root(material: PageMaterial, body: Iterable[Markup]) -> Markup:
    question, language = one_line(material.report.question), current_phrases().locale
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_policy()),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="referrer", content="no-referrer"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", question or _("Research report")),
        el("style", Markup(_read_asset("style.css"))),
    )
    return el(
        "html",
        head,
        "\n",
        el("body", join(body, "\n"), **_words()),
        lang=language,
        dir="rtl" if is_right_to_left(language) else None,
    )


def _words() -> dict[str, str]:
    """The texts for the script, which has none of its own."""
    return {
        "data_close": _("Close"),
        "data_copy": _("Copy quote"),
        "data_copied": _("Copied"),
        "data_selected": _("Selected: press Ctrl+C"),
        "data_quote": _("Quote of the citation"),
        "data_verdict": _("Verdict and quotes"),
    }


def _title(material: PageMaterial) -> Markup:
    question = " ".join(material.report.question.split()) or _("Research report")
    return el("h1", question, dir="auto", lang=_language(material), class_=len(question) > _LONG_QUESTION and "long")


def _language(material: PageMaterial) -> str | None:
    return report_parts.language_tag(material.view.brief.language) or None if material.view.brief else None


def _direction(material: PageMaterial) -> str | None:
    """The direction of a report's text, where that is not the page's."""
    language = _language(material)
    is_rtl = is_right_to_left(language or "")
    return None if is_rtl == is_right_to_left(current_phrases().locale) else "rtl" if is_rtl else "ltr"


def _top(material: PageMaterial, text: Article) -> Markup | None:
    sections = (
        counts_section(material),
        claims_to_check(material, text.words),
        conflicts_section(material),
        limits_section(material),
    )
    parts = [part for part in sections if part]
    if not parts:
        return None
    return el("section", el("h2", _("At a glance"), id="glance"), *parts, class_="glance", aria_labelledby="glance")


def _open_questions(material: PageMaterial) -> Markup | None:
    parts = open_parts(material)
    return el("div", parts, class_="glance after") if parts else None


def _text(material: PageMaterial, text: Article) -> Markup:
    empty = el("p", _("No report was written."), class_="facts")
    note = el(
        "p",
        _("Only sentences with problems are shown; those quoted or supported are left out (…)."),
        class_="only-note",
    )
    return el(
        "article",
        note,
        text.html or empty,
        id="report",
        lang=_language(material),
        dir=_direction(material),
        tabindex="-1",
    )


def _side(material: PageMaterial, text: Article) -> Markup:
    """The table of contents and the filter."""
    sections = [("fields", _("Fields"), bool(material.report.fields))]
    sections += [("sources", _("Sources and quotes"), bool(material.report.sources or material.view.unreadable))]
    sections += [("claims", _("Every claim"), bool(material.report.claims)), ("made", _("How this was made"), True)]
    links = [_entry(heading) for heading in text.headings]
    links += [el("li", el("a", name, href=f"#{id}"), class_="own") for id, name, is_present in sections if is_present]
    contents = el("details", el("summary", _("Contents")), el("ol", *links), open=True, class_="contents")
    return el("nav", contents, _filter(material), aria_label=_("Contents"))


def _entry(heading: PageHeading) -> Markup:
    return el("li", el("a", heading.text or "…", href=f"#{heading.id}", dir="auto"), class_=f"level-{heading.level}")


def _filter(material: PageMaterial) -> Child:
    problems = sum(verdict not in HOLDING for verdict in material.verdicts)
    if not material.verdicts:
        return None
    only = _("Problems only ({count} of {all})").format(
        count=format_number(problems), all=format_number(len(material.verdicts))
    )
    box = el("input", type="checkbox", id="only", autocomplete="off")
    return el("p", el("label", box, " ", only), class_="filter")


@functools.cache
def _read_asset(name: str) -> str:
    return files("assay.export.html").joinpath(name).read_text(encoding="utf-8")


@functools.cache
def _policy() -> str:
    """Nothing may be loaded; only this style and this script apply (CSP level 2, by hash)."""
    style, script = (_hash(_read_asset(name)) for name in ("style.css", "script.js"))
    return f"default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'"


def _hash(part: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'"


def render(view: RunView, *, citations: CitationMode = "numbers") -> str:
    """The report of a run as a page, the same text for the same view.

    All text is escaped; links lead to http and https only, and nothing is loaded (a content security policy says so).
    `citations`: `numbers` (and `footnotes`) and `markers` are links to the quotes, `links` show the source's title
    instead, `none` leaves the citations out of the text.
    """
    with use_locale(report_locale(view)):
        return render_page(gather_material(view, citations))


EXPORTER = ViewExporter(".html", lambda view, citations: render(view, citations=citations).encode())
