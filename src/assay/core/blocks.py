"""A report as typed blocks: its Markdown is read once, and every part of Assay works on what was found.

Blocks are those of CommonMark with tables. What stands inside one is left as written: markers and sentences are read
by `core.markers` and `core.text`, and for readers by `markdown_parser`, the one configuration of the parser.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from assay.core.brief import Section
from assay.core.clean import link_target
from assay.core.errors import UsageError
from assay.core.lazy import lazy_module, regex
from assay.core.translation import Statement, current_phrases, statement_kind

if TYPE_CHECKING:
    import markdown_it
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
else:
    markdown_it = lazy_module("markdown_it")

BlockKind = Literal[
    "heading", "paragraph", "list", "item", "quote", "table", "head row", "row", "cell", "code", "html", "rule", "space"
]
Origin = Literal["writer", "engine:notice", "engine:date", "engine:missing"]
"""Who a block is by: the writer, or code itself, and then what it says (`core.translation.Statement`)."""


class BlockClaim(msgspec.Struct, frozen=True):
    """Claim `index` of the report as far as one block states it: `[start, end)` are characters of its `content`.

    `close` is where the citations behind the claim end, -1 if a later block states the rest of it.
    """

    index: int
    start: int
    end: int
    close: int = -1


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A block of a text; `text` are the lines of the text from code point `start` on which it takes up.

    `content` is what is in a heading, paragraph or cell without its signs and those of what it stands in, or the lines
    of code. `level` is that of a heading, `number` the first of a numbered list; `tight` paragraphs stand in a list
    without blank lines, and `align` is the side of a cell's column. `children` are the blocks in a list, item,
    quotation or table, `cells` those of a row. Between others stands a block of kind "space": blank lines, and the
    definitions of links. `claims` are those that it states, as far as they are known.
    """

    kind: BlockKind
    text: str
    start: int
    content: str = ""
    level: int = 0
    number: int | None = None
    tight: bool = False
    align: str = ""
    origin: Origin = "writer"
    claims: tuple[BlockClaim, ...] = ()
    children: tuple[Block, ...] = ()
    cells: tuple[Block, ...] = ()

    @property
    def end(self) -> int:
        """The code point behind it."""
        return self.start + len(self.text)

    @property
    def line(self) -> str:
        """Its only line, without what ends it."""
        return self.text.rstrip("\r\n")

    @property
    def points(self) -> Sequence[int]:
        """The code point of the text of each character of its content (ascending)."""
        if self.kind == "cell":
            return range(self.start, self.end) if self.text == self.content else _cell_points(self)
        if "\n" in self.content:
            return character_points(self.content, self.text, line_spans(self.text), self.start)
        ending = _ENDING.search(self.text)  # of its first line, where all of it stands
        return character_points(
            self.content, self.text, [(0, ending.start() if ending else len(self.text))], self.start
        )

    @property
    def is_aside(self) -> bool:
        """True if it is a paragraph on one line, in italics from end to end, and not part of anything else."""
        inner = self.content[1:-1]
        is_italic = self.kind == "paragraph" and self.content == f"*{inner}*" and self.text.startswith("*")
        return is_italic and bool(inner) and "*" not in inner and "\n" not in inner

    def replace_content(self, text: str) -> str:
        """Its text with `text` in the place of what it says, in the same looks."""
        return self.text.replace(self.content.strip("*"), text)

    def leaves(self) -> Iterator[Block]:
        """The blocks in it, or itself, which have none in them, in order."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def prose_blocks(self) -> Iterator[Block]:
        """The headings, paragraphs and cells in it, or itself if it is one, in order."""
        for leaf in self.leaves():
            if leaf.kind in _PROSE:
                yield leaf
            yield from leaf.cells


def read_blocks(text: str, *, html: bool = False) -> tuple[Block, ...]:
    """The blocks of `text`; joined, their texts are `text`.

    A report is read as it is shown: HTML and images are text, and links lead only to the web. With `html`, for a draft
    of somebody else, they are what they are.

    Who they are by is known from what code stated (`core.translation.state`). Kept, as everything from writing to the
    final gate reads one report.
    """
    return _cached_blocks(text, frozenset(current_phrases().statements.items()), html)


@functools.lru_cache(maxsize=64)
def _cached_blocks(text: str, known_statements: frozenset[tuple[str, Statement]], html: bool) -> tuple[Block, ...]:
    del known_statements  # only part of the key: what code stated decides on who blocks are by
    return parse_blocks(text, html=html)


def parse_blocks(text: str, *, html: bool = False, links: dict[str, Any] | None = None) -> tuple[Block, ...]:
    """As `read_blocks`; nothing is kept: for texts which are read once, like what still streams.

    The definitions of links in `text` are added to `links`, as markdown-it has them.
    """
    tokens = iter(_reader(html=html).parse(text, {} if links is None else {"references": links}))
    blocks: list[Block] = []
    position = 0
    for block in _Reader(text, line_spans(text), tokens).blocks():
        if block.start > position:
            blocks.append(Block(kind="space", text=text[position : block.start], start=position))
        blocks.append(block)
        position = block.end
    if position < len(text):
        blocks.append(Block(kind="space", text=text[position:], start=position))
    return tuple(blocks)


def line_spans(text: str) -> list[tuple[int, int]]:
    """Where each line is, as markdown-it counts them, without what ends it; two more, empty, at the end."""
    spans = []
    start = 0
    for ending in _ENDING.finditer(text):
        spans.append((start, ending.start()))
        start = ending.end()
    return [*spans, (start, len(text)), (len(text), len(text)), (len(text), len(text))]


def character_points(content: str, text: str, lines: Sequence[tuple[int, int]], offset: int = 0) -> Sequence[int]:
    """The code point in `text` of each character of `content`, which stands in these lines behind the signs of blocks.

    Of what is not found there it is the line's start; a line's end is that of the line. `offset` is added to each.
    """
    text = text.replace("\0", "\ufffd")  # as markdown-it has it
    parts = content.split("\n")
    points: list[int] = []
    for part, (start, end) in zip(parts, lines, strict=False):
        line_points = _line_points(part, text, start, end)
        if len(parts) == 1 and isinstance(line_points, range):
            return range(line_points.start + offset, line_points.stop + offset)  # as nearly always: no number is made
        points.extend(offset + point for point in (*line_points, end))
    return points[:-1]


def _line_points(part: str, text: str, start: int, end: int) -> Sequence[int]:
    body = part.strip()
    body_start = text.rfind(body, start, end) if body else end
    begin = body_start - (len(part) - len(part.lstrip())) if body else end - len(part)
    if body_start >= 0 and begin >= start:
        return range(begin, begin + len(part))  # nearly always; only what has no place is squeezed in
    return [min(max(begin + index, start), end) if body_start >= 0 else start for index in range(len(part))]


_ENDING = regex(r"\r\n?|\n")
_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "list_item_open": "item",
    "blockquote_open": "quote",
    "table_open": "table",
    "tr_open": "row",
    "fence": "code",
    "code_block": "code",
    "html_block": "html",
    "hr": "rule",
}
_PROSE = frozenset(("heading", "paragraph"))
_ORIGINS: dict[Statement, Origin] = {"notice": "engine:notice", "date": "engine:date", "missing": "engine:missing"}


def markdown_parser(*, html: bool = False) -> MarkdownIt:
    """A new parser, which reads blocks and leaves what is inside them; `html` as `read_blocks`."""
    parser = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable(["inline", "text_join"])
    if html:
        return parser
    parser.validateLink = _is_shown  # type: ignore[method-assign]  # a subclass would load the library with this module
    return parser.disable(["image", "html_block", "html_inline"])


def _is_shown(url: str) -> bool:
    """Only addresses of the web are links; any other stays text."""
    return link_target(url) is not None


_reader = functools.cache(markdown_parser)


class _Reader:
    def __init__(self, text: str, lines: Sequence[tuple[int, int]], tokens: Iterator[Token]) -> None:
        self._text, self._lines, self._tokens = text, lines, tokens
        self._content = ""  # of the block read last
        self._row: BlockKind = "row"

    def blocks(self) -> list[Block]:
        """The blocks up to the end of what they stand in."""
        blocks: list[Block] = []
        for token in self._tokens:
            if token.nesting < 0:
                break
            if token.type == "inline":
                self._content = token.content
            elif token.type in _KINDS:
                blocks.append(self._block(token, _KINDS[token.type]))
            elif token.tag in ("th", "td"):
                blocks.append(self._cell(token))
            elif token.type == "thead_open":
                self._row = "head row"
                blocks += self.blocks()
                self._row = "row"
            elif token.nesting:
                blocks += self.blocks()
        return blocks

    def _cell(self, token: Token) -> Block:
        """A cell, whose place in its row is not known yet."""
        self._content = ""
        self.blocks()
        side = str(token.attrs.get("style", "")).removeprefix("text-align:")
        return Block(kind="cell", text="", start=0, content=self._content, align=side)

    def _block(self, token: Token, kind: BlockKind) -> Block:
        kind = self._row if kind == "row" else kind
        inside = tuple(self.blocks()) if token.nesting else ()
        first, after = token.map or (0, 0)
        start = self._lines[first][0]
        text = self._text[start : self._lines[after][0]]
        if kind in ("row", "head row"):
            return Block(kind=kind, text=text, start=start, cells=tuple(_locate_cells(inside, text, start)))
        content = self._content if kind in _PROSE else token.content if kind == "code" else ""
        statement = statement_kind(content) if content and kind in _PROSE else None
        return Block(
            kind=kind,
            text=text,
            start=start,
            content=content,
            level=int(token.tag[1]) if kind == "heading" else 0,
            number=int(token.attrs.get("start", 1)) if token.type == "ordered_list_open" else None,
            tight=token.hidden,
            origin=_ORIGINS[statement] if statement else "writer",
            children=inside,
        )


def _locate_cells(cells: Iterable[Block], row: str, start: int) -> Iterator[Block]:
    """The cells of a row with the text of each, in which a bar is escaped; looked for after the cells before it."""
    search_start = 0
    row = row.replace("\0", "\ufffd")  # as markdown-it has it
    for cell in cells:
        cell_text = cell.content.replace("|", "\\|")
        index = row.find(cell_text, search_start)
        search_start = index + len(cell_text) if index >= 0 else search_start
        location = (cell_text, start + index) if index >= 0 else ("", start)
        yield msgspec.structs.replace(cell, text=location[0], start=location[1])


def _cell_points(cell: Block) -> list[int]:
    """The place of each character of a cell; if it was not found in its row, the row's start."""
    if not cell.text:
        return [cell.start] * len(cell.content)
    bars = itertools.accumulate(sign == "|" for sign in cell.content)
    return [cell.start + index + escapes for index, escapes in enumerate(bars)]


