"""A report's blocks as formatted blocks and pieces of text, for formats without Markdown of their own.

Tokens without width, which Markdown's rules never see, mark where a claim begins, where it ends, and where its badge
stands.
"""

from __future__ import annotations

import functools
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore, text_join
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from assay.core.bibliography import NumberedCitation
from assay.core.blocks import Block, BlockClaim, markdown_parser
from assay.core.claims import Verdict
from assay.core.clean import HARMFUL
from assay.core.lazy import regex
from assay.core.markers import CitationMode
from assay.core.phrases import verdict
from assay.export.report_parts import ReportBody, ReportText

Edge = Literal["end", "badge", "start"]
_ORDER: tuple[Edge, ...] = ("end", "badge", "start")
_PLAN = "plan"  # what the environment of a parse holds


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """The beginning or end of a claim in a block, or the place of its badge, before character `at` of the content."""

    at: int
    edge: Edge
    claim: int


def read_inline(text: ReportText, block: Block, claims: Sequence[BlockClaim]) -> list[Token]:
    """The tokens of a heading, paragraph or cell; among them `mark` (meta: a `Mark`) for these of its claims, and
    `cite` (a `NumberedCitation`).
    """
    plan = _Plan(claims, _citations_by_start(text, block))
    environment = {"references": text.links, _PLAN: plan}
    reader = _reader()
    inline = Token("inline", "", 0, children=reader.inline.parse(block.content, reader, environment, []))
    assert inline.children is not None
    inline.children += [Token("mark", "", 0, meta={"mark": mark}) for mark in plan.take_due(len(block.content))]
    text_join(StateCore("", reader, environment, [inline]))
    return inline.children


def _citations_by_start(text: ReportText, block: Block) -> dict[int, NumberedCitation]:
    """The citations that are whole in the block, by the character at which they begin."""
    points = block.points
    if not points:
        return {}
    first = bisect_left(text.cites, points[0], key=lambda cite: cite.start)
    last = bisect_right(text.cites, points[-1], key=lambda cite: cite.start)
    citations: dict[int, NumberedCitation] = {}
    for cite in text.cites[first:last]:
        index = bisect_left(points, cite.start)
        if points[index] == cite.start and block.content.startswith(f"[{cite.number}]", index):
            citations[index] = cite
    return citations


class _Plan:
    """The marks of the block being parsed; counts those already set."""

    def __init__(self, claims: Sequence[BlockClaim], cites: dict[int, NumberedCitation]) -> None:
        self.cites = cites
        marks = [mark for claim in claims for mark in _marks(claim)]
        self._marks = sorted(marks, key=lambda mark: (mark.at, _ORDER.index(mark.edge)))
        self._positions = [mark.at for mark in self._marks]
        self._next_index = 0

    def next_cut(self, after: int, end: int) -> int:
        """The first place after `after` where the text must be cut, at most `end`."""
        index = bisect_right(self._positions, after)
        return min(self._positions[index], end) if index < len(self._positions) else end

    def take_due(self, position: int) -> Sequence[Mark]:
        """The marks up to `position` that are not set yet."""
        first = self._next_index
        while self._next_index < len(self._positions) and self._positions[self._next_index] <= position:
            self._next_index += 1
        return self._marks[first : self._next_index]


def _marks(claim: BlockClaim) -> list[Mark]:
    edges: list[tuple[Edge, int]] = [("start", claim.start), ("end", claim.end), ("badge", claim.close)]
    return [Mark(at=position, edge=edge, claim=claim.index) for edge, position in edges if position >= 0]


@functools.cache
def _reader() -> MarkdownIt:
    reader = markdown_parser()
    reader.inline.ruler.at("text", _text)
    reader.inline.ruler.before("text", "mark", _mark)
    return reader


