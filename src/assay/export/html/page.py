"""The whole page: one file, which loads nothing and sends nothing."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Iterable
from importlib.resources import files

from markupsafe import Markup

from assay.core.claims import HOLDING
from assay.core.clean import one_line
from assay.core.translation import gettext as _
from assay.core.translation import is_right_to_left, number, speech
from assay.export import sections
from assay.export.html import signs
from assay.export.html.article import Article, PageHeading, Signs, article, fields
from assay.export.html.evidence_section import sources
from assay.export.html.ledger import counts, ledger, limits, not_found, to_check
from assay.export.html.markup import Child, Material, el, join
from assay.export.html.provenance import in_short, made

_LONG_QUESTION = 80  # characters; a longer one is set smaller


def page(material: Material) -> str:
    """The page of a report as HTML, ending with a line end."""
    text = article(
        material.report.markdown,
        material.claims,
        material.cites,
        Signs(
            cite=functools.partial(signs.cite, material),
            badge=functools.partial(signs.badge, material),
            verdicts=material.verdicts,
        ),
    )
    told = (fields(material.report), sources(material), ledger(material, text.words), made(material))
    tail = [part for part in told if part]
    body = (
        signs.sprite(),
        el("a", _("Skip to the report"), href="#report", class_="skip"),
        el("header", el("p", _("Assay research report"), class_="kicker"), _title(material), in_short(material)),
        el("div", _side(material, text), el("main", _top(material, text), _text(material, text), *tail), class_="page"),
        el("script", Markup(_part("script.js"))),
    )
    return f"<!doctype html>\n{_root(material, body)}\n"


def _root(material: Material, body: Iterable[Markup]) -> Markup:
    question, said = one_line(material.report.question), speech().locale
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_policy()),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="referrer", content="no-referrer"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", question or _("Research report")),
        el("style", Markup(_part("style.css"))),
    )
    return el(
        "html",
        head,
        "\n",
        el("body", join(body, "\n"), **_words()),
        lang=said,
        dir="rtl" if is_right_to_left(said) else None,
    )


def _words() -> dict[str, str]:
    """What the script says: it has no words of its own."""
    return {
        "data_close": _("Close"),
        "data_copy": _("Copy quote"),
        "data_copied": _("Copied"),
        "data_selected": _("Selected: press Ctrl+C"),
        "data_quote": _("Quote of the citation"),
        "data_verdict": _("Verdict and quotes"),
    }


def _title(material: Material) -> Markup:
    question = " ".join(material.report.question.split()) or _("Research report")
    return el("h1", question, dir="auto", lang=_language(material), class_=len(question) > _LONG_QUESTION and "long")


def _language(material: Material) -> str | None:
    return sections.language(material.view.brief.language) or None if material.view.brief else None


def _direction(material: Material) -> str | None:
    """The direction of a report's text, where that is not the page's."""
    language = _language(material)
    turned = is_right_to_left(language or "")
    return None if turned == is_right_to_left(speech().locale) else "rtl" if turned else "ltr"


def _top(material: Material, text: Article) -> Markup | None:
    parts = [
        part
        for part in (
            counts(material),
            to_check(material, text.words),
            not_found(material),
            limits(material),
        )
        if part
    ]
    if not parts:
        return None
    return el("section", el("h2", _("At a glance"), id="glance"), *parts, class_="glance", aria_labelledby="glance")


def _text(material: Material, text: Article) -> Markup:
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


def _side(material: Material, text: Article) -> Markup:
    """The table of contents and the filter."""
    own = [("fields", _("Fields"), bool(material.report.fields))]
    own += [("sources", _("Sources and quotes"), bool(material.report.sources or material.view.unreadable))]
    own += [("claims", _("Every claim"), bool(material.report.claims)), ("made", _("How this was made"), True)]
    links = [_entry(heading) for heading in text.headings]
    links += [el("li", el("a", name, href=f"#{id}"), class_="own") for id, name, there in own if there]
    contents = el("details", el("summary", _("Contents")), el("ol", *links), open=True, class_="contents")
    return el("nav", contents, _filter(material), aria_label=_("Contents"))


def _entry(heading: PageHeading) -> Markup:
    return el("li", el("a", heading.text or "…", href=f"#{heading.id}", dir="auto"), class_=f"level-{heading.level}")


def _filter(material: Material) -> Child:
    problems = sum(verdict not in HOLDING for verdict in material.verdicts)
    if not material.verdicts:
        return None
    only = _("Problems only ({count} of {all})").format(count=number(problems), all=number(len(material.verdicts)))
    box = el("input", type="checkbox", id="only", autocomplete="off")
    return el("p", el("label", box, " ", only), class_="filter")


@functools.cache
def _part(name: str) -> str:
    return files("assay.export.html").joinpath(name).read_text(encoding="utf-8")


@functools.cache
def _policy() -> str:
    """Nothing may be loaded; only this style and this script apply (CSP level 2, by hash)."""
    style, script = (_hash(_part(name)) for name in ("style.css", "script.js"))
    return f"default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'"


def _hash(part: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'"
