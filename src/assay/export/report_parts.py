"""The parts of a report as every format shows them: its text as blocks with their claims, and what follows the text.

This module decides what they contain; a format only writes it. All text here is untrusted, as it was stored: the format
cleans and escapes it.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from assay.core import phrases
from assay.core.bibliography import Bibliography, NumberedCitation, RenderedText, render_body
from assay.core.blocks import Block, BlockClaim, parse_blocks
from assay.core.claims import RELEVANT, VERDICTS, Claim, Summary, Verdict
from assay.core.clean import link_target, local_path, one_line
from assay.core.lazy import regex
from assay.core.markers import CitationMode
from assay.core.phrases import MEANINGS, notice_line, relevance, source_kind, verdict, verdict_reason
from assay.core.quote_context import QuoteInContext, QuotePlace, group_quotes
from assay.core.report import Report, ReportPassage, ReportSource, render_report
from assay.core.sources import FOUND_BY, FOUND_DATE, READ_BY, SNIPPET
from assay.core.translation import (
    Phrases,
    Statement,
    format_number,
    format_report_date,
    join_list,
    label_text,
    ngettext,
    use_phrases,
)
from assay.core.translation import gettext as _
from assay.core.typed_answers import Scalar, Value
from assay.core.view import RunView

_SPACE = regex(r"[ \t]*\n?[ \t]*")
_END = regex(r"[.!?…。！？؟।]*[\"'”’»)]*")


class ClaimSpan(msgspec.Struct, frozen=True, kw_only=True):
    """Claim `index` of the report, at code points `[start, end)` of its Markdown; its last citation ends at `close`."""

    index: int
    start: int
    end: int
    close: int


class ReportText(msgspec.Struct, frozen=True, kw_only=True):
    """The blocks of a text with their claims; `cites` are its citations in order, `links` its references' targets."""

    blocks: tuple[Block, ...]
    cites: tuple[NumberedCitation, ...]
    links: dict[str, Any]

    def prose_blocks(self) -> Iterator[Block]:
        """The headings, paragraphs and cells in it, in order."""
        return (leaf for block in self.blocks for leaf in block.prose_blocks())

    @property
    def top_level(self) -> int:
        """The highest level among its headings."""
        return min((leaf.level for leaf in self.prose_blocks() if leaf.kind == "heading"), default=1)


class ReportBody(msgspec.Struct, frozen=True, kw_only=True):
    """A report, and its `markdown` as blocks."""

    report: Report
    text: ReportText


def read_body(view: RunView, citations: CitationMode) -> ReportBody:
    """The report of a run with its citations in this mode; in `numbers` mode their places are found too."""
    report, body, books = render_report(view, citations)
    cites = body.numbered_citations(books.numbers) if citations == "numbers" else ()
    code_phrases = _stated_by_code(view, books, citations)
    with use_phrases(Phrases(statements=code_phrases)):  # so that what code stated is recognized wherever it is shown
        text = read_text(report.markdown, _claim_spans(view, report, body, cites), cites)
    return ReportBody(report=report, text=text)


def numbered_mode(citations: CitationMode) -> CitationMode:
    """The mode in which a format that writes the citations itself reads a report: as numbers, or without any."""
    return "none" if citations == "none" else "numbers"


def read_text(markdown: str, claims: Sequence[ClaimSpan], cites: Sequence[NumberedCitation]) -> ReportText:
    """`markdown` as blocks with their claims. A citation that is not found again becomes a link to `#source-N`."""
    links = {str(number): {"href": f"#source-{number}", "title": ""} for number in {cite.number for cite in cites}}
    blocks = add_claims(parse_blocks(markdown, links=links), claims)
    return ReportText(blocks=blocks, cites=tuple(cites), links=links)


def _stated_by_code(view: RunView, books: Bibliography, mode: CitationMode) -> Mapping[str, Statement]:
    """The statements that code made in the report, as shown."""
    return {render_body(sentence, books, mode).text: kind for sentence, kind in view.report.stated.items()}


def _claim_spans(
    view: RunView, report: Report, body: RenderedText, cites: Sequence[NumberedCitation]
) -> tuple[ClaimSpan, ...]:
    ends = {cite.start: cite.end for cite in cites}
    spans = []
    for index, (claim, view_claim) in enumerate(zip(report.claims, view.claims, strict=True)):
        close = _claim_end(body, max(claim.end, body.span(view_claim.end, view_claim.end)[0]), ends)
        spans.append(ClaimSpan(index=index, start=claim.start, end=claim.end, close=close))
    return tuple(spans)


