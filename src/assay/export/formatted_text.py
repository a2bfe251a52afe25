"""A report's Markdown as a tree of formatted blocks and pieces of text, for formats without Markdown of their own.

The reading is that of the HTML page (no raw HTML, no images, links only to the web); what nests deeper than `DEEPEST`
is lifted. All text is free of controls and of marks which reorder it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
from markdown_it.tree import SyntaxTreeNode

from assay.core.bibliography import NumberedCitation
from assay.core.blocks import line_spans
from assay.core.claims import Verdict
from assay.core.clean import HARMFUL
from assay.core.markers import CitationMode
from assay.core.phrases import verdict
from assay.export.inline import ClaimSpan, Mark, ReportBody, parse

SIGNS: dict[Verdict, str] = {"partial": "◐", "unsupported": "✗", "contradicted": "⚠"}
"""The verdicts which are told in the text, behind their claims, and the sign of each."""
DEEPEST = 5
"""How deep lists and quotations may lie in one another."""

_NOT_XML = re.compile(r"[\ufffe\uffff]")
_SOURCE = "#source-"  # where the reader links a citation which it finds only as a reference


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """Text of one kind; a line end in it is a break. `link` is an address of the web, `cite` a number of a source.

    With a `verdict` it is the mark behind a claim which a reader should look at.
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
    """Pieces after one another; `rtl` says that they begin in a script which runs from right to left."""

    pieces: tuple[Piece, ...] = ()
    rtl: bool = False

    @property
    def text(self) -> str:
        """The words without their looks."""
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
    """Rows of cells, the first the header; every row has as many as it."""

    rows: tuple[tuple[Line, ...], ...]


class Rule(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="rule"):
    """A line between two parts."""


FormattedBlock = Heading | Paragraph | Items | Quote | Code | Table | Rule
"""A part of a report as it looks; `core.blocks.Block` is the same part as it is written."""


def plain(text: str) -> str:
    """`text` without controls, marks which reorder it, and what no XML may hold."""
    return _NOT_XML.sub("", HARMFUL.sub("", text))


def line(*pieces: Piece | str) -> Line:
    """A line of these pieces, strings as they are."""
    made = tuple(Piece(text=plain(piece)) if isinstance(piece, str) else piece for piece in pieces)
    kept = tuple(piece for piece in made if piece.text)
    return Line(pieces=kept, rtl=_runs_left("".join(piece.text for piece in kept)))


def _runs_left(text: str) -> bool:
    """Whether the first letter is of a script which runs from right to left (Unicode, UAX 9, rule P2)."""
    for sign in text:
        direction = unicodedata.bidirectional(sign)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return False


def read_formatted(body: ReportBody, citations: CitationMode) -> tuple[FormattedBlock, ...]:
    """The report's text as blocks: citations as numbers, in `markers` mode as ids, in `none` mode left out.

    Behind each claim which a reader should look at stands its verdict, as a sign and a word.
    """
    claims = tuple(span for span in body.claims if body.report.claims[span.index].verdict in SIGNS)
    return _read(body.report.markdown, claims, body.cites, _Marks(body, ids=citations == "markers"))


def read_markdown(markdown: str, cites: Sequence[NumberedCitation] = ()) -> tuple[FormattedBlock, ...]:
    """`markdown` as blocks; a citation is shown as its number."""
    return _read(markdown, (), cites, _Marks())


def _read(
    markdown: str, claims: Sequence[ClaimSpan], cites: Sequence[NumberedCitation], marks: _Marks
) -> tuple[FormattedBlock, ...]:
    root = SyntaxTreeNode(parse(markdown, claims, cites))
    levels = [int(node.tag[1]) for node in root.walk() if node.type == "heading"]
    starts = [start for start, _ in line_spans(markdown)]
    return tuple(_Reader(min(levels, default=1) - 1, starts, marks).blocks(root.children, 0))