def _mark(state: StateInline, silent: bool) -> bool:
    """Set the marks that are due; take a citation."""
    plan: _Plan = state.env[_PLAN]
    for mark in () if silent else plan.take_due(state.pos):
        state.push("mark", "", 0).meta["mark"] = mark
    cite = plan.cites.get(state.pos)
    if cite is None or state.pos + cite.end - cite.start > state.posMax:
        return False
    if not silent:
        state.push("cite", "", 0).meta["cite"] = cite
    state.pos += cite.end - cite.start
    return True


def _text(state: StateInline, silent: bool) -> bool:
    """The library's rule of this name, but stopping at marks too."""
    sign = state.md.inline.terminator_re.search(state.src, state.pos, state.posMax)
    plan: _Plan = state.env[_PLAN]
    end = plan.next_cut(state.pos, sign.start() if sign else state.posMax)
    if end == state.pos:
        return False
    if not silent:
        state.append_pending(state.src[state.pos : end])
    state.pos = end
    return True


# The reading is that of the HTML page (no raw HTML, no images, links only to the web); what nests deeper than
# `MAX_DEPTH` is lifted. No text contains control characters, or marks that reorder it.


SIGNS: dict[Verdict, str] = {"partial": "◐", "unsupported": "✗", "contradicted": "⚠"}
"""The verdicts shown in the text after their claims, with the sign of each."""
MAX_LINK_CHARS = 2_000
"""Characters; a longer address stays text: Word and terminals take at most 2,083, and typst refuses 8,000."""
MAX_DEPTH = 5
"""The deepest nesting of lists and quotations."""

_NOT_XML = regex(r"[\ufffe\uffff]")
_SOURCE = "#source-"  # the link of a citation that was found only as a reference


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """Text of one kind; a line end in it is a break. `link` is an address of the web, `cite` a number of a source.

    With a `verdict` it is the mark after a claim that a reader should check.
    """

    text: str
    bold: bool = False
    italic: bool = False
    struck: bool = False
    code: bool = False
    link: str = ""
    cite: int = 0
    verdict: Literal["", Verdict] = ""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """Pieces in order; `rtl` says that they begin in a script written from right to left."""

    pieces: tuple[Piece, ...] = ()
    rtl: bool = False

    @property
    def text(self) -> str:
        """The text without its formatting."""
        return "".join(piece.text for piece in self.pieces)


class Heading(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="heading"):
    """`level` counts from 1, whatever the report's first level was."""

    level: int
    line: Line


class Paragraph(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="paragraph"):
    """A paragraph; a `notice` is one that code put into the report."""

    line: Line
    notice: bool = False


class Items(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="items"):
    """A list; `start` is the first number of an ordered one."""

    ordered: bool
    start: int
    items: tuple[tuple[FormattedBlock, ...], ...]


class Quote(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="quote"):
    """A quotation."""

    blocks: tuple[FormattedBlock, ...]


class Code(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="code"):
    """Lines of code, as they are."""

    text: str


class Table(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="table"):
    """Rows of cells; the first is the header, and all have as many cells."""

    rows: tuple[tuple[Line, ...], ...]


class Rule(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="rule"):
    """A horizontal line between two parts."""


FormattedBlock = Heading | Paragraph | Items | Quote | Code | Table | Rule
"""A part of a report as it is shown; `core.blocks.Block` is the same part as it is written."""


def clean_text(text: str) -> str:
    """`text` without control characters, marks that reorder it, and characters that XML forbids."""
    return _NOT_XML.sub("", HARMFUL.sub("", text))


def make_line(*pieces: Piece | str) -> Line:
    """A line of these pieces; strings become plain pieces."""
    all_pieces = (Piece(text=clean_text(piece)) if isinstance(piece, str) else piece for piece in pieces)
    nonempty = tuple(
        msgspec.structs.replace(piece, link="") if len(piece.link) > MAX_LINK_CHARS else piece
        for piece in all_pieces
        if piece.text
    )
    return Line(pieces=nonempty, rtl=_is_right_to_left("".join(piece.text for piece in nonempty)))


def _is_right_to_left(text: str) -> bool:
    """True if the first letter is of a script written from right to left (Unicode, UAX 9, rule P2)."""
    for sign in text:
        direction = unicodedata.bidirectional(sign)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return False


