"""The report as Markdown: the text, its sources, what to check, its limits.

Text from pages and documents (titles, addresses, quotes, claims in a list) is escaped; the report's own text is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.core.blocks import Block, read_blocks
from assay.core.claims import VERDICTS
from assay.core.clean import escape_markdown, link_target
from assay.core.lazy import regex
from assay.core.markers import CitationMode, strip_markers
from assay.core.phrases import verdict, verdict_reason
from assay.core.quote_context import printed_quote
from assay.core.report import Report, ReportPassage, ReportSource, build_report
from assay.core.translation import format_number, join_list
from assay.core.translation import gettext as _
from assay.core.view import RunView
from assay.export import ViewExporter, report_parts
from assay.locale import use_locale

_ENTITY, _AMPERSAND = regex(r"&(?=#?\w{1,32};)"), r"\\&"  # "&lt;" in an address is not "<"


def render(view: RunView, *, citations: CitationMode = "numbers", legend: bool = False) -> str:
    """The report in Markdown (CommonMark), ending with a line end; with a `legend` of the verdicts, for a file.

    The text comes first, so positions in `report.json` are valid here too. In `numbers` mode every `[1]` is a link: to
    the source if its address may be linked, else to the list of sources. In `footnotes` mode every `[^1]` is a footnote
    (of pandoc, GitHub and most dialects) with the source's name and its cited passages.
    """
    with use_locale(report_parts.report_locale(view)):
        return _render_report(view, citations, legend)


def after_text(view: RunView, report: Report) -> str:
    """The part after a report's text, without link definitions; "" if there is none."""
    with use_locale(report_parts.report_locale(view)):
        return _join_paragraphs(*_parts(view, report, "numbers"))


def _render_report(view: RunView, citations: CitationMode, legend: bool) -> str:
    report = build_report(view, citations)
    meanings = _legend() if legend and report.claims else ""
    parts = (*_parts(view, report, citations), meanings, _definitions(report, citations))
    return _join_paragraphs(report.markdown.rstrip(), *parts) + "\n"


def _parts(view: RunView, report: Report, citations: CitationMode) -> tuple[str, ...]:
    sources = "" if citations == "footnotes" else "\n".join(_sources(report, citations))
    limits = "\n".join(f"- {escape_markdown(limit)}" for limit in report_parts.report_limits(view, report))
    return (
        _section(_("Fields"), _table(report_parts.field_headings(), report_parts.field_rows(report))),
        _section(_("Sources"), sources),
        _section(_("Limits"), limits),
        _verification(view, report),
    )


def _join_paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text else ""


def _verification(view: RunView, report: Report) -> str:
    """The results of checking: one line if all claims hold, else a table of the counts and of the claims to check."""
    summary, problems = report.summary, report_parts.claims_to_check(view)
    if summary.grounded_count == summary.claims and not summary.dropped_markers and not report.removed:
        return report_parts.counts_line(summary)
    names = [name for name in VERDICTS if getattr(summary, name)]
    tables = (
        _table(
            (_("Claims"), *map(verdict, names)),
            [
                (
                    format_number(summary.claims),
                    *(format_number(getattr(summary, verdict_name)) for verdict_name in names),
                )
            ],
        ),
        _table(
            (_("To check"), _("Verdict"), _("Why")),
            [(strip_markers(claim.text), verdict(claim.verdict), verdict_reason(claim.reason)) for claim in problems],
        ),
        _table((_("Taken out"), _("Why")), [(removed.text, removed.why) for removed in report.removed]),
    )
    return _section(_("Verification"), _join_paragraphs(*tables, report_parts.counts_line(summary)))


def _legend() -> str:
    """The meaning of each verdict, and what none of them says."""
    legend = report_parts.legend()
    rows = (f"- **{escape_markdown(verdict(name))}**: {escape_markdown(meaning)}" for name, meaning in legend.rows)
    return _section(legend.title, _join_paragraphs("\n".join(rows), escape_markdown(legend.note)))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; empty without rows."""
    return "\n".join((_row(*head), f"|{'---|' * len(head)}", *(_row(*row) for row in rows))) if rows else ""


def _row(*cells: str) -> str:
    return f"| {' | '.join(map(escape_markdown, cells))} |"


def _sources(report: Report, citations: CitationMode) -> list[str]:
    """Number (in `markers` mode the ids), title, address or path, and the day of retrieval."""
    return [f"{_label(source, citations)} {_details(source)}" for source in report_parts.cited_sources(report)]


def _label(source: ReportSource, citations: CitationMode) -> str:
    return f"{source.number}." if citations != "markers" else f"- {', '.join((source.id, *source.aliases))}:"


def _details(source: ReportSource) -> str:
    label = report_parts.source_label(source)
    where = f"<{label.target}>" if label.target else escape_markdown(label.where)
    notes = (escape_markdown(note) for note in report_parts.source_notes(source))
    parts = (escape_markdown(label.title), *notes, where, report_parts.retrieval_text(label.retrieved))
    return join_list(part for part in parts if part)


def _definitions(report: Report, citations: CitationMode) -> str:
    """The link definitions for the references in the text, if it has any."""
    sources = report_parts.cited_sources(report)
    if citations == "numbers":
        anchor = _anchor(_("Sources"), report.markdown) if sources else ""
        return "\n".join(_definition(source, anchor) for source in sources)
    if citations == "footnotes":
        quotes = report_parts.cited_passages(report)
        return "\n\n".join(_footnote(source, quotes.get(source.id, ())) for source in sources)
    return ""


def _definition(source: ReportSource, anchor: str) -> str:
    target = link_target(source.url)
    where = f"<{_ENTITY.sub(_AMPERSAND, target)}>" if target else f"#{anchor}"
    return f"[{source.number}]: {where}"


def _anchor(heading: str, before: str) -> str:
    """The anchor that GitHub and most renderers give a heading after the text `before`, which may have the same one."""
    if not re.search(rf"^(?:[^\w\n]|\d)*{re.escape(heading)}(?:[^\w\n]|\d)*$", before, re.IGNORECASE | re.MULTILINE):
        return _slug(heading)  # as nearly always: the text need not be parsed
    used: dict[str, int] = {}
    for title in (*(leaf.content for leaf in _headings(before)), heading):
        anchor = slug = _slug(title)
        while anchor in used:
            used[slug] += 1
            anchor = f"{slug}-{used[slug]}"
        used[anchor] = 0
    return anchor


def _headings(text: str) -> Iterator[Block]:
    return (leaf for block in read_blocks(text) for leaf in block.prose_blocks() if leaf.kind == "heading")


def _slug(title: str) -> str:
    return re.sub(r"[^\w-]+", "", title.lower().replace(" ", "-"))


def _footnote(source: ReportSource, quotes: Sequence[ReportPassage]) -> str:
    """One paragraph that never reads as a link definition, as a lone word or address would."""
    quote_text = " ".join(_quote(passage, source.media_type) for passage in quotes) or _("no passage is quoted")
    return f"[^{source.number}]: {_details(source)}: {quote_text}"


def _quote(passage: ReportPassage, media_type: str) -> str:
    return f"“{escape_markdown(printed_quote(passage.text, media_type))}”{report_parts.page_text(passage.page)}"


def _render_file(view: RunView, citations: CitationMode) -> bytes:
    return render(view, citations=citations, legend=True).encode()


EXPORTER = ViewExporter(".md", _render_file)
