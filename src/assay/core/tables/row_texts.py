"""Rows in words: a row of a table with the headers of its columns, and whether a sentence states a row so."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.tables.cells import UNNAMED, ReadTable, column_names, is_head, row_cells

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


def row_stated(sentence: str, tables: Sequence[ReadTable]) -> tuple[bool, str] | None:
    """Whether a sentence states a row as `stated_row` does, and what the row with the same first cell says.

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
