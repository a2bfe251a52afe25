"""The quantities of columns that their headers need not name: dates, durations, money, and those that a unit tells.

A unit of weight, speed or time tells the quantity: "Displacement (kg)". Metres do not: they are of a length, a
height, or a depth.
"""

from __future__ import annotations

from assay.core.measures import MEASURES, NAMES
from assay.core.patterns import regex
from assay.core.tables import groups
from assay.core.tables.cells import ReadTable
from assay.core.tables.figures import clock, figures_of, holds, moment

TOLD = {"mass": "@mass", "speed": "@speed", "time": "@time"}
"""The dimensions of units that tell a quantity, by its sign in `operations.json`."""
_UNIT = regex(r"[(\[]\s*([^()\[\]]+?)\s*[)\]]\s*$|\s(?:in|en)\s+(\S+)$")
"""A unit in a header: "Price (EUR)", "Weight in kg"."""


def quantities(table: ReadTable, column: int) -> frozenset[str]:
    """The signs of the quantities in a column, as in `operations.json`."""
    found = {TOLD[dimension] for unit in _units(table, column) if (dimension := _dimension(unit)) in TOLD}
    found |= {sign for sign, read in (("@date", moment), ("@time", clock)) if holds(table.column(column), read)}
    if groups.is_money(table, column):
        found.add("@money")
    return frozenset(found)


def _units(table: ReadTable, column: int) -> frozenset[str]:
    match = _UNIT.search(table.heads[column])
    figures = figures_of(table, column)
    own = figures.units() if figures is not None else frozenset[str]()
    return own | {next(filter(None, match.groups())).casefold()} if match is not None else own


def _dimension(unit: str) -> str:
    return MEASURES[NAMES[unit]].dimension if unit in NAMES else ""
