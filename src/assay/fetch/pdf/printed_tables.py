"""Tables in print: lines with pieces aligned in columns, read as rows that include their heads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from assay.core.sources import MAX_PASSAGE_CHARS
from assay.core.tables.heads import MAX_HEAD_ROWS, read_head
from assay.fetch.text_form import one_cell, row_lines, unique_column_names

MIN_ROWS = 2
"""Rows below the head."""
ROWS_APART = 3.0
"""Lines further apart than this many font sizes do not belong to one table."""
WRAPPED_SHARE = 0.92
"""A line closer to the one above than this share of the usual distance continues its cells."""
SEARCHED_LINES = 40
"""Lines in which a table shows its head: to look at all lines of a page from each would take too long."""
MIN_FILLED_SHARE = 0.7
"""The share of rows that fill more than one column."""
UNGROUPED_SHARE = 0.5
"""What a column without a group costs, as a share of the width of a column, in points off the middle. By hand."""
MAX_GROUPED_COLUMNS = 40
BARS_LENGTH = len("|  |")
_Way = tuple[float, list[tuple[int, int]]]


class PrintedPart(msgspec.Struct, frozen=True, gc=False):
    """A piece of a line that is separate from the others, as a cell is, with its left and right ends (points)."""

    text: str
    left: float
    right: float


class LineOfPrint(msgspec.Struct, frozen=True, gc=False):
    """A line of print: its pieces, its height on the page (points, upwards), and the size of its font.

    `bottom` is the height of its last line if its cells have several.
    """

    parts: tuple[PrintedPart, ...]
    base: float
    size: float
    bottom: float | None = None


class TableLines(msgspec.Struct, frozen=True):
    """The lines from `first` up to `last`, which form a table, and its rows as text."""

    first: int
    last: int
    rows: tuple[str, ...]


def find_tables(lines: Sequence[LineOfPrint]) -> Iterator[TableLines]:
    """The tables among the lines of a page."""
    index = 0
    while index < len(lines):
        table = _table(lines, index) if _may_begin_table(lines, index) else None
        if table is not None:
            yield table
        index = table.last if table is not None else index + 1


def _may_begin_table(lines: Sequence[LineOfPrint], index: int) -> bool:
    """True if a line has several pieces, or is a name over columns of the rows below it and not over the first."""
    parts, following = lines[index].parts, [line.parts for line in lines[index + 1 : index + 3]]
    return len(parts) > 1 or (
        len(following) > 1
        and all(len(below) > 1 and parts[0].left < below[-1].right for below in following)
        and any(below[0].right < parts[0].left for below in following)
    )


def _table(lines: Sequence[LineOfPrint], first: int) -> TableLines | None:
    """The table that begins at a line: with columns as in that line, else as in the rows below lines of its head."""
    for seed in range(first, min(first + MAX_HEAD_ROWS, len(lines))):
        if seed > first and not _is_near(lines[seed - 1], lines[seed]):
            return None
        near = lines[first : first + SEARCHED_LINES]
        if len(lines[seed].parts) < 2 or _table_with_columns(near, 0, seed - first) is None:
            continue
        if (table := _table_with_columns(lines, first, seed)) is not None:
            return table
    return None


def _is_near(above: LineOfPrint, line: LineOfPrint) -> bool:
    bottom = above.base if above.bottom is None else above.bottom
    return 0 < bottom - line.base < ROWS_APART * line.size


def _table_with_columns(lines: Sequence[LineOfPrint], first: int, seed: int) -> TableLines | None:
    """The table with the columns of line `seed`; the lines from `first` up to it are of its head."""
    columns = _Columns(lines[seed].parts)
    placed_rows = [columns.place(lines[seed].parts)]
    last = seed + 1
    while last < len(lines) and _is_near(lines[last - 1], lines[last]):
        row = columns.place(lines[last].parts)
        if row is None:
            break
        placed_rows.append(row)
        last += 1
    rows = _unwrap_rows(lines[seed:last], [row for row in placed_rows if row is not None], len(columns.edges))
    while rows and sum(map(bool, rows[-1])) < 2:  # a line of text that happens to be below the first column
        rows, last = rows[:-1], last - 1
    groups = [columns.place_groups(line.parts) for line in lines[first:seed]]
    if None in groups:
        return None
    rows = [*filter(None, groups), *rows]
    names, end = read_head(rows)
    if len(rows) - end < MIN_ROWS or end <= seed - first - 1 or not names or not _is_filled([names, *rows[end:]]):
        return None
    head = unique_column_names(names)
    table_rows = [f"| {line} |" for row in rows[end:] for line in row_lines(row, head, MAX_PASSAGE_CHARS - BARS_LENGTH)]
    return TableLines(first, last, tuple(table_rows))


def _is_filled(rows: Sequence[Sequence[str]]) -> bool:
    """True if columns have names of letters or a year, and most rows fill several columns: formulas are not a table.

    The first column may have no name.
    """
    return all(map(_is_name, filter(None, rows[0]))) and sum(
        sum(map(bool, row)) > 1 for row in rows
    ) >= MIN_FILLED_SHARE * len(rows)


def _is_name(head: str) -> bool:
    letters, others = sum(map(str.isalpha, head)), sum(not (char.isalnum() or char.isspace()) for char in head)
    return head.isdigit() or letters > max(1, others)


class _Columns:
    """The known positions of a table's columns, from left to right: each as wide as its widest cell."""

    def __init__(self, parts: Sequence[PrintedPart]) -> None:
        self.edges = [(part.left, part.right) for part in parts]

    def place(self, parts: Sequence[PrintedPart]) -> dict[int, str] | None:
        """The pieces of a line by column; None if they do not fit, one in each column."""
        cells: dict[int, str] = {}
        edges = list(self.edges)
        for part in parts:
            columns = self._columns(part)
            column = columns[0]
            if column in cells or (len(columns) > 1 and not _is_label_of_figures(part, parts)):
                return None
            cells[column] = one_cell(part.text)
            if len(columns) > 1:
                continue
            edges[column] = (min(edges[column][0], part.left), max(edges[column][1], part.right))
        if any(edges[index][1] > edges[index + 1][0] for index in range(len(edges) - 1)):
            return None
        self.edges = edges
        return cells

    def place_groups(self, parts: Sequence[PrintedPart]) -> list[str] | None:
        """The pieces of a line of the head, each in all columns of its group; only the first is over column one.

        Groups are set over the middle of their columns, or begin or end with them. None if they are more than columns.
        """
        cells = [""] * len(self.edges)
        own = [part for part in parts if part.left < self.edges[0][1]]
        if own:
            cells[0] = " ".join(one_cell(part.text) for part in own)
        groups = [part for part in parts if part not in own]
        if not len(groups) < len(cells) <= MAX_GROUPED_COLUMNS:
            return None
        for part, (begin, end) in zip(groups, self._group_columns(groups), strict=True):
            cells[begin:end] = [one_cell(part.text)] * (end - begin)
        return cells

    def _group_columns(self, groups: Sequence[PrintedPart]) -> list[tuple[int, int]]:
        """The columns of each group, side by side, so that all are as near as possible to their columns."""
        width = len(self.edges)
        free = UNGROUPED_SHARE * (self.edges[-1][1] - self.edges[0][0]) / width
        # The best way to end before column `column`: what it costs, and the columns of the groups so far.
        best: list[_Way | None] = [None, *((free * at, list[tuple[int, int]]()) for at in range(width))]
        for part in groups:
            following: list[_Way | None] = [None] * (width + 1)
            for end in range(2, width + 1):
                ways = [
                    (before[0] + self._distance(part, begin, end), [*before[1], (begin, end)])
                    for begin in range(1, end)
                    if (before := best[begin]) is not None
                ]
                if (left_free := following[end - 1]) is not None:
                    ways.append((left_free[0] + free, left_free[1]))
                following[end] = min(ways, default=None)
            best = following
        whole = best[width]
        return whole[1] if whole is not None else []

    def _distance(self, part: PrintedPart, begin: int, end: int) -> float:
        left, right = self.edges[begin][0], self.edges[end - 1][1]
        return min(abs(part.left - left), abs(part.right - right), abs(part.left + part.right - left - right) / 2)

    def _columns(self, part: PrintedPart) -> list[int]:
        """The columns that a piece is in, or the nearest if it is below none."""
        overlapping = [
            column for column, (left, right) in enumerate(self.edges) if part.left < right and part.right > left
        ]
        if overlapping:
            return overlapping
        middle = (part.left + part.right) / 2
        nearest = min(
            range(len(self.edges)),
            key=lambda column: min(abs(middle - self.edges[column][0]), abs(middle - self.edges[column][1])),
        )
        return [nearest]


def _is_label_of_figures(part: PrintedPart, parts: Sequence[PrintedPart]) -> bool:
    """True for the label of a row of figures, as of a total, which may reach over several columns."""
    return part is parts[0] and len(parts) > 1 and all(any(map(str.isdigit, other.text)) for other in parts[1:])


def _unwrap_rows(lines: Sequence[LineOfPrint], placed_rows: Sequence[dict[int, str]], width: int) -> list[list[str]]:
    """The rows; a line without a first cell that is closer than usual continues the row above."""
    steps = sorted(above.base - line.base for above, line in pairwise(lines))
    usual = steps[len(steps) // 2] if steps else 0.0
    rows: list[list[str]] = []
    for index, cells in enumerate(placed_rows):
        step = lines[index - 1].base - lines[index].base if index else 0.0
        if rows and 0 not in cells and step < WRAPPED_SHARE * usual:
            for column, text in cells.items():
                rows[-1][column] = f"{rows[-1][column]} {text}".strip()
        else:
            rows.append([cells.get(column, "") for column in range(width)])
    return rows