def read_formatted(body: ReportBody, citations: CitationMode) -> tuple[FormattedBlock, ...]:
    """The report's text as blocks: citations as numbers, in `markers` mode as ids, in `none` mode left out.

    Each claim that a reader should check is followed by its verdict, as a sign and a word.
    """
    return tuple(_Reader(body, ids=citations == "markers").blocks(body.text.blocks, 0))


class _Reader:
    def __init__(self, body: ReportBody, *, ids: bool) -> None:
        """With `ids`, citations are shown as their ids."""
        self._text, self._verdicts, self._ids = body.text, [claim.verdict for claim in body.report.claims], ids
        self._level_offset = body.text.top_level - 1

    def blocks(self, blocks: Iterable[Block], depth: int) -> Iterator[FormattedBlock]:
        for block in blocks:
            yield from self._block(block, depth)

    def _block(self, block: Block, depth: int) -> Iterator[FormattedBlock]:
        match block.kind:
            case "heading":
                yield Heading(level=block.level - self._level_offset, line=self._line(block))
            case "paragraph":
                yield Paragraph(line=self._line(block), notice=block.origin != "writer")
            case "code":
                yield Code(text=clean_text(block.content.rstrip("\n")))
            case "table":
                yield Table(rows=tuple(tuple(map(self._line, row.cells)) for row in block.children))
            case "rule":
                yield Rule()
            case "quote" if depth < MAX_DEPTH:
                yield Quote(blocks=tuple(self.blocks(block.children, depth + 1)))
            case "list" if depth < MAX_DEPTH:
                items = tuple(tuple(self.blocks(item.children, depth + 1)) for item in block.children)
                yield Items(
                    ordered=block.number is not None, start=1 if block.number is None else block.number, items=items
                )
            case _:
                yield from self.blocks(block.children, depth)

    def _line(self, block: Block) -> Line:
        claims = [claim for claim in block.claims if self._verdicts[claim.index] in SIGNS]
        return make_line(*self._pieces(read_inline(self._text, block, claims)))

    def _pieces(self, tokens: Iterable[Token]) -> Iterator[Piece]:
        """The text in pieces, each with the formatting around it."""
        styles = [Piece(text="")]
        for token in tokens:
            looks = styles[-1]
            match token.type:
                case "cite":
                    yield self._cite(token.meta["cite"])
                case "mark":
                    yield from self._verdict(token.meta["mark"])
                case "softbreak" | "hardbreak":
                    yield msgspec.structs.replace(looks, text=" " if token.type == "softbreak" else "\n")
                case "code_inline":
                    yield msgspec.structs.replace(looks, text=clean_text(token.content), code=True)
                case _ if token.nesting > 0:
                    styles.append(_styled_piece(token, looks))
                case _ if token.nesting < 0:
                    styles.pop()
                case _:
                    yield msgspec.structs.replace(looks, text=clean_text(token.content))

    def _cite(self, citation: NumberedCitation) -> Piece:
        label = f"[{', '.join(citation.ids)}]" if self._ids else f"[{citation.number}]"
        return Piece(text=label, cite=citation.number)

    def _verdict(self, mark: Mark) -> Iterator[Piece]:
        """The verdict of a claim, at the place of its badge; nothing elsewhere."""
        if mark.edge == "badge":
            name = self._verdicts[mark.claim]
            yield Piece(text=f" [{SIGNS[name]} {verdict(name)}]", bold=True, verdict=name)


def _styled_piece(token: Token, style: Piece) -> Piece:
    if token.tag == "a":
        target = str(token.attrs.get("href", ""))
        if target.startswith(_SOURCE):
            return msgspec.structs.replace(style, cite=int(target.removeprefix(_SOURCE)))
        return msgspec.structs.replace(style, link=target)
    looks = {"strong": "bold", "em": "italic", "s": "struck"}
    return msgspec.structs.replace(style, **{looks[token.tag]: True})
