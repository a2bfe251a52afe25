"""The layout of plain text: titles of numbered sections, and tables whose columns only spaces set apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from assay.core.lazy import regex
from assay.core.text import ends_sentence, ends_unfinished

TITLE_WORDS = 8
"""The most words of a title."""
_TITLE = regex(
    r"[ \t]*(?P<number>\d{1,3}(?:\.\d{1,3}){0,4}[.)]?|§+[ ]?\d{1,4}[a-z]?)[ \t]+(?P<title>[^\W\d_a-zß-ÿа-я].*?)[ \t]*\n"
    r"(?=(?P<below>[ \t]*(?P<first>[^\s]+).*))"
)
_NUMBERING = regex(r"(?:§+[ ]?)?\d{1,3}(?:\.\d{1,3}){0,4}[.)]?[ \t]+(?=\S)")
_STARTED = regex(r"[\"'“„«(\[]?[^\W_a-zß-ÿа-я]")


def sections(text: str) -> Iterator[tuple[str, int, int]]:
    """The parts of a text as titles above them (outermost first, joined by spaces) and spans, in order.

    Text without a numbered title is one part with an empty title. A line that the next one continues is no title, and
    neither is an item of a list, nor one behind a line that is no end of a sentence.
    """
    above: list[tuple[int, str]] = []
    start, line_start = 0, 0
    longest = max(map(len, text.splitlines()), default=0)
    while line_start < len(text):
        after = text.find("\n", line_start) + 1 or len(text)
        begins = not text[start:line_start].strip() or ends_sentence(text[start:line_start].rstrip())
        title = _title(text, line_start, longest) if begins else None
        if title is not None:
            if text[start:line_start].strip():
                yield _join_titles(above), start, line_start
            above = [heading for heading in above if heading[0] < title[0]]
            above.append(title)
            start = after
        line_start = after
    if text[start:].strip():
        yield _join_titles(above), start, len(text)


def without_number(title: str) -> str:
    """A title without the number of its section."""
    return _NUMBERING.sub("", title, count=1) if _NUMBERING.match(title) else title


def _join_titles(above: list[tuple[int, str]]) -> str:
    return " ".join(title for _, title in above)


def _title(text: str, position: int, longest: int) -> tuple[int, str] | None:
    """The depth and the words of the title on the line that begins at `position`; None if it is none."""
    match = _TITLE.match(text, position)
    if match is None or not _STARTED.match(match["first"]):
        return None
    title, line = match["title"], match[0].rstrip()
    fits = len(line) + 1 + len(match["first"]) <= longest
    if not fits or len(title.split()) > TITLE_WORDS or ends_sentence(title) or ends_unfinished(title):
        return None
    depth, below = _depth(match["number"]), _TITLE.match(f"{match['below']}\nX")
    return None if below is not None and _depth(below["number"]) <= depth else (depth, title)


def _depth(number: str) -> int:
    return number.rstrip(".)").count(".")


# Tables in plain text whose columns only spaces or tabs set apart.

MIN_COLUMNS = 3
"""Two columns may be a list of terms with what they mean."""
MIN_LINES = 3
MIN_FIGURE_SHARE = 0.5
"""The share of a column's cells with digits, of at least one column but the first: prose that is set to a width has
double spaces too.
"""
_LINE = regex(r"^[ \t]*\S.*$", re.MULTILINE)
_CELL = regex(r"[^\s|]+(?: [^\s|]+)*")
CellSpan = tuple[int, int]
"""Where a cell is in the text; an empty one has no length."""


@lru_cache(maxsize=4096)
def spaced_rows(text: str) -> tuple[tuple[CellSpan, ...], ...]:
    """The cells of each line, if all lines are rows with the same columns; else nothing.

    The first line may lack its first cell, which stands in the passage before.
    """
    if ("  " not in text and "\t" not in text) or "|" in text:
        return ()
    lines = [[cell.span() for cell in _CELL.finditer(text, *match.span())] for match in _LINE.finditer(text)]
    if len(lines) < MIN_LINES or min(map(len, lines)) < 2:
        return ()
    starts = [match.start() for match in _LINE.finditer(text)]
    widest = max(map(len, lines))
    lacks = len(lines[0]) == widest - 1 and all(len(line) == widest for line in lines[1:])
    body = lines[1:] if lacks else lines
    columns = None if "\t" in text else _columns(body, starts[lacks:])
    if columns is None and any(len(line) != widest for line in body):
        return ()
    rows = [tuple(line) for line in body] if columns is None else _align_cells(body, starts[lacks:], columns)
    if rows is None or len(rows[0]) < MIN_COLUMNS or not _has_figures(text, rows[1:]):
        return ()
    if lacks and len(rows[0]) != widest:
        return ()
    first = [((starts[0], starts[0]), *lines[0])] if lacks else []
    return (*first, *rows)


def _columns(lines: list[list[CellSpan]], starts: list[int]) -> list[CellSpan]:
    """The columns of lines: where cells of different lines are above each other, they are one."""
    spans = sorted((a - start, b - start) for line, start in zip(lines, starts, strict=True) for a, b in line)
    columns: list[CellSpan] = []
    for a, b in spans:
        if columns and a < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], b))
        else:
            columns.append((a, b))
    return columns


def _align_cells(
    lines: list[list[CellSpan]], starts: list[int], columns: list[CellSpan]
) -> list[tuple[CellSpan, ...]] | None:
    """The cells of each line by column; None if a column would have two cells of a line."""
    rows: list[tuple[CellSpan, ...]] = []
    for line, start in zip(lines, starts, strict=True):
        row: list[CellSpan] = [(start, start)] * len(columns)
        for a, b in line:
            index = next(index for index, (_, end) in enumerate(columns) if a - start < end)
            if row[index][0] != row[index][1]:
                return None
            row[index] = (a, b)
        rows.append(tuple(row))
    return rows


def _has_figures(text: str, rows: list[tuple[CellSpan, ...]]) -> bool:
    cells = [[text[slice(*row[index])] for row in rows] for index in range(1, len(rows[0]))] if rows else []
    return any(
        sum(any(map(str.isdigit, cell)) for cell in column) >= MIN_FIGURE_SHARE * len(column) for column in cells
    )
