"""Tables of print: lines whose pieces stand below each other in columns, read as rows which carry their heads.

A table is taken for one only where its first line names the columns; all else stays text, as it reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from assay.core.sources import LONGEST_PASSAGE
from assay.core.tables.cells import is_head
from assay.fetch.table import names_of, one_cell, row_lines

FEWEST_ROWS = 2
"""Rows below the head."""
APART = 3.0
"""Lines further apart than this many times the font's size are not of one table."""
WRAPPED = 0.92
"""A line nearer to the one above than this share of the usual distance goes on with its cells."""
FILLED = 0.7
"""The share of rows which fill more than one column."""
BARS = len("|  |")


class PrintedPart(msgspec.Struct, frozen=True, gc=False):
    """A piece of a line which stands apart from the others, as a cell does, and from where to where (points)."""

    text: str
    left: float
    right: float


class Printed(msgspec.Struct, frozen=True, gc=False):
    """A line of print: its pieces, the height it stands on (points, upwards), and the size of its font."""

    parts: tuple[PrintedPart, ...]
    base: float
    size: float


class Tabled(msgspec.Struct, frozen=True):
    """The lines from `first` up to `last`, which are a table, and its rows as they are written."""

    first: int
    last: int
    rows: tuple[str, ...]


def find_tables(lines: Sequence[Printed]) -> Iterator[Tabled]:
    """The tables among the lines of a page."""
    at = 0
    while at < len(lines):
        table = _table(lines, at) if len(lines[at].parts) > 1 else None
        if table is not None:
            yield table
        at = table.last if table is not None else at + 1


def _table(lines: Sequence[Printed], first: int) -> Tabled | None:
    columns = _Columns(lines[first].parts)
    placed = [columns.place(lines[first].parts)]
    last = first + 1
    while last < len(lines) and 0 < lines[last - 1].base - lines[last].base < APART * lines[last].size:
        row = columns.place(lines[last].parts)
        if row is None:
            break
        placed.append(row)
        last += 1
    rows = _unwrapped(lines[first:last], [row for row in placed if row is not None], len(columns.edges))
    while rows and sum(map(bool, rows[-1])) < 2:  # a line of text which happens to stand below the first column
        rows, last = rows[:-1], last - 1
    if len(rows) <= FEWEST_ROWS or not is_head(rows[0], rows[1:]) or not _is_filled(rows):
        return None
    head = names_of(rows[0])
    written = [f"| {line} |" for row in rows[1:] for line in row_lines(row, head, LONGEST_PASSAGE - BARS)]
    return Tabled(first, last, tuple(written))


def _is_filled(rows: Sequence[Sequence[str]]) -> bool:
    """Whether every column has a name of letters or a year, and most rows fill several: formulas stand in no table."""
    named = all(sum(map(str.isalpha, head)) > 1 or head.isdigit() for head in rows[0])
    return named and sum(sum(map(bool, row)) > 1 for row in rows) >= FILLED * len(rows)


class _Columns:
    """Where the columns of a table stand, from left to right, as far as seen: each as wide as its widest cell."""

    def __init__(self, parts: Sequence[PrintedPart]) -> None:
        self.edges = [(part.left, part.right) for part in parts]

    def place(self, parts: Sequence[PrintedPart]) -> dict[int, str] | None:
        """The pieces of a line by column; None where they do not fit into the columns, one each."""
        found: dict[int, str] = {}
        edges = list(self.edges)
        for part in parts:
            column = self._column(part)
            if column is None or column in found:
                return None
            found[column] = one_cell(part.text)
            edges[column] = (min(edges[column][0], part.left), max(edges[column][1], part.right))
        if any(edges[at][1] > edges[at + 1][0] for at in range(len(edges) - 1)):
            return None
        self.edges = edges
        return found

    def _column(self, part: PrintedPart) -> int | None:
        """The one column a piece stands in or, where it is below none, the nearest."""
        over = [at for at, (left, right) in enumerate(self.edges) if part.left < right and part.right > left]
        if over:
            return over[0] if len(over) == 1 else None
        middle = (part.left + part.right) / 2
        return min(
            range(len(self.edges)), key=lambda at: min(abs(middle - self.edges[at][0]), abs(middle - self.edges[at][1]))
        )


def _unwrapped(lines: Sequence[Printed], placed: Sequence[dict[int, str]], width: int) -> list[list[str]]:
    """The rows; a line without a first cell which stands nearer than usual goes on with the row above."""
    steps = sorted(above.base - line.base for above, line in pairwise(lines))
    usual = steps[len(steps) // 2] if steps else 0.0
    rows: list[list[str]] = []
    for at, cells in enumerate(placed):
        step = lines[at - 1].base - lines[at].base if at else 0.0
        if rows and 0 not in cells and step < WRAPPED * usual:
            for column, text in cells.items():
                rows[-1][column] = f"{rows[-1][column]} {text}".strip()
        else:
            rows.append([cells.get(column, "") for column in range(width)])
    return rows
