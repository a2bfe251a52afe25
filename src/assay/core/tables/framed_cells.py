"""Compares a sentence that states a cell, `HEAD of SUBJECT: VALUE`, with the tables it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.core.tables.answers import FORMS, match_form
from assay.core.tables.cells import ReadTable, TableRow
from assay.core.translation import gettext


def bound(sentence: str, tables: Sequence[ReadTable]) -> tuple[bool, str] | None:
    """Compare `HEAD of SUBJECT: VALUE` with the row that has the subject in other cells: equal or not, and that row.

    None if no row of the tables has this subject under this header.
    """
    said = ""
    for table in tables:
        for head, subject, value in _framed(sentence.strip(), table):
            column = table.heads.index(head)
            for row in table.rows:
                if not _is_subject(subject, table, row, column):
                    continue
                if row.text(column) == value:
                    return True, value
                said = said or row.text(column)
    return (False, said) if said else None


def _framed(sentence: str, table: ReadTable) -> Iterator[tuple[str, str, str]]:
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

    def made(rest: str) -> bool:
        return rest in texts or any(rest.startswith(f"{text}, ") and made(rest[len(text) + 2 :]) for text in texts)

    return made(subject)
