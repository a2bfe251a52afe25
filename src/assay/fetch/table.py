"""Rows of a table as lines which carry their headers: what CSV, sheets and tables in documents share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from assay.core.sources import LONGEST_PASSAGE
from assay.core.tables.cells import is_head

SAMPLE_ROWS = 200
PREAMBLE = 10
"""Rows with notes which may stand above the header."""
LONGEST_HEADER = 80
LONGEST_LABEL = 120
"""A first cell longer than this is not repeated where its row is split."""

Row = list[str]


def one_cell(text: str) -> str:
    """A cell on one line; `|` parts cells, so inside one it becomes `¦`."""
    return " ".join(text.replace("|", "¦").split())


def split_head(rows: Iterable[Row], columns: int) -> tuple[list[Row], Row, Iterator[Row]]:
    """Notes above the table, its header ([] when it has none), and the rows below; most rows have so many `columns`."""
    stream = iter(rows)
    first = list(islice(stream, SAMPLE_ROWS))
    wide = [number for number, row in enumerate(first[:PREAMBLE]) if len(row) >= columns]
    at = wide[0] if wide else 0
    table = first[at:]
    headed = bool(table) and is_head(table[0], table[1:])
    above = first[:at] if headed else []
    rest = table[1:] if headed else first

    def body() -> Iterator[Row]:
        yield from rest
        yield from stream

    return above, table[0] if headed else [], body()


def names_of(head: Sequence[str]) -> Row:
    """The columns' names, each once: an empty one becomes `column 3`, a second `year` becomes `year (3)`."""
    names: Row = []
    seen: set[str] = set()
    for number, cell in enumerate(head, 1):
        name = " ".join(cell.replace(":", " ").split())[:LONGEST_HEADER].rstrip() or f"column {number}"
        if name.casefold() in seen:
            name = f"{name} ({number})"
        seen.add(name.casefold())
        names.append(name)
    return names


def row_lines(row: Sequence[str], header: Sequence[str], longest: int = LONGEST_PASSAGE) -> Iterator[str]:
    """The row as one line, or where that is past `longest` as several which each repeat its first cell.

    Cells go by their names in `header`, those beyond it by their number; without one by nothing.
    """
    pairs = [
        (f"{header[number] if number < len(header) else f'column {number + 1}'}: " if header else "", cell)
        for number, cell in enumerate(row)
        if cell
    ]
    if not pairs:
        return
    whole = " | ".join(name + cell for name, cell in pairs)
    if len(whole) <= longest:
        yield whole
        return
    label = pairs[0][0] + pairs[0][1]
    repeated = label + " | " if len(label) <= LONGEST_LABEL else ""
    line = repeated
    for name, cell in pairs[1:] if repeated else pairs:
        for part in _parts(name, cell, longest - len(repeated)):
            if len(line) > len(repeated) and len(line) + len(part) > longest:
                yield line.removesuffix(" | ")
                line = repeated
            line += part + " | "
    yield line.removesuffix(" | ")


def _parts(name: str, cell: str, room: int) -> Iterator[str]:
    """A pair as one text, or where it is longer than `room` cut between words, each part with its name."""
    room -= len(name)
    while len(cell) > room:
        cut = cell.rfind(" ", room // 2, room + 1)
        cut = cut if cut > 0 else room
        yield name + cell[:cut].rstrip()
        cell = cell[cut:].lstrip()
    yield name + cell
