"""The sources and what is quoted from them; what was read but not cited, and what could not be read."""

from __future__ import annotations

import re

from markupsafe import Markup

from assay.core.clean import HARMFUL, local_path, one_line
from assay.core.report import ReportPassage, ReportSource
from assay.core.view import Unreadable
from assay.export.html.markup import Child, address, counted, el, foreign, join, safe
from assay.export.html.material import Material
from assay.export.sections import notice_line

_BLANK = re.compile(r"\n\s*\n")
_WRAPPED = re.compile(r"(?<=[^\n]{50})\n(?=[^\W_]|[\"'(“‘`])")


def sources(material: Material) -> Markup | None:
    """The section of sources: the cited with their quotes, then the others; None for a run without any."""
    cited = [_cited(material, number, source) for number, source in material.cited.items()]
    others = [source for source in material.report.sources if source.number is None]
    lists = (
        el("ol", *cited, class_="sources") if cited else el("p", "No source is cited."),
        _others(others),
        _failed(material.view.unreadable),
    )
    if not (cited or others or material.view.unreadable):
        return None
    return el("section", el("h2", "Sources and quotes", id="sources"), *lists, aria_labelledby="sources")


def _cited(material: Material, number: int, source: ReportSource) -> Markup:
    quotes = (_quote(material, number, passage) for passage in material.passages.get(number, ()))
    head = el("div", el("span", f"[{number}]", class_="number"), _head(source), class_="head")
    return el("li", el("div", head, id=f"source-{number}"), *quotes)


def _head(source: ReportSource) -> Markup:
    """Title, author, dates and address of a source, and the hash of its text."""
    title = one_line(source.title) or one_line(source.url)
    facts = (
        foreign(one_line(source.author)) if source.author else None,
        *(el("strong", foreign(notice_line(notice)), class_="notice") for notice in source.notices),
        join((source.kind, " (", foreign(one_line(source.kind_reason)), ")")) if source.kind != "unknown" else None,
        join(("published ", foreign(one_line(source.published)))) if source.published else None,
        join(("retrieved ", foreign(one_line(source.fetched_at)[:10]))) if source.fetched_at else None,
        foreign(one_line(source.media_type)) if source.media_type else None,
    )
    return el(
        "div",
        el("div", foreign(title), class_="title"),
        el("div", join((fact for fact in facts if fact), ", "), class_="facts"),
        el("div", place(source.url), class_="where"),
    )


def place(url: str) -> Markup:
    """An address as a link; of a local file its path."""
    path = local_path(url)
    return address(url) if path is None else el("span", foreign(path), class_="address")


def _quote(material: Material, number: int, passage: ReportPassage) -> Markup:
    """A quote between what stands around it, and where it is."""
    before, after = (_BLANK.sub("\n", around) for around in (passage.before, passage.after))
    text = el(
        "blockquote",
        el("span", "… ", _flowing(before.lstrip()), class_="around") if before.strip() else None,
        el("mark", _flowing(passage.text)),
        el("span", _flowing(after.rstrip()), " …", class_="around") if after.strip() else None,
        dir="auto",
    )
    where = join(
        (
            f"page {passage.page}" if passage.page else None,
            foreign(" › ".join(one_line(part) for part in passage.heading)) if passage.heading else None,
            f"bytes {passage.start:,}–{passage.end:,}",
            join(("passage ", el("code", passage.id))),
        ),
        " · ",
    )
    left_out = "Characters that steer a terminal or reorder text are left out here."
    return el(
        "div",
        text,
        el("p", where, class_="where"),
        el("p", "SHA-256 of the document ", el("code", passage.document_sha256), class_="hash"),
        el("p", left_out, class_="where") if HARMFUL.search(passage.text) else None,
        class_="quote",
        id=material.quotes[passage.id],
        data_source=f"source-{number}",
    )


def _flowing(text: str) -> Markup:
    """`text` to the letter, in which a line end that only wraps a paragraph is shown as a space."""
    pieces = _WRAPPED.split(text)
    return el("span", "\n", class_="wrap").join([safe(piece) for piece in pieces])


def _others(others: list[ReportSource]) -> Child:
    if not others:
        return None
    items = (el("li", _head(source)) for source in others)
    summary = el("summary", f"Read but not cited: {counted(len(others), 'source')}")
    return el("details", summary, el("ul", *items, class_="sources"), id="uncited")


def _failed(unreadable: tuple[Unreadable, ...]) -> Child:
    if not unreadable:
        return None
    items = (el("li", place(one.url), el("div", foreign(one.reason), class_="facts")) for one in unreadable)
    summary = el("summary", f"Could not be read: {counted(len(unreadable), 'document')}")
    return el("details", summary, el("ul", *items, class_="sources"), id="unreadable", open=True)
