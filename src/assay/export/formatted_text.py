"""A report's blocks as formatted blocks and pieces of text, for formats without Markdown of their own.

The reading is that of the HTML page (no raw HTML, no images, links only to the web); what nests deeper than `DEEPEST`
is lifted. All text is free of controls and of marks which reorder it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec
from markdown_it.token import Token

from assay.core.bibliography import NumberedCitation
from assay.core.blocks import Block
from assay.core.claims import Verdict
from assay.core.clean import HARMFUL
from assay.core.markers import CitationMode
from assay.core.phrases import verdict
from assay.export.inline import Mark, read_inline
from assay.export.report_text import ReportBody

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
    return tuple(_Reader(body, ids=citations == "markers").blocks(body.text.blocks, 0))


class _Reader:
    def __init__(self, body: ReportBody, *, ids: bool) -> None:
        """With `ids` a citation is shown as the ids it stands for."""
        self._text, self._verdicts, self._ids = body.text, [claim.verdict for claim in body.report.claims], ids
        self._up = body.text.top - 1

    def blocks(self, blocks: Iterable[Block], depth: int) -> Iterator[FormattedBlock]:
        for block in blocks:
            yield from self._block(block, depth)

    def _block(self, block: Block, depth: int) -> Iterator[FormattedBlock]:
        match block.kind:
            case "heading":
                yield Heading(level=block.level - self._up, line=self._line(block))
            case "paragraph":
                yield Paragraph(line=self._line(block), notice=block.origin != "writer")
            case "code":
                yield Code(text=plain(block.content.rstrip("\n")))
            case "table":
                yield Table(rows=tuple(tuple(map(self._line, row.cells)) for row in block.children))
            case "rule":
                yield Rule()
            case "quote" if depth < DEEPEST:
                yield Quote(blocks=tuple(self.blocks(block.children, depth + 1)))
            case "list" if depth < DEEPEST:
                items = tuple(tuple(self.blocks(item.children, depth + 1)) for item in block.children)
                yield Items(
                    ordered=block.number is not None, start=1 if block.number is None else block.number, items=items
                )
            case _:
                yield from self.blocks(block.children, depth)

    def _line(self, block: Block) -> Line:
        claims = [claim for claim in block.claims if self._verdicts[claim.index] in SIGNS]
        return line(*self._pieces(read_inline(self._text, block, claims)))

    def _pieces(self, tokens: Iterable[Token]) -> Iterator[Piece]:
        """The text in pieces, each in the looks of what it stands in."""
        around = [Piece(text="")]
        for token in tokens:
            looks = around[-1]
            match token.type:
                case "cite":
                    yield self._cite(token.meta["cite"])
                case "mark":
                    yield from self._verdict(token.meta["mark"])
                case "softbreak" | "hardbreak":
                    yield msgspec.structs.replace(looks, text=" " if token.type == "softbreak" else "\n")
                case "code_inline":
                    yield msgspec.structs.replace(looks, text=plain(token.content), code=True)
                case _ if token.nesting > 0:
                    around.append(_looks(token, looks))
                case _ if token.nesting < 0:
                    around.pop()
                case _:
                    yield msgspec.structs.replace(looks, text=plain(token.content))

    def _cite(self, cited: NumberedCitation) -> Piece:
        said = f"[{', '.join(cited.ids)}]" if self._ids else f"[{cited.number}]"
        return Piece(text=said, cite=cited.number)

    def _verdict(self, mark: Mark) -> Iterator[Piece]:
        """The verdict behind a claim, where the claim ends; nothing elsewhere."""
        if mark.edge == "badge":
            found = self._verdicts[mark.claim]
            yield Piece(text=f" [{SIGNS[found]} {verdict(found)}]", bold=True, verdict=found)


def _looks(token: Token, around: Piece) -> Piece:
    if token.tag == "a":
        target = str(token.attrs.get("href", ""))
        if target.startswith(_SOURCE):
            return msgspec.structs.replace(around, cite=int(target.removeprefix(_SOURCE)))
        return msgspec.structs.replace(around, link=target)
    looks = {"strong": "bold", "em": "italic", "s": "struck"}
    return msgspec.structs.replace(around, **{looks[token.tag]: True})