# Headings: the sections of a report, and the templates which say what they should be.

MAX_HEADINGS = 60
MAX_TITLE_CHARS = 200


class OutlineSection(msgspec.Struct, frozen=True, kw_only=True):
    """A heading and what stands below it, up to the next heading of any level; code points into the text.

    The heading's lines are `[start, body)`, what stands below it `[body, end)`.
    """

    level: int
    title: str
    start: int
    body: int
    end: int
    origin: Origin = "writer"


def outline(text: str) -> tuple[OutlineSection, ...]:
    """The headings of `text` in order; those inside lists, quotations and code are none of its own."""
    heads = [block for block in read_blocks(text) if block.kind == "heading"]
    ends = [*(head.start for head in heads), len(text)][1:]
    return tuple(
        OutlineSection(
            level=head.level,
            title=" ".join(head.content.split()),
            start=head.start,
            body=head.end,
            end=end,
            origin=head.origin,
        )
        for head, end in zip(heads, ends, strict=True)
    )


def read_template(text: str) -> tuple[Section, ...]:
    """The headings of a template, with what is said below each.

    Raises:
        UsageError: it has none, too many, one without a title, or text no heading stands above.
    """
    parts = outline(text)
    if not parts:
        raise UsageError("the template has no headings: write each on a line of its own, like “## Risks”")
    if text[: parts[0].start].strip():
        raise UsageError("the template has text above its first heading: put it below one, or into the instructions")
    if len(parts) > MAX_HEADINGS:
        raise UsageError(f"the template has {len(parts)} headings; at most {MAX_HEADINGS} can be filled")
    if any(not part.title or len(part.title) > MAX_TITLE_CHARS for part in parts):
        raise UsageError(f"a heading of the template is empty, or longer than {MAX_TITLE_CHARS} characters")
    return tuple(Section(level=part.level, title=part.title, hint=text[part.body : part.end].strip()) for part in parts)