def _claim_end(body: RenderedText, end: int, ends: dict[int, int]) -> int:
    """The end of what belongs to a sentence that ends at `end`: its citations, and its final punctuation."""
    while (space := _SPACE.match(body.text, end)) and space.end() in ends:
        end = ends[space.end()]
    sign = _END.match(body.text, end)
    return sign.end() if sign else end


# Which block states which claim.


def add_claims(blocks: Sequence[Block], claims: Sequence[ClaimSpan]) -> tuple[Block, ...]:
    """The blocks, each with the claims that it states; nothing of a claim whose text is in none."""
    block_claims = iter(_claims_by_block([leaf for block in blocks for leaf in block.prose_blocks()], claims))
    return tuple(_add_claims(block, block_claims) for block in blocks)


def _add_claims(block: Block, block_claims: Iterator[Mapping[int, BlockClaim]]) -> Block:
    if block.kind in ("heading", "paragraph", "cell"):
        claims = next(block_claims)
        return msgspec.structs.replace(block, claims=tuple(claims.values())) if claims else block
    inside = tuple(_add_claims(child, block_claims) for child in (*block.children, *block.cells))
    name = "cells" if block.cells else "children"
    return msgspec.structs.replace(block, **{name: inside}) if inside else block


def _claims_by_block(prose: Sequence[Block], claims: Sequence[ClaimSpan]) -> Sequence[Mapping[int, BlockClaim]]:
    """The claims that each of these blocks states, by their index."""
    points_by_block = [block.points for block in prose]
    sorted_claims = sorted(claims, key=lambda claim: claim.start)
    starts = [claim.start for claim in sorted_claims]
    max_ends = list(itertools.accumulate((claim.end for claim in sorted_claims), max))
    block_claims: list[dict[int, BlockClaim]] = [{} for _ in prose]
    last: dict[int, int] = {}
    for index, (block, points) in enumerate(zip(prose, points_by_block, strict=True)):
        candidates = (
            sorted_claims[bisect_right(max_ends, points[0]) : bisect_right(starts, points[-1])] if points else ()
        )
        for claim in sorted(candidates, key=lambda claim: claim.index):
            start, end = _stripped_range(block.content, points, claim.start, claim.end)
            if start < end:
                block_claims[index][claim.index] = BlockClaim(claim.index, start, end)
                last[claim.index] = index
    for claim in claims:
        if (index := last.get(claim.index, -1)) >= 0:
            block_claim = block_claims[index][claim.index]
            close = max(
                block_claim.end,
                _stripped_range(prose[index].content, points_by_block[index], claim.start, claim.close)[1],
            )
            block_claims[index][claim.index] = msgspec.structs.replace(block_claim, close=close)
    return block_claims


