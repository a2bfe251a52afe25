"""Items of a list of objects: the rows of the table whose columns are called like the fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.core.measures import NAMES, comparable, split_label
from assay.core.tables.cells import ReadTable, TableRow
from assay.core.tables.table_questions import answer
from assay.models.questions.question import ParsedQuestion
from assay.models.questions.words import stems

FEWEST = 2
"""The least fields that a table must have as columns, and at least half of all."""
Columns = dict[str, int]


def rows_of_items(
    fields: Mapping[str, Any], question: ParsedQuestion, shown: Sequence[ReadTable]
) -> tuple[ReadTable, Columns, Sequence[TableRow]] | None:
    """The only table that has the most of the fields as columns, where each of them is, and the rows that are meant.

    If the question names values of rows, only these are.
    """
    rated = [(len(columns), table, columns) for table in shown if (columns := _columns(fields, table))]
    most = max((count for count, _, _ in rated), default=0)
    best = [(table, columns) for count, table, columns in rated if count == most]
    if most < FEWEST or most * 2 < len(fields) or len(best) != 1:
        return None
    table, columns = best[0]
    found = answer(question.text, [table])
    if found is not None and found.wanted.given:
        chosen = {id(row) for each in found.answers for row in each.rows}
        return table, columns, [row for row in table.rows if id(row) in chosen]
    return table, columns, table.rows


def _columns(fields: Mapping[str, Any], table: ReadTable) -> Columns:
    """The column of each field: the only one called like it, or like its description."""
    heads = [frozenset(stems(split_label(head).label)) for head in table.heads]
    found: Columns = {}
    for name, schema in fields.items():
        label, unit = split_label(" ".join(part for part in name.replace("-", "_").split("_") if part))
        for text in (label, str(schema.get("description", ""))):
            wanted = frozenset(stems(text))
            same = [at for at, head in enumerate(heads) if wanted and head == wanted]
            if len(same) == 1 and same[0] not in found.values() and _fits(unit, table.heads[same[0]]):
                found[name] = same[0]
                break
    return found


def _fits(unit: str, head: str) -> bool:
    """True if a column's unit can be converted to that of the field, or one of them names none."""
    own = split_label(head).unit
    return not unit or not own or comparable(NAMES[unit.lower()], NAMES[own.lower()])
