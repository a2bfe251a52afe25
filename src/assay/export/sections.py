"""What follows a report's text in every format: sources with their quotes, claims to check, limits, counts.

One place says what there is to tell; a format only writes it. Everything here is untrusted text as it was stored:
whoever writes it cleans and escapes it.
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
"""The verdicts a reader should look at, the worst first."""


def field_headings() -> tuple[str, str, str, str]:
    """The columns in which the fields of a typed answer are told."""
    return _("Field"), _("Value"), _("Verdict"), _("Why")


def retrieved(day: str) -> str:
    """When a source was read, empty where that is not known."""
    return _("retrieved {date}").format(date=date_of(day)) if day else ""


def on_page(page: int) -> str:
    """` (page 7)`, empty where there are no pages."""
    return _(" (page {number})").format(number=page) if page else ""


def spoken_in(view: RunView) -> str:
    """The locale in which code speaks in the report of a run; those of old runs are English."""
    return view.brief.locale if view.brief else ""


class SourceLabel(msgspec.Struct, frozen=True, kw_only=True):
    """How a source is named to a reader, on one line each: `title` is empty where it only repeats `where`.

    `where` is a path or an address; `target` is what may be linked, empty for all but http and https.
    """

    title: str
    where: str
    target: str
    retrieved: str


def place(source: ReportSource) -> SourceLabel:
    """Where a source is, by path for a local file; the day it was read is an ISO date."""
    path, title = local_path(source.url), one_line(source.title)
    return SourceLabel(
        title="" if title in (source.url, path) else title,
        where=one_line(source.url if path is None else path),
        target=link_target(source.url) or "" if path is None else "",
        retrieved=one_line(source.fetched_at)[:10],
    )


def known(source: ReportSource) -> tuple[str, ...]:
    """What kind of source it is, where that is known, and the notices published about it, each in a few words."""
    kind = () if source.kind == "unknown" else (source_kind(source.kind),)
    return (*kind, *read_by(source), *(notice_line(notice) for notice in source.notices))


def read_by(source: ReportSource) -> tuple[str, ...]:
    """That a source was read by OCR, where it was: its words may be misread."""
    return (_("read by OCR"),) if READ_BY in source.metadata else ()


def cited(report: Report) -> tuple[ReportSource, ...]:
    """The sources which the text cites, in the order of their numbers."""
    return tuple(source for source in report.sources if source.number is not None)


def quotes(report: Report) -> dict[str, tuple[ReportPassage, ...]]:
    """The cited passages by the id of their source, in the order of the text; a passage met twice is one."""
    found: dict[str, dict[tuple[int, int], ReportPassage]] = {}
    for passage in report.passages:
        found.setdefault(passage.source, {}).setdefault((passage.start, passage.end), passage)
    return {id: tuple(passages.values()) for id, passages in found.items()}


def to_check(view: RunView) -> tuple[Claim, ...]:
    """The claims which a reader should look at, in the order of the text."""
    return tuple(claim for claim in view.claims if claim.verdict in TO_CHECK)


def limits(view: RunView, report: Report) -> tuple[str, ...]:
    """What restricts the report; a failed final check among it."""
    gate = view.gate
    if gate is None or gate.passed:
        return report.limits
    problems = "; ".join(gate.problems) or _("no reason was given")
    return (*report.limits, labelled(_("This report did not pass its final check"), problems))


def value(value: Value) -> str:
    """The value of a field on one line; a dash for one that is unknown."""
    if value is None:
        return "–"
    return listed(map(_scalar, value)) if isinstance(value, tuple) else _scalar(value)


def _scalar(value: Scalar) -> str:
    return (_("yes") if value else _("no")) if isinstance(value, bool) else one_line(str(value))


def language(tag: str) -> str:
    """`tag` where it has the form of a language tag (BCP 47), else empty."""
    return tag if _LANGUAGE.fullmatch(tag) else ""


def counts(summary: Summary) -> str:
    """One line which says how the claims fared, empty where there are none."""
    if not summary.claims:
        return ""
    # adjectives agree with their number in many languages: those put the number behind, in brackets
    said = listed(
        _("{count} {verdict}").format(count=number(count), verdict=verdict(name)) for name, count in _counted(summary)
    )
    told = [labelled(counted.claims(summary.claims), said)]
    if summary.dropped_markers:
        told.append(counted.citations_dropped(summary.dropped_markers))
    fared = _("{text}.").format(text=_("; ").join(told))
    answering = listed(_answering(name, count) for name in RELEVANT if (count := getattr(summary, name)))
    relevant = _("{text}.").format(text=labelled(_("Relevance"), answering))
    return f"{fared} {relevant}" if answering else fared


def _answering(name: str, count: int) -> str:
    if name == "answers":
        said = ngettext("{count} answers the question", "{count} answer the question", count)
        return said.format(count=number(count))
    return _("{count} {verdict}").format(count=number(count), verdict=relevance(name))


def _counted(summary: Summary) -> Iterator[tuple[str, int]]:
    for name in VERDICTS:
        if count := getattr(summary, name):
            yield name, count
