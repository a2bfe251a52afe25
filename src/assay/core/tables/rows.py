"""Rows in words, with the headers of their columns; sentences that state one, or a cell; rows that lack a thing; and
the lines that show a model what was computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, product

import msgspec

from assay.core.lazy import regex
from assay.core.tables.answers import SENTENCE_FORMS, either_language, match_form
from assay.core.tables.cells import UNNAMED_COLUMN, ReadTable, TableRow, column_names, row_cells
from assay.core.tables.heads import is_head

EMPTY = "–"
"""Stands for an empty cell."""
_BETWEEN = " | "
_BEHIND_NAME, _BETWEEN_CELLS = " – ", "; "
"""What is behind a name that is the first cell of a row, and between the other cells, where people read it."""
_SEPARATOR = regex(r" \| | – |; ")


def format_row(row: str, head: str) -> str:
    """A row with its headers: `Port: 80 | Depth: 3 m`; "" if the headers do not fit it."""
    heads, cells = row_cells(head), row_cells(row)
    is_table_row = head.startswith("|") and head.rstrip().endswith("|") and len(heads) == len(cells) > 1
    if not is_table_row or not is_head(heads, [cells]) or any("|" in text for text in (*heads, *cells)):
        return ""
    return _BETWEEN.join(_labelled_cells(column_names(heads, len(cells)), cells))


def row_text(table: ReadTable, row: TableRow) -> str:
    """A row of a table in words, with the headers of its columns."""
    return _BETWEEN.join(_labelled_cells(table.heads, [row.text(column) for column in range(len(table.heads))]))


def readable_row(row: str) -> str:
    """A row with its headers as people read it: `Goole – Depth: 7 m; Berths: 4`; other texts as they are.

    Empty cells are left out. A first cell that is no plain name stays behind its header: `Port: 80; Depth: 3 m`.
    """
    first, *others = row.split(_BETWEEN)
    if not others or not all(": " in cell for cell in others):
        return row
    value = first.partition(": ")[2]
    is_name = value.lstrip("`*")[:1].isalpha() and not any(map(str.isdigit, value)) and ": " not in value
    cells = _BETWEEN_CELLS.join([cell for cell in others if not cell.endswith(f": {EMPTY}")] or others)
    return f"{value}{_BEHIND_NAME}{cells}" if is_name else f"{first}{_BETWEEN_CELLS}{cells}"


def row_forms(row: str) -> tuple[str, ...]:
    """The forms in which a report may state a row with its headers, also behind a name."""
    return row, readable_row(row), row.replace(_BETWEEN, _BETWEEN_CELLS)


def compare_whole_row(sentence: str, tables: Sequence[ReadTable]) -> tuple[bool, str] | None:
    """Compare a sentence with the row of the same first cell and headers: equal to one of its forms or not, and that.

    None if it states no row with headers of these tables.
    """
    sentence, shape = sentence.strip(), _shape(sentence)
    if not shape[1:] or ": " not in sentence:
        return None
    forms = [form for table in tables for row in table.rows for form in row_forms(row_text(table, row))]
    alike = [form for form in forms if _shape(form) == shape]
    return (True, sentence) if sentence in alike else (False, alike[0]) if alike else None


def _shape(row: str) -> list[str]:
    """The first cell of a row, and the headers of the others in any order."""
    first, *others = _SEPARATOR.split(row.strip())
    return [first, *sorted(cell.partition(": ")[0] for cell in others)]


def _labelled_cells(heads: Sequence[str], cells: Sequence[str]) -> list[str]:
    pairs = zip(heads, cells, strict=True)
    return [cell or EMPTY if UNNAMED_COLUMN.fullmatch(head) else f"{head}: {cell or EMPTY}" for head, cell in pairs]


# Sentences that state a cell, `HEAD of SUBJECT: VALUE`, compared with the tables they name.


def compare_with_row(sentence: str, tables: Sequence[ReadTable]) -> tuple[bool, str] | None:
    """Compare `HEAD of SUBJECT: VALUE` with the row that has the subject in other cells: equal or not, and its value.

    None if no row of the tables has this subject under this header.
    """
    readings = [reading for table in tables for reading in _cell_readings(sentence.strip(), table)]
    return next(
        ((True, cell_value) for value, cell_value in readings if value == cell_value),
        (False, readings[0][1]) if readings else None,
    )


def _cell_readings(sentence: str, table: ReadTable) -> Iterator[tuple[str, str]]:
    """The value that a sentence states of a cell, and that of the cell, for every reading of it."""
    heads = [(index, head) for index, head in enumerate(table.heads) if head in sentence]
    colons = list(re.finditer(r"[:：]\s*", sentence)) if heads else []
    for message in either_language(SENTENCE_FORMS["cell"][2]) if heads else ():
        for (column, head), colon in product(heads, colons):
            value = sentence[colon.end() :]
            slots = match_form(message, sentence, {"head": head, "value": value})
            for row in table.rows if slots is not None else ():
                if row.text(column) and slots is not None and _is_subject(slots["subject"], table, row, column):
                    yield value, row.text(column)


def _is_subject(subject: str, table: ReadTable, row: TableRow, column: int) -> bool:
    """True if a subject consists of cells of the row, with or without their headers, separated by commas."""
    other_columns = [index for index, cell in row.cells.items() if index != column and cell.text]
    forms = (table.cell_with_measure, table.cell_with_header, lambda row, index: row.text(index))
    candidates = (text for index in other_columns for form in forms if (text := form(row, index)) in subject)
    texts = "|".join(map(re.escape, candidates))
    return bool(texts) and re.fullmatch(rf"(?:{texts})(?:, (?:{texts}))*", subject) is not None


# The lines in which a tool shows a model results that were computed over a table: one writer, one reader.

_PLACE = r"(?:\d+/)?\d+(?:-\d+)?"
_LINE = regex(rf"Computed from passages? (?P<places>{_PLACE}(?:, {_PLACE})*): (?P<text>\S.*)")
MAX_LINE_PASSAGES = 1_000
"""The most passages that one line names."""


class Note(msgspec.Struct, frozen=True):
    """A computed sentence, and the ordinals of the passages it rests on.

    `documents` says for each passage in which of the documents shown above it is, from 1; empty if there is one.
    """

    text: str
    ordinals: tuple[int, ...]
    documents: tuple[int, ...] = ()


def note_line(note: Note) -> str:
    """The line of a note."""
    word = "passage" if len(note.ordinals) == 1 else "passages"
    apart = zip(note.documents, note.ordinals, strict=True) if note.documents else ()
    references = ", ".join(f"{document}/{ordinal}" for document, ordinal in apart) or _ranges(note.ordinals)
    return f"Computed from {word} {references}: {note.text}"


def _ranges(ordinals: Iterable[int]) -> str:
    runs = groupby(enumerate(sorted(set(ordinals))), lambda pair: pair[1] - pair[0])
    ends = ([ordinal for _, ordinal in run] for _, run in runs)
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in ends)


def read_notes(text: str) -> tuple[Note, ...]:
    """The notes in `text`, in order; other lines are skipped."""
    lines = (match for line in text.split("\n") if (match := _LINE.fullmatch(line)))
    return tuple(_note(match["text"], match["places"]) for match in lines)


def _note(text: str, references: str) -> Note:
    pairs: list[tuple[int, int]] = []
    for document, _, ordinals in (reference.rpartition("/") for reference in references.split(", ")):
        first, _, last = ordinals.partition("-")
        run = range(int(first), int(last or first) + 1)[: MAX_LINE_PASSAGES - len(pairs)]
        pairs.extend((int(document or 1), ordinal) for ordinal in run)
    documents = tuple(document for document, _ in pairs) if "/" in references else ()
    return Note(text, tuple(ordinal for _, ordinal in pairs), documents)
