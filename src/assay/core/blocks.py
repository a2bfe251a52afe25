"""A report as typed blocks: its Markdown is read once, and every part of Assay works on what was found.

Blocks are those of CommonMark with tables. What stands inside one is left as written: markers and sentences are read
by `core.markers` and `core.text`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token

from assay.core.translation import Statement, speech, stated

BlockKind = Literal[
    "heading", "paragraph", "list", "item", "quote", "table", "head row", "row", "code", "html", "rule", "space"
]
Origin = Literal["writer", "engine:notice", "engine:date", "engine:missing"]
"""Who a block is by: the writer, or code itself, and then what it says (`core.translation.Statement`)."""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A block of a text; `text` are the lines of the text from code point `start` on which it takes up.

    `content` is what is in a heading or paragraph without its signs and those of what it stands in; `level` is that of
    a heading, `ordered` says that a list is numbered. `children` are the blocks in a list, item, quotation or table.
    Between others stands a block of kind "space": blank lines, and the definitions of links.
    """

    kind: BlockKind
    text: str
    start: int
    content: str = ""
    level: int = 0
    ordered: bool = False
    origin: Origin = "writer"
    children: tuple[Block, ...] = ()

    @property
    def end(self) -> int:
        """The code point behind it."""
        return self.start + len(self.text)

    @property
    def line(self) -> str:
        """Its only line, without what ends it."""
        return self.text.rstrip("\r\n")

    @property
    def is_aside(self) -> bool:
        """Whether it is a paragraph on one line, in italics from end to end, and not part of anything else."""
        inner = self.content[1:-1]
        whole = self.kind == "paragraph" and self.content == f"*{inner}*" and self.text.startswith("*")
        return whole and bool(inner) and "*" not in inner and "\n" not in inner

    def retold(self, said: str) -> str:
        """Its text with `said` in the place of what it says, in the same looks."""
        return self.text.replace(self.content.strip("*"), said)

    def leaves(self) -> Iterator[Block]:
        """The blocks in it, or itself, which have none in them, in order."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()


def read_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of `text`; joined, their texts are `text` (`render`).

    Who they are by is known from what code stated (`core.translation.state`). Kept, as everything from writing to the
    final gate reads one report.
    """
    return _kept(text, frozenset(speech().stated.items()))


@functools.lru_cache(maxsize=64)
def _kept(text: str, known: frozenset[tuple[str, Statement]]) -> tuple[Block, ...]:
    del known  # what code stated decides on origins: without it in the key those of before would be given
    return parse(text)


def parse(text: str) -> tuple[Block, ...]:
    """As `read_blocks`; nothing is kept: for texts which are read once, like what still streams."""
    lines = line_spans(text)
    tokens = iter(_markdown().parse(text))
    found: list[Block] = []
    at = 0
    for block in _Reader(text, lines, tokens).blocks():
        if block.start > at:
            found.append(Block(kind="space", text=text[at : block.start], start=at))
        found.append(block)
        at = block.end
    if at < len(text):
        found.append(Block(kind="space", text=text[at:], start=at))
    return tuple(found)


def render(blocks: Iterable[Block]) -> str:
    """The text of blocks which follow one another."""
    return "".join(block.text for block in blocks)


def line_spans(text: str) -> list[tuple[int, int]]:
    """Where each line is, as markdown-it counts them, without what ends it; two more, empty, at the end."""
    found = []
    start = 0
    for ending in _ENDING.finditer(text):
        found.append((start, ending.start()))
        start = ending.end()
    return [*found, (start, len(text)), (len(text), len(text)), (len(text), len(text))]


def places(content: str, text: str, lines: Sequence[tuple[int, int]]) -> list[int]:
    """The code point in `text` of each character of `content`, which stands in these lines behind the signs of blocks.

    Of what is not found there it is the line's start; a line's end is that of the line.
    """
    found: list[int] = []
    text = text.replace("\0", "\ufffd")  # as markdown-it has it
    for part, (start, end) in zip(content.split("\n"), lines, strict=False):
        body = part.strip()
        at = text.rfind(body, start, end) if body else end
        begin = at - (len(part) - len(part.lstrip())) if body else end - len(part)
        if at >= 0 and begin >= start:
            found.extend(range(begin, begin + len(part)))  # nearly always; only what has no place is squeezed in
        else:
            found += [min(max(begin + place, start), end) if at >= 0 else start for place in range(len(part))]
        found.append(end)
    return found[:-1]


_ENDING = re.compile(r"\r\n?|\n")
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
_ORIGINS: dict[Statement, Origin] = {"notice": "engine:notice", "date": "engine:date", "missing": "engine:missing"}


@functools.cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])


class _Reader:
    def __init__(self, text: str, lines: Sequence[tuple[int, int]], tokens: Iterator[Token]) -> None:
        self._text, self._lines, self._tokens = text, lines, tokens
        self._content = ""  # of the block read last
        self._row: BlockKind = "row"

    def blocks(self) -> list[Block]:
        """The blocks up to the end of what they stand in."""
        found: list[Block] = []
        for token in self._tokens:
            if token.nesting < 0:
                break
            if token.type == "inline":
                self._content = token.content
            elif token.type in _KINDS:
                found.append(self._block(token, _KINDS[token.type]))
            elif token.type == "thead_open":
                self._row = "head row"
                found += self.blocks()
                self._row = "row"
            elif token.nesting:
                found += self.blocks()
        return found

    def _block(self, token: Token, kind: BlockKind) -> Block:
        kind = self._row if kind == "row" else kind
        inside = tuple(self.blocks()) if token.nesting else ()
        first, after = token.map or (0, 0)
        start = self._lines[first][0]
        content = self._content if kind in ("heading", "paragraph") else ""
        said = stated(content) if content else None
        return Block(
            kind=kind,
            text=self._text[start : self._lines[after][0]],
            start=start,
            content=content,
            level=int(token.tag[1]) if kind == "heading" else 0,
            ordered=token.type == "ordered_list_open",
            origin=_ORIGINS[said] if said else "writer",
            children=inside,
        )
