"""What follows a report's text in every format: sources with their quotes, claims to check, limits, counts.

One place says what there is to tell; a format only writes it. Everything here is untrusted text as it was stored:
whoever writes it cleans and escapes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from assay.core.claims import VERDICTS, Claim, Summary
from assay.core.clean import link_target, local_path, one_line
from assay.core.report import Report, ReportPassage, ReportSource
from assay.core.sources import Notice
from assay.core.typed import Scalar, Value
from assay.core.view import RunView

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")

TO_CHECK = ("contradicted", "unsupported", "partial")
"""The verdicts a reader should look at, the worst first."""


FIELD_HEADINGS = ("Field", "Value", "Verdict", "Why")
"""The columns in which the fields of a typed answer are told."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """How a source is named to a reader, on one line each: `title` is empty where it only repeats `where`.

    `where` is a path or an address; `target` is what may be linked, empty for all but http and https.
    """

    title: str
    where: str
    target: str
    retrieved: str


def place(source: ReportSource) -> Place:
    """Where a source is, by path for a local file; the day it was read is an ISO date."""
    path, title = local_path(source.url), one_line(source.title)
    return Place(
        title="" if title in (source.url, path) else title,
        where=one_line(source.url if path is None else path),
        target=link_target(source.url) or "" if path is None else "",
        retrieved=one_line(source.fetched_at)[:10],
    )


def known(source: ReportSource) -> tuple[str, ...]:
    """What kind of source it is, where that is known, and the notices published about it, each in a few words."""
    kind = () if source.kind == "unknown" else (source.kind,)
    return (*kind, *(notice_line(notice) for notice in source.notices))


def notice_line(notice: Notice) -> str:
    """A notice on a line: what it is, and its day."""
    return " ".join(filter(None, (one_line(notice.kind.replace("_", " ")), one_line(notice.date))))


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
    problems = "; ".join(gate.problems) or "no reason was given"
    return (*report.limits, f"This report did not pass its final check: {problems}")


def value(value: Value) -> str:
    """The value of a field on one line; a dash for one that is unknown."""
    if value is None:
        return "–"
    return ", ".join(map(_scalar, value)) if isinstance(value, tuple) else _scalar(value)


def _scalar(value: Scalar) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else one_line(str(value))


def language(tag: str) -> str:
    """`tag` where it has the form of a language tag (BCP 47), else empty."""
    return tag if _LANGUAGE.fullmatch(tag) else ""


def counts(summary: Summary) -> str:
    """One line which says how the claims fared, empty where there are none."""
    if not summary.claims:
        return ""
    said = ", ".join(f"{count} {verdict}" for verdict, count in _counted(summary))
    dropped = f"; {summary.dropped_markers} citations of nothing dropped" if summary.dropped_markers else ""
    return f"{summary.claims} {'claim' if summary.claims == 1 else 'claims'}: {said}{dropped}."


def _counted(summary: Summary) -> Iterator[tuple[str, int]]:
    for verdict in VERDICTS:
        if count := getattr(summary, verdict):
            yield verdict, count
