"""The report as Markdown: the text, its sources, what to check, its limits.

What comes from pages and documents (titles, addresses, claims in a list) is escaped; the text itself is the writer's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.core.claims import VERDICTS, Claim, Summary
from assay.core.clean import escape_markdown, link_target, local_path, one_line
from assay.core.markers import CitationMode, strip
from assay.core.report import Report, ReportSource, build_report
from assay.core.view import RunView
from assay.export.protocols import Record

_ENTITY, _AMPERSAND = re.compile(r"&(?=#?\w{1,32};)"), r"\\&"  # "&lt;" in an address is not "<"
TO_CHECK = ("contradicted", "unsupported", "partial")


def render(view: RunView, *, citations: CitationMode = "numbers") -> str:
    """The report in Markdown (CommonMark), ending with a line end.

    The text comes first, so positions in `report.json` hold here too. In `numbers` mode every `[1]` is a link, to the
    source itself where its address may be linked, else to the list of sources.
    """
    report = build_report(view, citations)
    cited = [source for source in report.sources if source.number is not None]
    sections = [
        report.markdown.rstrip(),
        _section("Sources", [_source_line(source, citations) for source in cited]),
        _section("Claims to check", [_claim_line(claim) for claim in view.claims if claim.verdict in TO_CHECK]),
        _section("Limits", [f"- {escape_markdown(limit)}" for limit in _limits(view, report)]),
        _counts(report.summary),
        "\n".join(_definition(source) for source in cited) if citations == "numbers" else "",
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _section(title: str, lines: Iterable[str]) -> str:
    listed = "\n".join(lines)
    return f"## {title}\n\n{listed}" if listed else ""


def _source_line(source: ReportSource, citations: CitationMode) -> str:
    """Number (in `markers` mode the ids), title, address or path, and the day it was fetched."""
    path, target = local_path(source.url), link_target(source.url)
    title = one_line(source.title)
    where = f"<{target}>" if path is None and target else escape_markdown(source.url if path is None else path)
    names = [escape_markdown(title)] if title and title not in (source.url, path) else []
    day = one_line(source.fetched_at)[:10]
    details = ", ".join((*names, *([where] if where else []), *([f"retrieved {day}"] if day else [])))
    label = f"{source.number}." if citations != "markers" else f"- {', '.join((source.id, *source.aliases))}:"
    return f"{label} {details}"


def _definition(source: ReportSource) -> str:
    target = link_target(source.url)
    return f"[{source.number}]: {f'<{_ENTITY.sub(_AMPERSAND, target)}>' if target else '#sources'}"


def _claim_line(claim: Claim) -> str:
    reason = f": {escape_markdown(claim.reason)}" if claim.reason else ""
    return f"- {claim.verdict}{reason} (“{escape_markdown(strip(claim.text))}”)"


def _limits(view: RunView, report: Report) -> list[str]:
    gate = view.gate
    if gate is None or gate.passed:
        return list(report.limits)
    problems = "; ".join(gate.problems) or "no reason was given"
    return [*report.limits, f"This report did not pass its final check: {problems}"]


def _counts(summary: Summary) -> str:
    """One line which says how the claims fared."""
    if not summary.claims:
        return ""
    counts = [f"{getattr(summary, verdict)} {verdict}" for verdict in VERDICTS if getattr(summary, verdict)]
    dropped = f"; {summary.dropped_markers} citations of nothing dropped" if summary.dropped_markers else ""
    return f"{summary.claims} {'claim' if summary.claims == 1 else 'claims'}: {', '.join(counts)}{dropped}."


class MarkdownExporter:
    """Writes `.md` files."""

    suffix = ".md"

    def render(self, record: Record, citations: CitationMode = "numbers") -> bytes:
        """As `render` of this module, in UTF-8."""
        return render(record.view, citations=citations).encode()


EXPORTER = MarkdownExporter()
