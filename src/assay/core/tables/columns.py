"""What a column holds and is for, by its header and its cells: amounts, money, groups, the quantity it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assay.core.lazy import regex
from assay.core.measures import CURRENCIES, MEASURES, UNIT_NAMES
from assay.core.tables.cells import ReadTable, TableRow
from assay.core.tables.figures import all_readable, figures_of, is_missing, parse_date, parse_duration

SHARED = 0.5
"""The share of its times that several groups must have for rows to be measurements at the same times."""
TOLD = {"mass": "@mass", "speed": "@speed", "time": "@time"}
"""The dimensions of units that tell a quantity, by its sign in `operations.json`: "Displacement (kg)". Metres do not:
they are of a length, a height, or a depth.
"""
_UNIT = regex(r"[(\[]\s*([^()\[\]]+?)\s*[)\]]\s*$|\s(?:in|en)\s+(\S+)$")
"""A unit in a header: "Price (EUR)", "Weight in kg"."""
_MONEY = CURRENCIES.keys() | set(
    "chf rub try krw pln sek nok dkk czk huf uah brl cad aud pound pounds franken francs ₽ ₺ ₩".split()
)
_WORD = regex(r"[^\W_]+|[^\w\s]")


def quantities(table: ReadTable, column: int) -> frozenset[str]:
    """The signs of the quantities in a column, as in `operations.json`, which its header need not name."""
    match, figures = _UNIT.search(table.heads[column]), figures_of(table, column)
    units = set(figures.units()) if figures is not None else set()
    if match is not None:
        units.add(next(filter(None, match.groups())).casefold())
    signs = {TOLD.get(MEASURES[UNIT_NAMES[unit]].dimension, "") for unit in units if unit in UNIT_NAMES}
    signs |= {
        sign
        for sign, reader in (("@date", parse_date), ("@time", parse_duration))
        if all_readable(table.column(column), reader)
    }
    return frozenset(signs | ({"@money"} if is_money(table, column) else set()))


def is_money(table: ReadTable, column: int) -> bool:
    """True if the header of a column, or its figures, name a currency."""
    figures = figures_of(table, column)
    texts = (table.heads[column], *(figures.units() if figures is not None else ()))
    return any(word.casefold() in _MONEY for text in texts for word in _WORD.findall(text))


def currencies(table: ReadTable, column: int, rows: Sequence[TableRow]) -> tuple[str, ...]:
    """The currencies of the amounts in `rows`, if they stand in the column beside."""
    for neighbour in (column + 1, column - 1):
        cells = _filled_cells(table, neighbour) if 0 <= neighbour < len(table.heads) else []
        if cells and all(text.casefold() in _MONEY for text in cells):
            return tuple(dict.fromkeys(filter(None, (row.text(neighbour) for row in rows))))
    return ()


def is_amount(table: ReadTable, column: int) -> bool:
    """True if the figures of a column are amounts: no years, and no numbers of the rows."""
    cells = _filled_cells(table, column)
    numbers = column == 0 and len(set(cells)) == len(cells)
    return figures_of(table, column) is not None and not all_readable(cells, parse_date) and not numbers


def is_grouping(table: ReadTable, label: int) -> bool:
    """True if the texts of a column put rows into groups."""
    cells = _filled_cells(table, label)
    return 1 < len(set(cells)) < len(cells)


def measures_at_times(table: ReadTable, label: int) -> bool:
    """True if rows measure groups at the same times, as inhabitants in each year: their sum is nothing."""
    for time_column in range(len(table.heads)):
        pairs = list(zip(table.column(time_column), table.column(label), strict=True))
        if (
            time_column != label
            and len(set(pairs)) == len(pairs)
            and all_readable(table.column(time_column), parse_date)
        ):
            times = Counter(time for time, _ in pairs)
            if sum(count > 1 for count in times.values()) > SHARED * len(times):
                return True
    return False


def _filled_cells(table: ReadTable, column: int) -> list[str]:
    return [text for text in table.column(column) if not is_missing(text)]
