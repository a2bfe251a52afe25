"""A run's report as lines for a terminal: headings, lists, tables and links, wrapped at words."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich import box, table
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.text import Text

from assay.core.lazy import regex
from assay.core.markers import CitationMode
from assay.core.view import RunView
from assay.export.formatted_text import Code, FormattedBlock, Heading, Items, Line, Paragraph, Piece, Quote, Rule, Table
from assay.export.paper import read_paper

MAX_WIDTH = 100
"""The most columns of text on any terminal: longer lines are hard to read."""
MIN_WIDTH = 20

_ADDRESS = regex(r"[!-~]+")
"""The characters allowed in a link's escape sequence: none that could end it."""
_NOTICE, _CITATION, _CODE, _ADDRESSED = "dim", "cyan", "bold", "underline"
_VERDICTS = {"partial": "yellow", "unsupported": "red", "contradicted": "bold red"}


def render(view: RunView, citations: CitationMode, width: int, *, colour: bool) -> str:
    """The report of `view` in lines of at most `width` columns; without `colour` it has no escape sequences.

    It leaves out the counts of claims: the caller prints them in its last lines.
    """
    paper = read_paper(view, citations)
    console = Console(
        file=io.StringIO(),
        width=max(MIN_WIDTH, min(width, MAX_WIDTH)),
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )
    parts = [
        *_blocks(paper.body),
        *_section(paper.labels.sources, [(f"{source.number}.", source.line) for source in paper.sources]),
        *_section(paper.labels.to_check, [("•", line) for line in paper.to_check]),
        *_section(paper.labels.limits, [("•", line) for line in paper.limits]),
    ]
    with console.capture() as capture:
        for number, part in enumerate(parts):
            if number:
                console.print()
            console.print(part)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _blocks(blocks: Sequence[FormattedBlock]) -> Iterator[RenderableType]:
    """Blocks in order; consecutive notices of code share a paragraph."""
    for notices, group in groupby(blocks, lambda block: isinstance(block, Paragraph) and block.notice):
        if notices:
            yield Text(" ").join(_text(block.line) for block in group if isinstance(block, Paragraph))
        else:
            for block in group:
                yield _block(block)


def _block(block: FormattedBlock) -> RenderableType:
    match block:
        case Heading():
            text = _text(block.line)
            text.stylize("bold underline" if block.level == 1 else "bold")
            return text
        case Paragraph():
            return _text(block.line)
        case Items():
            signs = [f"{block.start + index}." if block.ordered else "•" for index in range(len(block.items))]
            return _list((sign, _tight(item)) for sign, item in zip(signs, block.items, strict=True))
        case Quote():
            return Padding(_tight(block.blocks), (0, 0, 0, 4), style=_NOTICE)
        case Code():
            return Padding(Text(block.text, style=_CODE), (0, 0, 0, 4))
        case Table():
            return _table(block)
        case Rule():
            return Text("─" * MIN_WIDTH, style=_NOTICE)


def _tight(blocks: Sequence[FormattedBlock]) -> RenderableType:
    """The blocks inside another, without blank lines between them."""
    return Group(*(_block(block) for block in blocks))


def _list(entries: Iterator[tuple[str, RenderableType]]) -> RenderableType:
    """List entries after their signs, each wrapped separately."""
    grid = table.Table.grid(padding=(0, 1))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(overflow="fold")
    for sign, entry in entries:
        grid.add_row(Text(f"  {sign}"), entry)
    return grid


def _table(block: Table) -> RenderableType:
    grid = table.Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    head, *rows = block.rows
    for cell in head:
        grid.add_column(_text(cell), overflow="fold")
    for row in rows:
        grid.add_row(*map(_text, row))
    return grid


def _section(name: str, entries: Sequence[tuple[str, Line]]) -> Iterator[RenderableType]:
    if entries:
        yield Text(name, style="bold")
        yield _list((sign, _text(line)) for sign, line in entries)


def _text(line: Line) -> Text:
    return Text.assemble(*((piece.text, _style(piece)) for piece in line.pieces), overflow="fold")


def _style(piece: Piece) -> Style:
    looks = [
        name
        for name, is_set in (
            ("bold", piece.bold),
            ("italic", piece.italic),
            ("strike", piece.struck),
            (_NOTICE, piece.italic),
            (_CODE, piece.code),
            (_CITATION, bool(piece.cite)),
            (_ADDRESSED, bool(piece.link)),
            (_VERDICTS.get(piece.verdict, ""), bool(piece.verdict)),
        )
        if is_set and name
    ]
    style = Style.parse(" ".join(looks)) if looks else Style.null()
    return style + Style(link=piece.link) if piece.link and _ADDRESS.fullmatch(piece.link) else style
