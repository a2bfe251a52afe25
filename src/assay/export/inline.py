"""Reading the report's Markdown: raw HTML and images off, links only to the web, claims and citations as tokens.

Claims are put in at token level. A token without width stands where a claim begins, ends or has its badge; the rules
of Markdown never see it.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Literal

import msgspec
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from assay.core.bibliography import NumberedCitation, RenderedText
from assay.core.blocks import line_spans, places, read_blocks
from assay.core.clean import link_target
from assay.core.markers import CitationMode
from assay.core.report import Report, render_report
from assay.core.translation import Phrases, spoken
from assay.core.view import RunView

# Where in the report's blocks its claims and citations are.

_SPACE = re.compile(r"[ \t]*\n?[ \t]*")
_END = re.compile(r"[.!?…。！？؟।]*[\"'”’»)]*")
Edge = Literal["end", "badge", "start"]
_ORDER: tuple[Edge, ...] = ("end", "badge", "start")


class ClaimSpan(msgspec.Struct, frozen=True, kw_only=True):
    """Claim `index` of the report, at code points `[start, end)` of its Markdown; its last citation ends at `close`."""

    index: int
    start: int
    end: int
    close: int


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """Where a claim begins or ends in a block, or its badge stands: before character `at` of the block's content."""

    at: int
    edge: Edge
    claim: int


class BlockMarks(msgspec.Struct, frozen=True, kw_only=True):
    """What stands in one block: marks in order, and citations by the character at which they begin."""

    marks: tuple[Mark, ...] = ()
    cites: dict[int, NumberedCitation] = {}


class _Block(msgspec.Struct, frozen=True, kw_only=True):
    """A block's content, and for each of its characters the code point of the Markdown (ascending)."""

    content: str
    points: Sequence[int]

    def at(self, point: int) -> int:
        """The first character at `point` or after it."""
        return bisect_left(self.points, point)

    def within(self, start: int, end: int) -> tuple[int, int]:
        """The characters of `[start, end)` without the white space around them; an empty range where there are none."""
        left, right = self.at(start), self.at(end)
        piece = self.content[left:right]
        right = left + len(piece.rstrip())
        return right - len(piece.strip()), right


def place(
    markdown: str, tokens: Sequence[Token], claims: Sequence[ClaimSpan], cites: Sequence[NumberedCitation]
) -> dict[int, BlockMarks]:
    """What stands in the `inline` tokens, by their position in `tokens`; nothing of a claim whose text is in none."""
    blocks = _blocks(markdown, tokens)
    marks: dict[int, list[Mark]] = {position: [] for position in blocks}
    for claim in claims:
        _mark_claim(claim, blocks, marks)
    return {
        position: BlockMarks(
            marks=tuple(sorted(marks[position], key=lambda mark: (mark.at, _ORDER.index(mark.edge)))),
            cites=_cites(block, markdown, cites),
        )
        for position, block in blocks.items()
    }


def _mark_claim(claim: ClaimSpan, blocks: dict[int, _Block], marks: dict[int, list[Mark]]) -> None:
    """Note a claim in every block it touches, its badge in the last."""
    badge: tuple[int, int] | None = None
    for position, block in blocks.items():
        if not block.points or block.points[0] >= claim.end or block.points[-1] < claim.start:
            continue
        left, right = block.within(claim.start, claim.end)
        if left < right:
            marks[position] += [
                Mark(at=left, edge="start", claim=claim.index),
                Mark(at=right, edge="end", claim=claim.index),
            ]
            badge = position, max(right, block.within(claim.start, claim.close)[1])
    if badge is not None:
        marks[badge[0]].append(Mark(at=badge[1], edge="badge", claim=claim.index))


def _cites(block: _Block, markdown: str, cites: Sequence[NumberedCitation]) -> dict[int, NumberedCitation]:
    """The citations whose text is whole in the block."""
    if not block.points:
        return {}
    first = bisect_left(cites, block.points[0], key=lambda cite: cite.start)
    last = bisect_right(cites, block.points[-1], key=lambda cite: cite.start)
    found: dict[int, NumberedCitation] = {}
    for cite in cites[first:last]:
        at = block.at(cite.start)
        sign = markdown[cite.start : cite.end]
        if block.points[at] == cite.start and block.content.startswith(sign, at):
            found[at] = cite
    return found


def _blocks(markdown: str, tokens: Sequence[Token]) -> dict[int, _Block]:
    lines = line_spans(markdown)
    read: dict[int, int] = {}  # how far a table's row is read
    blocks: dict[int, _Block] = {}
    for position, token in enumerate(tokens):
        if token.type == "inline" and token.map:
            if tokens[position - 1].type in ("th_open", "td_open"):
                points: Sequence[int] = _in_row(token.content, markdown, lines[token.map[0]], read)
            else:
                points = places(token.content, markdown, lines[slice(*token.map)])
            blocks[position] = _Block(content=token.content, points=points)
    return blocks


