"""Rows of a table in words, with the headers of their columns; sentences that state one; rows that lack a thing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from assay.core.lexicon import clauses
from assay.core.relevance.topic_question import keys
from assay.core.tables.answers import FORMS, match_form
from assay.core.tables.cells import UNNAMED, ReadTable, TableRow, column_names, is_head, row_cells
from assay.core.tables.figures import is_missing
from assay.core.tables.table_matches import TableWords
from assay.core.tables.words import read_asking
from assay.core.translation import gettext

EMPTY = "–"
"""Stands for an empty cell."""
_BETWEEN = " | "


def stated_row(row: str, head: str) -> str:
    """A row with its headers: `Port: 80 | Depth: 3 m`; "" if the headers do not fit it."""
    heads, cells = row_cells(head), row_cells(row)
    whole = head.startswith("|") and head.rstrip().endswith("|") and len(heads) == len(cells) > 1
    if not whole or not is_head(heads, [cells]) or any("|" in text for text in (*heads, *cells)):
        return ""
    return _BETWEEN.join(_parts(column_names(heads, len(cells)), cells))


def row_text(table: ReadTable, row: TableRow) -> str:
    """A row of a table in words, with the headers of its columns."""
    return _BETWEEN.join(_parts(table.heads, [row.text(at) for at in range(len(table.heads))]))


def row_stated(sentence: str, tables: Sequence[ReadTable]) -> tuple[bool, str] | None:
    """Compare a sentence with the row of the same first cell: equal to `stated_row` or not, and that row.

    None if it states no row with headers of these tables.
    """
    parts, said = sentence.strip().split(_BETWEEN), ""
    for table in tables if len(parts) > 1 else ():
        for row in table.rows:
            own = _parts(table.heads, [row.text(at) for at in range(len(table.heads))])
            if own == parts:
                return True, sentence
            if len(own) == len(parts) and own[0] == parts[0]:
                said = said or _BETWEEN.join(own)
    return (False, said) if said else None


def _parts(heads: Sequence[str], cells: Sequence[str]) -> list[str]:
    pairs = zip(heads, cells, strict=True)
    return [cell or EMPTY if UNNAMED.fullmatch(head) else f"{head}: {cell or EMPTY}" for head, cell in pairs]


# Rows that lack what a question denies: "which providers need no key?" over a table with a column of needs.

COVERED = 0.5
"""The share of the question's other words that headers, title and headings must have."""
MOST_ROWS = 20
"""If more rows lack it, the question is too vague."""
_NO = frozenset(("", "no", "none", "never", "nein", "keine", "non", "нет", "否", "✗", "✘", "×"))


def lacking(question: str, tables: Iterable[ReadTable]) -> tuple[TableRow, ...]:
    """The rows of the first table that lack what a question denies; none if no row of it has that."""
    return next(filter(None, (_lacking(question, table) for table in tables)), ())


def _lacking(question: str, table: ReadTable) -> tuple[TableRow, ...]:
    words = TableWords(question, read_asking(question), table)
    denied = words.read.denied
    rest = frozenset(words.telling) - denied
    if not denied or words.names - denied - words.around:
        return ()
    context = words.around.union(*words.heads)
    if len(words.matching_keys(rest, context)) < COVERED * len(rest):
        return ()
    for column, head in enumerate(words.heads):
        named = words.matching_keys(denied | rest, head)
        if not named:
            continue
        left = denied - named
        if any(_denies(words, left, text) for text in table.column(column)):
            return ()
        lacks = [not _has(words, left, text) for text in table.column(column)]
        rows = tuple(row for row, lacking in zip(table.rows, lacks, strict=True) if lacking)
        if len(rows) < len(table.rows):
            return rows if len(rows) <= MOST_ROWS else ()
    return ()


def _denies(words: TableWords, denied: frozenset[str], text: str) -> bool:
    """True if a cell itself says "no evidence": the question then asks for these words."""
    said = any(denies for _, denies in clauses(text, words.read.negating))
    return said and bool(denied) and _has(words, denied, text)


def _has(words: TableWords, denied: frozenset[str], text: str) -> bool:
    """True if a cell has what is denied; if its header says all of that, whether the cell is filled."""
    if not denied:
        return not (is_missing(text) or text.casefold() in _NO)
    return denied <= words.matching_keys(denied, frozenset(keys(text, words.read.analysis)))


# Sentences that state a cell, `HEAD of SUBJECT: VALUE`, compared with the tables they name.


def compare_with_row(sentence: str, tables: Sequence[ReadTable]) -> tuple[bool, str] | None:
    """Compare `HEAD of SUBJECT: VALUE` with the row that has the subject in other cells: equal or not, and that row.

    None if no row of the tables has this subject under this header.
    """
    said = ""
    for table in tables:
        for head, subject, value in _cell_readings(sentence.strip(), table):
            column = table.heads.index(head)
            for row in table.rows:
                if not _is_subject(subject, table, row, column):
                    continue
                if row.text(column) == value:
                    return True, value
                said = said or row.text(column)
    return (False, said) if said else None


def _cell_readings(sentence: str, table: ReadTable) -> Iterator[tuple[str, str, str]]:
    """Every reading of a sentence as a cell of the table: header, subject, value."""
    _, plain = FORMS["cell"]
    for message in dict.fromkeys((gettext(plain), plain)):
        for head in table.heads:
            if head not in sentence:
                continue
            for colon in re.finditer(r"[:：]\s*", sentence):
                slots = match_form(message, sentence, {"head": head, "value": sentence[colon.end() :]})
                if slots is not None:
                    yield head, slots["subject"], slots["value"]


def _is_subject(subject: str, table: ReadTable, row: TableRow, column: int) -> bool:
    """True if a subject consists of cells of the row, with or without their headers, separated by commas."""
    filled = [at for at, cell in row.cells.items() if at != column and cell.text]
    texts = [text for at in filled for text in (row.text(at), table.with_head(row, at))]

    def joins_texts(rest: str) -> bool:
        return rest in texts or any(
            rest.startswith(f"{text}, ") and joins_texts(rest[len(text) + 2 :]) for text in texts
        )

    return joins_texts(subject)
