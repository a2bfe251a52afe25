"""The cells of an HTML table as a grid: one which spans columns or rows stands in each of them."""

from __future__ import annotations

from collections.abc import Callable

from selectolax.lexbor import LexborNode

from assay.core.clean import one_line

MOST_SPAN = 100
"""Columns or rows a cell is repeated over at most: pages say 1000 where they mean the rest."""
NOTE = ".reference, .footnote, .mw-ref, [role='doc-noteref'], :has(a[href^='#'])"
"""Footnote marks: they are no part of a cell's value."""
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
HELD = 4_000
"""Cells of a grid: a table of more is no table for people, and is not spread out."""


def grid(table: LexborNode, text_of: Callable[[LexborNode], str] | None = None) -> list[list[str]]:
    """The rows of a table, each with a text for every column, the cell's own where `text_of` is not given."""
    say = text_of or _text
    rows: list[list[str]] = []
    going_on: dict[int, tuple[int, str]] = {}
    for line in table.css("tr"):
        row: list[str] = []
        own = False
        for cell in line.css("td, th"):
            own = True
            _carry(row, going_on)
            across, down = (_span(cell, name) for name in ("colspan", "rowspan"))
            text = say(cell)
            for _ in range(across if len(rows) * across < HELD else 1):
                if down > 1:
                    going_on[len(row)] = (down - 1, text)
                row.append(text)
        while any(column >= len(row) for column in going_on):
            _carry(row, going_on)
            if any(column > len(row) for column in going_on):
                row.append("")
        if own:
            rows.append(row)
    return rows


def _carry(row: list[str], going_on: dict[int, tuple[int, str]]) -> None:
    """Put what goes on from the rows above where it stands."""
    while len(row) in going_on:
        left, text = going_on.pop(len(row))
        if left > 1:
            going_on[len(row)] = (left - 1, text)
        row.append(text)


def _span(cell: LexborNode, name: str) -> int:
    value = (cell.attributes.get(name) or "1").strip()
    return min(int(value), MOST_SPAN) if value.isdecimal() and int(value) > 0 else 1


def _text(cell: LexborNode) -> str:
    """A cell's text without marks of footnotes at its end; a raised figure there stays one: `10³` is not 103."""
    text = one_line(cell.text(deep=True))
    for mark in reversed(cell.css("sup")):
        said = one_line(mark.text(deep=True))
        if not said or not text.endswith(said) or len(text) == len(said):
            break
        text = text[: -len(said)].rstrip() + ("" if mark.css_matches(NOTE) else said.translate(RAISED))
    return text