def _in_row(content: str, markdown: str, line: tuple[int, int], read: dict[int, int]) -> list[int]:
    """The places of a cell, in which an escaped bar was made a bar; looked for after the cells before it."""
    start, end = line
    written = content.replace("|", "\\|")
    at = markdown.find(written, read.get(start, start), end)
    if at < 0:
        return [start] * len(content)
    read[start] = at + len(written)
    points = []
    for sign in content:
        at += sign == "|"
        points.append(at)
        at += 1
    return points


class ReportBody(msgspec.Struct, frozen=True, kw_only=True):
    """A report, and the positions of its claims and citations in its `markdown`.

    `notices` are the starts of the paragraphs that code put into it.
    """

    report: Report
    claims: tuple[ClaimSpan, ...]
    cites: tuple[NumberedCitation, ...] = ()
    notices: frozenset[int] = frozenset()


def read_body(view: RunView, citations: CitationMode) -> ReportBody:
    """The report of a run. In any mode but `none` citations are found as numbers; the mode says how they look."""
    numbered = citations != "none"
    report, body, books = render_report(view, "numbers" if numbered else "none")
    cites = body.cited(books.numbers) if numbered else ()
    spans = _claim_spans(view, report, body, cites)
    return ReportBody(report=report, claims=spans, cites=cites, notices=_notices(view, body))


def _notices(view: RunView, body: RenderedText) -> frozenset[int]:
    """Where the paragraphs by code begin: known by the origin of their blocks in the report as written."""
    with spoken(Phrases(stated=view.report.stated)):
        blocks = read_blocks(view.report.text) if view.report.stated else ()
    leaves = (leaf for block in blocks for leaf in block.leaves())
    starts = (leaf.start for leaf in leaves if leaf.kind == "paragraph" and leaf.origin != "writer")
    return frozenset(body.span(start, start)[0] for start in starts)


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


_TEXT, _CLAIMS, _CITES, _PLAN = "text", "claims", "cites", "plan"  # what the environment of a parse holds


class _Reader(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - the library's name
        """Only addresses of the web; any other link stays text."""
        return link_target(url) is not None


class _Plan:
    """The marks of the block which is being parsed, and how many are set."""

    def __init__(self, placed: BlockMarks) -> None:
        self.cites = placed.cites
        self._marks = placed.marks
        self._places = [mark.at for mark in placed.marks]
        self._set = 0

    def stop(self, after: int, end: int) -> int:
        """The first place after `after` where text has to be cut, at most `end`."""
        following = bisect_right(self._places, after)
        return min(self._places[following], end) if following < len(self._places) else end

    def due(self, at: int) -> Sequence[Mark]:
        """The marks up to `at` which are not set yet."""
        until = bisect_right(self._places, at)
        marks, self._set = self._marks[self._set : until], max(self._set, until)
        return marks


def parse(markdown: str, claims: Sequence[ClaimSpan], cites: Sequence[NumberedCitation]) -> list[Token]:
    """The tokens of `markdown`; among the children of `inline` ones `mark` (meta: a `Mark`) and `cite` (a
    `NumberedCitation`).

    A citation which is not found again becomes a link to `#source-N`.
    """
    numbers = sorted({cite.number for cite in cites})
    references = {str(number): {"href": f"#source-{number}", "title": ""} for number in numbers}
    return _reader().parse(markdown, {"references": references, _TEXT: markdown, _CLAIMS: claims, _CITES: cites})


@functools.cache
def _reader() -> MarkdownIt:
    reader = _Reader("commonmark", {"html": False, "linkify": False, "typographer": False})
    reader.enable(["table", "strikethrough"]).disable(["image", "html_block", "html_inline"])
    reader.core.ruler.at("inline", _inline)
    reader.inline.ruler.at("text", _text)
    reader.inline.ruler.before("text", "mark", _mark)
    return reader


def _inline(state: StateCore) -> None:
    """The library's rule of this name, with what stands in each block."""
    placed = place(state.env[_TEXT], state.tokens, state.env[_CLAIMS], state.env[_CITES])
    for position, token in enumerate(state.tokens):
        if token.type == "inline":
            plan = state.env[_PLAN] = _Plan(placed.get(position, BlockMarks()))
            token.children = state.md.inline.parse(token.content, state.md, state.env, [])
            token.children += [Token("mark", "", 0, meta={"mark": mark}) for mark in plan.due(len(token.content))]


def _mark(state: StateInline, silent: bool) -> bool:
    """Set the marks that are due; take a citation."""
    plan: _Plan = state.env[_PLAN]
    for mark in () if silent else plan.due(state.pos):
        state.push("mark", "", 0).meta["mark"] = mark
    cite = plan.cites.get(state.pos)
    if cite is None or state.pos + cite.end - cite.start > state.posMax:
        return False
    if not silent:
        state.push("cite", "", 0).meta["cite"] = cite
    state.pos += cite.end - cite.start
    return True


def _text(state: StateInline, silent: bool) -> bool:
    """The library's rule of this name, which stops at marks too."""
    sign = state.md.inline.terminator_re.search(state.src, state.pos, state.posMax)
    plan: _Plan = state.env[_PLAN]
    end = plan.stop(state.pos, sign.start() if sign else state.posMax)
    if end == state.pos:
        return False
    if not silent:
        state.append_pending(state.src[state.pos : end])
    state.pos = end
    return True