_OPENING = regex("```|~~~|<")


def close_markup(text: str) -> str:
    """`text` with what it leaves open (a code fence, HTML) closed, so that a heading put after it is one."""
    if not _OPENING.search(text):
        return text
    longest = max(map(len, re.findall(r"`+|~+", text)), default=0)
    endings = ("", f"\n{'`' * longest}", f"\n{'~' * longest}", "\n-->")
    tries = (form + ending for form in (text, text.replace("<", "&lt;")) for ending in endings)
    return next((candidate for candidate in tries if _is_closed(candidate)), "")


def _is_closed(text: str) -> bool:
    after = f"{text}\n\n# end"
    return any(part.start == len(text) + 2 for part in outline(after)[-1:])


def leaf_headings(template: Sequence[Section]) -> frozenset[int]:
    """The places of the headings no heading of a lower level follows: below these something is to be said."""
    after = [*(section.level for section in template[1:]), 0]
    return frozenset(index for index, section in enumerate(template) if after[index] <= section.level)


def template_text(template: Sequence[Section]) -> str:
    """A template as Markdown."""
    return "\n\n".join("\n\n".join(filter(None, (heading_line(section), section.hint))) for section in template)


def heading_line(section: Section) -> str:
    """The line of a heading."""
    return f"{'#' * section.level} {section.title}"
