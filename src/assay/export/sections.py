"""The parts after a report's text in every format: sources with quotes, claims to check, limits, counts.

This module decides what they contain; a format only writes it. All text here is untrusted, as it was stored: the format
cleans and escapes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from assay.core import phrases as counted
from assay.core.claims import RELEVANT, VERDICTS, Claim, Summary
from assay.core.clean import link_target, local_path, one_line
from assay.core.phrases import (
    notice_line,
    relevance,
    source_kind,
    verdict,
)
from assay.core.report import Report, ReportPassage, ReportSource
from assay.core.sources import READ_BY
from assay.core.translation import date_of, labelled, listed, ngettext, number
from assay.core.translation import gettext as _
from assay.core.typed_answers import Scalar, Value
from assay.core.view import RunView

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")

TO_CHECK = ("contradicted", "unsupported", "partial")
"""The verdicts that a reader should check, worst first."""


def field_headings() -> tuple[str, str, str, str]:
    """The columns of the table with a typed answer's fields."""
    return _("Field"), _("Value"), _("Verdict"), _("Why")


def retrieved(day: str) -> str:
    """The day on which a source was read; empty if it is not known."""
    return _("retrieved {date}").format(date=date_of(day)) if day else ""


def on_page(page: int) -> str:
    """` (page 7)`, empty if there are no pages."""
    return _(" (page {number})").format(number=page) if page else ""


def spoken_in(view: RunView) -> str:
    """The locale of code's own words in the report of a run; for old runs it is English."""
    return view.brief.locale if view.brief else ""


class SourceLabel(msgspec.Struct, frozen=True, kw_only=True):
    """The name of a source for readers, one line each: `title` is empty if it only repeats `where`.

    `where` is a path or an address; `target` is the address to link, empty unless it is http or https.
    """

    title: str
    where: str
    target: str
    retrieved: str


def place(source: ReportSource) -> SourceLabel:
    """The place of a source: a path for a local file, with the day it was read as an ISO date."""
    path, title = local_path(source.url), one_line(source.title)
    return SourceLabel(
        title="" if title in (source.url, path) else title,
        where=one_line(source.url if path is None else path),
        target=link_target(source.url) or "" if path is None else "",
        retrieved=one_line(source.fetched_at)[:10],
    )


def known(source: ReportSource) -> tuple[str, ...]:
    """The kind of a source if it is known, and the notices published about it, in a few words each."""
    kind = () if source.kind == "unknown" else (source_kind(source.kind),)
    return (*kind, *read_by(source), *(notice_line(notice) for notice in source.notices))


def read_by(source: ReportSource) -> tuple[str, ...]:
    """The note that a source was read by OCR, so its words may be misread; empty otherwise."""
    return (_("read by OCR"),) if READ_BY in source.metadata else ()


def cited(report: Report) -> tuple[ReportSource, ...]:
    """The sources that the text cites, in the order of their numbers."""
    return tuple(source for source in report.sources if source.number is not None)


def quotes(report: Report) -> dict[str, tuple[ReportPassage, ...]]:
    """The cited passages by source id, in the order of the text; a passage read twice appears once."""
    found: dict[str, dict[tuple[int, int], ReportPassage]] = {}
    for passage in report.passages:
        found.setdefault(passage.source, {}).setdefault((passage.start, passage.end), passage)
    return {id: tuple(passages.values()) for id, passages in found.items()}


def to_check(view: RunView) -> tuple[Claim, ...]:
    """The claims that a reader should check, in the order of the text."""
    return tuple(claim for claim in view.claims if claim.verdict in TO_CHECK)


def limits(view: RunView, report: Report) -> tuple[str, ...]:
    """The limits of the report, including a failed final check."""
    gate = view.gate
    if gate is None or gate.passed:
        return report.limits
    problems = "; ".join(gate.problems) or _("no reason was given")
    return (*report.limits, labelled(_("This report did not pass its final check"), problems))


def value(value: Value) -> str:
    """The value of a field on one line; a dash if it is unknown."""
    if value is None:
        return "–"
    return listed(map(_scalar, value)) if isinstance(value, tuple) else _scalar(value)


def _scalar(value: Scalar) -> str:
    return (_("yes") if value else _("no")) if isinstance(value, bool) else one_line(str(value))


def language(tag: str) -> str:
    """`tag` if it has the form of a language tag (BCP 47), else ""."""
    return tag if _LANGUAGE.fullmatch(tag) else ""


def counts(summary: Summary) -> str:
    """One line with the number of claims by verdict; empty without claims."""
    if not summary.claims:
        return ""
    # adjectives agree with numbers in many languages: those put the number after them, in brackets
    listing = listed(
        _("{count} {verdict}").format(count=number(count), verdict=verdict(name)) for name, count in _counted(summary)
    )
    lines = [labelled(counted.claims(summary.claims), listing)]
    if summary.dropped_markers:
        lines.append(counted.citations_dropped(summary.dropped_markers))
    fared = _("{text}.").format(text=_("; ").join(lines))
    answering = listed(_answering(name, count) for name in RELEVANT if (count := getattr(summary, name)))
    relevant = _("{text}.").format(text=labelled(_("Relevance"), answering))
    return f"{fared} {relevant}" if answering else fared


def _answering(name: str, count: int) -> str:
    if name == "answers":
        text = ngettext("{count} answers the question", "{count} answer the question", count)
        return text.format(count=number(count))
    return _("{count} {verdict}").format(count=number(count), verdict=relevance(name))


def _counted(summary: Summary) -> Iterator[tuple[str, int]]:
    for name in VERDICTS:
        if count := getattr(summary, name):
            yield name, count