class _Marks:
    """What stands in a text besides its words: citations, with `ids` as the ids they stand for, and verdicts."""

    def __init__(self, body: ReportBody | None = None, *, ids: bool = False) -> None:
        self._claims, self._ids = body.report.claims if body else (), ids
        self.notices = body.notices if body else frozenset[int]()

    def cite(self, cited: NumberedCitation) -> Piece:
        """A citation."""
        said = f"[{', '.join(cited.ids)}]" if self._ids else f"[{cited.number}]"
        return Piece(text=said, cite=cited.number)

    def verdict(self, mark: Mark) -> Iterator[Piece]:
        """The verdict behind a claim, where the claim ends; nothing elsewhere."""
        if mark.edge == "badge":
            found = self._claims[mark.claim].verdict
            yield Piece(text=f" [{SIGNS[found]} {verdict(found)}]", bold=True, verdict=found)


class _Reader:
    def __init__(self, up: int, starts: Sequence[int], marks: _Marks) -> None:
        """`up` is how far headings are lifted, `starts` are those of the lines."""
        self._up, self._starts, self._marks = up, starts, marks

    def blocks(self, nodes: Sequence[SyntaxTreeNode], depth: int) -> Iterator[FormattedBlock]:
        for node in nodes:
            yield from self._block(node, depth)

    def _block(self, node: SyntaxTreeNode, depth: int) -> Iterator[FormattedBlock]:
        match node.type:
            case "heading":
                yield Heading(level=int(node.tag[1]) - self._up, line=self._line(node))
            case "paragraph":
                first = self._starts[node.map[0]] if node.map else -1
                yield Paragraph(line=self._line(node), notice=first in self._marks.notices)
            case "fence" | "code_block":
                yield Code(text=plain(node.content.rstrip("\n")))
            case "table":
                yield Table(rows=tuple(self._rows(node)))
            case "hr":
                yield Rule()
            case "bullet_list" | "ordered_list" | "blockquote" if depth < DEEPEST:
                yield self._nested(node, depth + 1)
            case _:
                yield from self.blocks(node.children, depth)

    def _nested(self, node: SyntaxTreeNode, depth: int) -> FormattedBlock:
        if node.type == "blockquote":
            return Quote(blocks=tuple(self.blocks(node.children, depth)))
        items = tuple(tuple(self.blocks(item.children, depth)) for item in node.children)
        return Items(ordered=node.type == "ordered_list", start=int(node.attrs.get("start", 1)), items=items)

    def _rows(self, table: SyntaxTreeNode) -> Iterator[tuple[Line, ...]]:
        for part in table.children:
            for row in part.children:
                yield tuple(self._line(cell) for cell in row.children)

    def _line(self, node: SyntaxTreeNode) -> Line:
        return line(*(piece for inline in node.children for piece in self._pieces(inline, Piece(text=""))))

    def _pieces(self, node: SyntaxTreeNode, looks: Piece) -> Iterator[Piece]:
        """The pieces inside `node`, in the looks of what is around them."""
        for child in node.children:
            match child.type:
                case "cite":
                    yield self._marks.cite(child.meta["cite"])
                case "mark":
                    yield from self._marks.verdict(child.meta["mark"])
                case "softbreak" | "hardbreak":
                    yield msgspec.structs.replace(looks, text=" " if child.type == "softbreak" else "\n")
                case "code_inline":
                    yield msgspec.structs.replace(looks, text=plain(child.content), code=True)
                case "strong" | "em" | "s" | "link":
                    yield from self._pieces(child, _looks(child, looks))
                case _:
                    yield msgspec.structs.replace(looks, text=plain(child.content))


def _looks(node: SyntaxTreeNode, around: Piece) -> Piece:
    if node.type == "link":
        target = str(node.attrs.get("href", ""))
        if target.startswith(_SOURCE):
            return msgspec.structs.replace(around, cite=int(target.removeprefix(_SOURCE)))
        return msgspec.structs.replace(around, link=target)
    looks = {"strong": "bold", "em": "italic", "s": "struck"}
    return msgspec.structs.replace(around, **{looks[node.type]: True})
