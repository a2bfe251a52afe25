"""The cells of an HTML table as a grid: a cell that spans columns or rows is repeated in each of them. Raised text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assay.core.lazy import regex
from assay.fetch.text_form import MAX_BASE_CHARS, POWER_BASE, SUPERSCRIPTS, parse_number

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_SPAN = 100
"""The most columns or rows over which a cell is repeated: pages say 1000 to mean "the rest"."""
NOTE_SELECTOR = "a[role=doc-noteref], a.footnote-ref, a.footnote-reference, .mw-ref"
NOTE_CLASSES = frozenset(("reference", "footnote", "footnoteref"))
"""Classes of raised text that is the mark of a footnote."""
MAX_MARK_CHARS = 12
POWER = regex(r"\s*[-−+]?\d{1,4}\s*")
INNERMOST_SELECTOR = "sup:not(:has(sup))"
"""Raised text; in a page made to harm thousands lie within each other."""
BREAKS = "br, p, div, li, dt, dd"
"""Elements that separate words inside a cell, a caption or a heading."""
MAX_SPREAD, MIN_GRID_CELLS = 10, 500
"""Cells of a grid for each of the table's own, and for a small table; of a table with more, cells are not repeated."""


def table_grid(table: LexborNode, text_of: Callable[[LexborNode], str] | None = None) -> list[list[str]]:
    """The rows of a table, with a text for every column; `text_of` defaults to the cell's own text, on one line."""
    say = text_of or node_text
    rows: list[list[str]] = []
    going_on: dict[int, tuple[int, str]] = {}
    filled, most = 0, MIN_GRID_CELLS
    for line in table.css("tr"):
        row: list[str] = []
        has_cells = False
        if filled > most:
            going_on.clear()
        for cell in line.css("td, th"):
            has_cells = True
            _insert_spanning_cells(row, going_on)
            may_repeat = filled + len(row) <= most
            colspan, rowspan = (_span(cell, name) if may_repeat else 1 for name in ("colspan", "rowspan"))
            most += MAX_SPREAD
            text = say(cell)
            for _ in range(colspan):
                if rowspan > 1:
                    going_on[len(row)] = (rowspan - 1, text)
                row.append(text)
        while any(column >= len(row) for column in going_on):
            _insert_spanning_cells(row, going_on)
            if any(column > len(row) for column in going_on):
                row.append("")
        if has_cells:
            rows.append(row)
            filled += len(row)
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


def resolve_raised(root: LexborNode) -> None:
    """Remove the marks of footnotes, which belong to no sentence and no value, and write powers with raised digits: 10³
    is not 103.
    """
    for mark in reversed(root.css(NOTE_SELECTOR)):  # one that lies in another goes first
        mark.decompose()
    for raised in reversed(root.css(INNERMOST_SELECTOR)):
        text = raised.text(deep=True)
        if _is_note(raised, text):
            raised.decompose()
        elif POWER.fullmatch(text) and POWER_BASE.search(_text_before(raised)):
            raised.replace_with(text.strip().translate(SUPERSCRIPTS))


def _is_note(raised: LexborNode, text: str) -> bool:
    """True if raised text is a mark: by its class, or since it is short and leads to a place in a page."""
    if not NOTE_CLASSES.isdisjoint((raised.attributes.get("class") or "").split()):
        return True
    outer = raised.parent
    links = [raised.css_first("a[href*='#']"), outer if outer is not None and outer.tag == "a" else None]
    return len(text.strip()) <= MAX_MARK_CHARS and any(
        link is not None and "#" in (link.attributes.get("href") or "") for link in links
    )


def _text_before(node: LexborNode) -> str:
    """The last characters directly before an element."""
    before = node.prev
    if before is None:
        return ""
    return (before.text(deep=True) if before.tag != "-text" else before.text_content or "")[-MAX_BASE_CHARS:]


def node_text(node: LexborNode) -> str:
    """The visible text of one node, on one line."""
    return " ".join(_separated_text(node).split())


def _separated_text(node: LexborNode) -> str:
    """The text of a node, with a space between words that are on different lines."""
    for line in node.css(BREAKS):
        line.insert_before(" ")
    return node.text(deep=True)
