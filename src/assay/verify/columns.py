"""Figures of a claim which are the sum or the mean of a column of the rows it cites, or of all rows of their table.

Of single figures only a few are combined (`verify.derived_figures`): of more any result could be had. A column is one
choice, however many rows it has, so all of them are added up where the claim names the operation and the column.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache

import msgspec

from assay.core.tables.answers import figures_of, is_total
from assay.core.tables.cells import ReadTable, TablePiece, read_tables
from assay.core.tables.figures import Figure, mean, total
from assay.core.tables.words import read_asking
from assay.core.text import words
from assay.verify.amounts import Amount
from assay.verify.analyzed_text import AnalyzedText, Texts, stem
from assay.verify.equality import same

FEWEST = 2
"""Rows a column is added up from."""


def added_up(claim: AnalyzedText, amount: Amount, texts: Texts) -> str:
    """How the amount follows from a column of the rows cited ("sum of 12 rows of price"); empty where it does not."""
    told = tuple(zip(texts.passages, (reading.plain.text for reading in texts.readings), strict=True))
    tables = _tables(told)
    operation = read_asking(claim.plain.text).ways[0].operation if tables else "cell"
    if operation not in ("sum", "mean"):
        return ""
    for table in tables:
        for column, figures in _columns(table, claim):
            value = total(figures) if operation == "sum" else mean(figures)
            if same(amount, _result(amount, value)):
                return f"{operation} of {len(figures)} rows of {table.heads[column]}"
    return ""


@lru_cache(maxsize=64)
def _tables(told: tuple[tuple[str, str], ...]) -> tuple[ReadTable, ...]:
    """The tables of the passages cited."""
    return read_tables(TablePiece(name, text) for name, text in told if "|" in text)


def _columns(table: ReadTable, claim: AnalyzedText) -> Iterator[tuple[int, list[Figure]]]:
    """The columns of figures the claim names by a word of their heads; the only one, where there is no other."""
    able = [column for column in range(len(table.heads)) if figures_of(table, column) is not None]
    named = [column for column in able if any(stem(word) in claim.places for word in words(table.heads[column]))]
    for column in named or (able if len(able) == 1 else []):
        figures = figures_of(table, column)
        assert figures is not None  # of those which are able
        found = zip(table.rows, figures.values, strict=True)
        used = [figure for row, figure in found if figure is not None and not is_total(row)]
        if len(used) >= FEWEST and len({figure.unit for figure in used}) == 1:
            yield column, used


def _result(amount: Amount, value: Decimal) -> Amount:
    """`value` as the evidence would state it, exactly."""
    literal, quantum = f"{value.normalize():f}", Decimal(1).scaleb(-9)
    return msgspec.structs.replace(amount, values=(value,), quantum=quantum, literal=literal, bound="")