def _stripped_range(content: str, points: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """The characters of `[start, end)` without surrounding white space; an empty range if there are none."""
    left, right = bisect_left(points, start), bisect_left(points, end)
    piece = content[left:right]
    right = left + len(piece.rstrip())
    return right - len(piece.strip()), right


# The parts after a report's text: sources with quotes, claims to check, limits, counts.

_LANGUAGE = regex(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")

TO_CHECK = ("contradicted", "unsupported", "partial")
"""The verdicts that a reader should check, worst first."""


def field_headings() -> tuple[str, str, str, str]:
    """The columns of the table with a typed answer's fields."""
    return _("Field"), _("Value"), _("Verdict"), _("Why")


def field_rows(report: Report) -> list[tuple[str, str, str, str]]:
    """The fields of a typed answer, a row each."""
    return [
        (name, value_text(field.value), verdict(field.verdict), verdict_reason(field.reason))
        for name, field in report.fields.items()
    ]


def retrieval_text(day: str) -> str:
    """The day on which a source was read; empty if it is not known."""
    return _("retrieved {date}").format(date=format_report_date(day)) if day else ""


def page_text(page: int) -> str:
    """` (page 7)`, empty if there are no pages."""
    return _(" (page {number})").format(number=page) if page else ""


def report_locale(view: RunView) -> str:
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


def source_label(source: ReportSource) -> SourceLabel:
    """The place of a source: a path for a local file, with the day it was read as an ISO date."""
    path, title = local_path(source.url), one_line(source.title)
    return SourceLabel(
        title="" if title in (source.url, path) else title,
        where=one_line(source.url if path is None else path),
        target=link_target(source.url) or "" if path is None else "",
        retrieved=one_line(source.fetched_at)[:10],
    )


def source_notes(source: ReportSource) -> tuple[str, ...]:
    """The kind of a source if it is known, and the notices published about it, in a few words each."""
    kind = () if source.kind == "unknown" else (source_kind(source.kind),)
    return (*kind, *ocr_note(source), *(notice_line(notice) for notice in source.notices))


def found_date(source: ReportSource) -> str:
    """The date of a source for which only a search says so, with the name of its service; "" otherwise."""
    search_date = source.metadata.get(FOUND_DATE, "")
    service = source.metadata.get(FOUND_BY if search_date else "provider", "")
    published = search_date or (source.published if source.media_type == SNIPPET else "")
    if not published or not service:
        return ""
    return _("published {date} according to {service}").format(
        date=format_report_date(one_line(published)), service=one_line(service)
    )


def ocr_note(source: ReportSource) -> tuple[str, ...]:
    """The note that a source was read by OCR, so its words may be misread; empty otherwise."""
    return (_("read by OCR"),) if READ_BY in source.metadata else ()


def cited_sources(report: Report) -> tuple[ReportSource, ...]:
    """The sources that the text cites, in the order of their numbers."""
    return tuple(source for source in report.sources if source.number is not None)


def cited_passages(report: Report) -> dict[str, tuple[ReportPassage, ...]]:
    """The cited passages by source id, in the order of the text; a passage read twice appears once."""
    by_source: dict[str, dict[tuple[int, int], ReportPassage]] = {}
    for passage in report.passages:
        by_source.setdefault(passage.source, {}).setdefault((passage.start, passage.end), passage)
    return {id: tuple(passages.values()) for id, passages in by_source.items()}


def group_passages(passages: Sequence[ReportPassage]) -> list[list[QuoteInContext]]:
    """The passages of one source in groups that share the text around them."""
    return group_quotes([QuotePlace(quote.start, quote.end, quote.before, quote.after) for quote in passages])


def claims_to_check(view: RunView) -> tuple[Claim, ...]:
    """The claims that a reader should check, in the order of the text."""
    return tuple(claim for claim in view.claims if claim.verdict in TO_CHECK)


def report_limits(view: RunView, report: Report) -> tuple[str, ...]:
    """The limits of the report, including a failed final check."""
    gate = view.gate
    if gate is None or gate.passed:
        return report.limits
    problems = "; ".join(gate.problems) or _("no reason was given")
    return (*report.limits, label_text(_("This report did not pass its final check"), problems))


class Legend(msgspec.Struct, frozen=True, kw_only=True):
    """What the verdicts mean, for readers who have nobody to ask: a title, names with meanings, and a note."""

    title: str
    rows: tuple[tuple[Verdict, str], ...]
    note: str


def legend() -> Legend:
    """The legend of every format, in the language spoken."""
    return Legend(
        title=_("What the verdicts mean"),
        rows=tuple((name, _(MEANINGS[name])) for name in VERDICTS),
        note=_("A verdict compares a sentence with its source. It does not say that the source is right."),
    )


def value_text(value: Value) -> str:
    """The value of a field on one line; a dash if it is unknown."""
    if value is None:
        return "–"
    return join_list(map(_scalar, value)) if isinstance(value, tuple) else _scalar(value)


def _scalar(value: Scalar) -> str:
    return (_("yes") if value else _("no")) if isinstance(value, bool) else one_line(str(value))


def language_tag(tag: str) -> str:
    """`tag` if it has the form of a language tag (BCP 47), else ""."""
    return tag if _LANGUAGE.fullmatch(tag) else ""


def counts_line(summary: Summary) -> str:
    """One line with the number of claims by verdict; empty without claims."""
    if not summary.claims:
        return ""
    # adjectives agree with numbers in many languages: those put the number after them, in brackets
    verdict_counts = join_list(
        _("{count} {verdict}").format(count=format_number(count), verdict=verdict(name))
        for name, count in _counts(summary)
    )
    lines = [label_text(phrases.claims(summary.claims), verdict_counts)]
    if summary.dropped_markers:
        lines.append(phrases.citations_dropped(summary.dropped_markers))
    summary_text = _("{text}.").format(text=_("; ").join(lines))
    relevance_counts = join_list(
        _relevance_count(name, count) for name in RELEVANT if (count := getattr(summary, name))
    )
    relevant = _("{text}.").format(text=label_text(_("Relevance"), relevance_counts))
    return f"{summary_text} {relevant}" if relevance_counts else summary_text


def _relevance_count(name: str, count: int) -> str:
    if name == "answers":
        text = ngettext("{count} answers the question", "{count} answer the question", count)
        return text.format(count=format_number(count))
    return _("{count} {verdict}").format(count=format_number(count), verdict=relevance(name))


def _counts(summary: Summary) -> Iterator[tuple[str, int]]:
    for name in VERDICTS:
        if count := getattr(summary, name):
            yield name, count
