"""The head of a table by its first rows: names of columns, with rows of groups above them and of units below."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from assay.core.lazy import regex
from assay.core.measures import UNIT_NAMES, is_measure_name
from assay.core.sources import MAX_PASSAGE_CHARS
from assay.core.text import ends_sentence

HEADER_SAMPLE_ROWS = 20
"""Rows examined to detect a header row."""
MAX_HEAD_ROWS = 4
MAX_NOTE_ROWS = 10
"""The most rows of notes above a head."""
MAX_NAME_CHARS, MIN_SENTENCE_WORDS = 60, 3
"""A longer cell names no column, nor does a sentence of so many words."""
FIGURE = regex(r"[+\-−]?(?:[.,' \u00a0\u202f]*+\d++)++[.,]*+\s*+%?|\d{4}-\d{2}(?:-\d{2})?.{0,16}")
YEAR = regex(r"1\d{3}|20\d{2}")
DAY = regex(r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}-\d{2}-\d{2}|\d{1,2}\.? [^\W\d_]{3,10}\.? \d{4}")
_UNIT = regex(r"[(\[](?P<inner>[^()\[\]]{1,20})[)\]]|(?P<bare>\S.{0,19})")
_LETTER = regex(r"[^\W\d_]")

Rows = Sequence[Sequence[str]]


def is_head(row: Sequence[str], below: Rows) -> bool:
    """True if `row` has the headers of the rows `below`: different texts, and no figures except years unlike theirs.

    The first cell may be empty. A table with one row has no header, and none has one above fields (`Default: | 40`).
    """
    cells = [cell for cell in row[1:] if cell] + [row[0]] * bool(row[0])
    if not below or len(cells) < max(len(row) - 1, 1) or len({cell.casefold() for cell in cells}) < len(cells):
        return False
    if any(len(cell) > MAX_PASSAGE_CHARS for cell in cells):
        return False
    figures = [(column, cell) for column, cell in enumerate(row) if FIGURE.fullmatch(cell)]
    if not figures:
        return not _are_fields(below)
    years = all(YEAR.fullmatch(cell) for _, cell in figures) and figures[0][0] > 0
    return years and not all(
        YEAR.fullmatch(other_row[column])
        for column, _ in figures
        for other_row in below[:HEADER_SAMPLE_ROWS]
        if len(other_row) > column
    )


def _are_fields(rows: Rows) -> bool:
    """True if rows are fields, each a key with its colon and a value: what stands above them names their subject."""
    return all(len(row) == 2 and row[0].endswith((":", "：")) for row in rows)


def find_head(rows: Rows, columns: int) -> tuple[int, list[str], int]:
    """Where the head begins, its names, and where the rows below it begin; no names if the table has no head.

    Most rows have `columns` cells. Rows above the head are notes: fewer cells, or such as hold a day or a sentence.
    """
    rows = [_pad_row(row, columns) for row in rows]
    for start in range(min(MAX_NOTE_ROWS + 1, len(rows))):
        row, is_note = rows[start], _is_note(rows[start])
        names, end = read_head(rows[start:])
        if names and any(row[1:]) and not (is_note and _has_head_below(rows[start + 1 :])):
            return start, names, start + end
        filled = sum(map(bool, row))
        if not is_note and (filled >= columns or (filled > 1 and any(map(_is_value, row)))):
            break
    return 0, [], 0


def _is_note(row: Sequence[str]) -> bool:
    """True if a row says something about the table, and names no columns."""
    return any(
        cell.endswith(":")
        or len(cell) > MAX_NAME_CHARS
        or DAY.search(cell) is not None
        or (ends_sentence(cell) and len(cell.split()) >= MIN_SENTENCE_WORDS)
        for cell in row
    )


def _has_head_below(rows: Rows) -> bool:
    """True if below further notes there is a head, with figures below a name."""
    for start in range(min(MAX_NOTE_ROWS, len(rows))):
        if not _is_note(rows[start]):
            names, end = read_head(rows[start:])
            return any(holds_figures(name, column, rows[start + end :]) for column, name in enumerate(names))
    return False


def read_head(rows: Rows) -> tuple[list[str], int]:
    """The names of the columns by the first rows of a table, and how many rows these are; ([], 0) if it has no head.

    Groups of columns, whose text is repeated over them or followed by empty cells, stand before the names below them,
    units behind the names above them: "Catch 2023 (t)".
    """
    found, end = list[str](), 0
    names = list(rows[0]) if rows else []
    for count in range(1, min(MAX_HEAD_ROWS, len(rows))):
        row, below = _pad_row(rows[count], len(names)), rows[count + 1 :]
        if below and below[0] and not below[0][0] and not any(map(_is_value, below[0])):  # groups within groups
            row = _spread(row, _pad_row(below[0], len(row)))
        if is_whole := is_head(names, rows[count:]):
            found, end = names, count
            if below and _are_units(row):
                return [
                    f"{name} {_bracket_unit(unit)}".strip() for name, unit in zip(names, row, strict=False)
                ], count + 1
        groups = _spread(names, row)
        is_merged = (
            any(left and left == right for left, right in pairwise(names))
            and is_head(row, below)
            and (row[0] in ("", names[0]) or _has_figures(row, below))
        )
        if not (is_merged or _is_below_groups(groups, row, below, is_whole=is_whole)) or len(set(groups)) < 2:
            break
        names = [" ".join(dict.fromkeys(filter(None, pair))) for pair in zip(groups, row, strict=True)]
    return found, end


def _pad_row(row: Sequence[str], width: int) -> list[str]:
    return [*row, *[""] * (width - len(row))]


def _spread(groups: Sequence[str], row: Sequence[str]) -> list[str]:
    """The names of groups, also over the empty cells that follow each, as far as names stand below."""
    spread: list[str] = []
    for column, group in enumerate(_pad_row(groups, len(row))):
        spread.append(group or (spread[-1] if spread and row[column - 1] and row[column] else ""))
    return spread


def _is_below_groups(groups: Sequence[str], row: Sequence[str], below: Rows, *, is_whole: bool) -> bool:
    """True if a row names columns below the names of their groups, and does not hold the first values.

    `is_whole`: what is above the row could be a head without it.
    """
    labels = [cell for cell in row[1:] if cell]
    if not below or not labels or any(map(_is_value, labels)):
        return False
    is_repeated = len(set(labels)) < len(labels)
    may_begin = row[0] in ("", groups[0]) or (not groups[0] and (is_repeated or not is_whole))
    if not may_begin and (is_whole or not all(_has_neighbour(groups))):
        return False
    if _has_figures(row, below):
        return True
    return not is_whole and (is_repeated or (not row[0] and all(other[0] for other in below[:HEADER_SAMPLE_ROWS])))


def _has_neighbour(groups: Sequence[str]) -> list[bool]:
    """For each column, whether one beside it is of the same group."""
    same = [bool(left) and left == right for left, right in pairwise(groups)]
    return [before or after for before, after in zip([False, *same], [*same, False], strict=True)]


def _is_value(cell: str) -> bool:
    """True if a cell has a figure that is no year, or a sign for none: it names nothing."""
    return bool(cell) and not YEAR.fullmatch(cell) and (bool(FIGURE.fullmatch(cell)) or not _LETTER.search(cell))


def holds_figures(name: str, column: int, below: Rows) -> bool:
    """True if all filled cells of a column are figures, and not years below a year."""
    cells = [row[column] for row in below[:HEADER_SAMPLE_ROWS] if len(row) > column and row[column]]
    years = bool(YEAR.fullmatch(name)) and all(map(YEAR.fullmatch, cells))
    return bool(cells) and all(map(FIGURE.fullmatch, cells)) and not years


def _has_figures(names: Sequence[str], below: Rows) -> bool:
    """True if below a name, but that of the first column, there are only figures."""
    return any(name and holds_figures(name, column, below) for column, name in enumerate(names) if column)


def _are_units(row: Sequence[str]) -> bool:
    """True if a row has nothing but units and currencies: "(m)", "£ million", "%"."""
    cells = [match for cell in row if cell and (match := _UNIT.fullmatch(cell))]
    return len(cells) == sum(map(bool, row)) > 0 and all(
        bool(cell["inner"]) or cell["bare"].casefold() in UNIT_NAMES or is_measure_name(cell["bare"]) for cell in cells
    )


def _bracket_unit(unit: str) -> str:
    match = _UNIT.fullmatch(unit)
    return f"({match['bare']})" if match is not None and match["bare"] else unit
