"""A report's text as blocks, each with the claims that it states: what every format and the page are made of."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from assay.core.bibliography import Bibliography, NumberedCitation, RenderedText, render_body
from assay.core.blocks import Block, BlockClaim, parse_shown
from assay.core.markers import CitationMode
from assay.core.report import Report, render_report
from assay.core.translation import Phrases, Statement, spoken
from assay.core.view import RunView

_SPACE = re.compile(r"[ \t]*\n?[ \t]*")
_END = re.compile(r"[.!?…。！？؟।]*[\"'”’»)]*")


class ClaimSpan(msgspec.Struct, frozen=True, kw_only=True):
    """Claim `index` of the report, at code points `[start, end)` of its Markdown; its last citation ends at `close`."""

    index: int
    start: int
    end: int
    close: int


class ReportText(msgspec.Struct, frozen=True, kw_only=True):
    """The blocks of a text, with their claims. `cites` are its citations in order, `links` what its references are."""

    blocks: tuple[Block, ...]
    cites: tuple[NumberedCitation, ...]
    links: dict[str, Any]

    def prose(self) -> Iterator[Block]:
        """The headings, paragraphs and cells in it, in order."""
        return (leaf for block in self.blocks for leaf in block.prose())

    @property
    def top(self) -> int:
        """The highest level of a heading in it."""
        return min((leaf.level for leaf in self.prose() if leaf.kind == "heading"), default=1)


class ReportBody(msgspec.Struct, frozen=True, kw_only=True):
    """A report, and its `markdown` as blocks."""

    report: Report
    text: ReportText


def read_body(view: RunView, citations: CitationMode) -> ReportBody:
    """The report of a run. In any mode but `none` citations are found as numbers; the mode says how they look."""
    mode: CitationMode = "none" if citations == "none" else "numbers"
    report, body, books = render_report(view, mode)
    cites = body.cited(books.numbers) if mode == "numbers" else ()
    with spoken(Phrases(stated=_stated(view, books, mode))):  # what code stated is known by it, wherever it is shown
        text = read_text(report.markdown, _claim_spans(view, report, body, cites), cites)
    return ReportBody(report=report, text=text)


def read_text(markdown: str, claims: Sequence[ClaimSpan], cites: Sequence[NumberedCitation]) -> ReportText:
    """`markdown` as blocks with their claims. A citation which is not found again becomes a link to `#source-N`."""
    links = {str(number): {"href": f"#source-{number}", "title": ""} for number in {cite.number for cite in cites}}
    blocks = with_claims(parse_shown(markdown, links), claims)
    return ReportText(blocks=blocks, cites=tuple(cites), links=links)


def _stated(view: RunView, books: Bibliography, mode: CitationMode) -> Mapping[str, Statement]:
    """What code stated in the report, as it is shown."""
    return {render_body(sentence, books, mode).text: kind for sentence, kind in view.report.stated.items()}


def _claim_spans(
    view: RunView, report: Report, body: RenderedText, cites: Sequence[NumberedCitation]
) -> tuple[ClaimSpan, ...]:
    ends = {cite.start: cite.end for cite in cites}
    spans = []
    for index, (claim, of) in enumerate(zip(report.claims, view.claims, strict=True)):
        close = _close(body, max(claim.end, body.span(of.end, of.end)[0]), ends)
        spans.append(ClaimSpan(index=index, start=claim.start, end=claim.end, close=close))
    return tuple(spans)


def _close(body: RenderedText, end: int, ends: dict[int, int]) -> int:
    """Where what follows a sentence which ends at `end` is over: its citations, and the sign which ends it."""
    while (space := _SPACE.match(body.text, end)) and space.end() in ends:
        end = ends[space.end()]
    sign = _END.match(body.text, end)
    return sign.end() if sign else end


# Which block states which claim.


def with_claims(blocks: Sequence[Block], claims: Sequence[ClaimSpan]) -> tuple[Block, ...]:
    """The blocks, each with the claims that it states; nothing of a claim whose text is in none."""
    stating = iter(_stating([leaf for block in blocks for leaf in block.prose()], claims))
    return tuple(_with_claims(block, stating) for block in blocks)


def _with_claims(block: Block, stating: Iterator[Mapping[int, BlockClaim]]) -> Block:
    if block.kind in ("heading", "paragraph", "cell"):
        found = next(stating)
        return msgspec.structs.replace(block, claims=tuple(found.values())) if found else block
    inside = tuple(_with_claims(each, stating) for each in (*block.children, *block.cells))
    name = "cells" if block.cells else "children"
    return msgspec.structs.replace(block, **{name: inside}) if inside else block


def _stating(prose: Sequence[Block], claims: Sequence[ClaimSpan]) -> Sequence[Mapping[int, BlockClaim]]:
    """The claims that each of these blocks states, by their index."""
    places = [block.points for block in prose]
    ordered = sorted(claims, key=lambda claim: claim.start)
    starts = [claim.start for claim in ordered]
    reached = list(itertools.accumulate((claim.end for claim in ordered), max))
    found: list[dict[int, BlockClaim]] = [{} for _ in prose]
    last: dict[int, int] = {}
    for at, (block, points) in enumerate(zip(prose, places, strict=True)):
        near = ordered[bisect_right(reached, points[0]) : bisect_right(starts, points[-1])] if points else ()
        for claim in sorted(near, key=lambda claim: claim.index):
            start, end = _within(block.content, points, claim.start, claim.end)
            if start < end:
                found[at][claim.index] = BlockClaim(claim.index, start, end)
                last[claim.index] = at
    for claim in claims:
        if (at := last.get(claim.index, -1)) >= 0:
            said = found[at][claim.index]
            close = max(said.end, _within(prose[at].content, places[at], claim.start, claim.close)[1])
            found[at][claim.index] = msgspec.structs.replace(said, close=close)
    return found


def _within(content: str, points: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """The characters of `[start, end)` without the white space around them; an empty range where there are none."""
    left, right = bisect_left(points, start), bisect_left(points, end)
    piece = content[left:right]
    right = left + len(piece.rstrip())
    return right - len(piece.strip()), right
