"""The cells of an HTML table as a grid: a cell that spans columns or rows is repeated in each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assay.core.clean import one_line
from assay.fetch.text_form import parse_number

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_SPAN = 100
"""The most columns or rows over which a cell is repeated: pages say 1000 to mean "the rest"."""
NOTE_SELECTOR = ".reference, .footnote, .mw-ref, [role='doc-noteref'], :has(a[href^='#'])"
"""Footnote marks, which are not part of a cell's value."""
SUPERSCRIPTS = str.maketrans("0123456789-−+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻⁺")
BREAKS = "br, p, div, li, dt, dd"
"""Elements that separate words inside a cell, a caption or a heading."""
MAX_GRID_CELLS = 4_000
"""Cells of a grid; a table with more is not for human readers, and is not expanded."""


def table_grid(table: LexborNode, text_of: Callable[[LexborNode], str] | None = None) -> list[list[str]]:
    """The rows of a table, with a text for every column; `text_of` defaults to the cell's own text."""
    say = text_of or _text
    rows: list[list[str]] = []
    going_on: dict[int, tuple[int, str]] = {}
    for line in table.css("tr"):
        row: list[str] = []
        has_cells = False
        for cell in line.css("td, th"):
            has_cells = True
            _insert_spanning_cells(row, going_on)
            colspan, rowspan = (_span(cell, name) for name in ("colspan", "rowspan"))
            text = say(cell)
            for _ in range(colspan if len(rows) * colspan < MAX_GRID_CELLS else 1):
                if rowspan > 1:
                    going_on[len(row)] = (rowspan - 1, text)
                row.append(text)
        while any(column >= len(row) for column in going_on):
            _insert_spanning_cells(row, going_on)
            if any(column > len(row) for column in going_on):
                row.append("")
        if has_cells:
            rows.append(row)
    return rows


def _insert_spanning_cells(row: list[str], going_on: dict[int, tuple[int, str]]) -> None:
    """Insert the cells that span down from the rows above."""
    while len(row) in going_on:
        remaining, text = going_on.pop(len(row))
        if remaining > 1:
            going_on[len(row)] = (remaining - 1, text)
        row.append(text)


def _span(cell: LexborNode, name: str) -> int:
    return max(1, min(parse_number(cell.attributes.get(name) or "1", 1), MAX_SPAN))


def _text(cell: LexborNode) -> str:
    """A cell's text without footnote marks at its end; a superscript there stays one: `10³` is not 103."""
    text = one_line(_separated_text(cell))
    for mark in reversed(cell.css("sup")):
        content = one_line(mark.text(deep=True))
        if not content or not text.endswith(content) or len(text) == len(content):
            break
        text = text[: -len(content)].rstrip() + (
            "" if mark.css_matches(NOTE_SELECTOR) else content.translate(SUPERSCRIPTS)
        )
    return text


def node_text(node: LexborNode) -> str:
    """The visible text of one node, on one line."""
    return " ".join(_separated_text(node).split())


def _separated_text(node: LexborNode) -> str:
    """The text of a node, with a space between words that are on different lines."""
    for line in node.css(BREAKS):
        line.insert_before(" ")
    return node.text(deep=True)
