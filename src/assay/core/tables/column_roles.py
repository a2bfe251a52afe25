"""What a column is for, by its header and its cells: the quantity it has, and which party of a payment it names."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.lazy import regex
from assay.core.measures import MEASURES, NAMES
from assay.core.tables import groups
from assay.core.tables.cells import ReadTable
from assay.core.tables.figures import clock, figures_of, holds, moment
from assay.core.tables.words import any_of, languages, read_language

# The quantities of columns that their headers need not name: dates, durations, money, and those that a unit tells.
#
# A unit of weight, speed or time tells the quantity: "Displacement (kg)". Metres do not: they are of a length, a
# height, or a depth.

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


# Who pays and who receives: the columns of both by their headers, and the part of a name by the words beside it.
#
# `Payer` and `Payee` often hold the same names. "How much did A pay to B?" asks for A in one and B in the other.


class Parties(msgspec.Struct, frozen=True):
    """The columns of payers and payees, and the words of a question's language that tell them apart in it.

    `subject` is the column that the subject of the question's verb is in ("paid", "received"), -1 if that is unclear.
    """

    payer: int
    payee: int
    subject: int
    away: frozenset[str]
    toward: frozenset[str]

    def other(self, column: int) -> int:
        """The column of the other side."""
        return self.payee if column == self.payer else self.payer

    def column(self, before: Sequence[str]) -> int:
        """The column of a name with these words before it, the nearest last; -1 if they do not tell."""
        nearest = before[-1].casefold() if before else ""
        if nearest in self.toward | self.away:
            return self.payee if nearest in self.toward else self.payer
        return self.subject


def parties(question: str, table: ReadTable) -> Parties | None:
    """The parties of a table that has one column of payers and one of payees; None for other tables."""
    language = read_language(question)
    sides = [
        [at for at, head in enumerate(table.heads) if any_of(language, side).fullmatch(head.strip())]
        for side in ("payers", "payees")
    ]
    if any(len(side) != 1 for side in sides):
        return None
    payer, payee = sides[0][0], sides[1][0]
    gives, gets = (any_of(language, verbs).search(question) for verbs in ("giving", "getting"))
    subject = -1 if (gives is None) == (gets is None) else payer if gives else payee
    if any_of(language, "passive").search(question):
        subject = -1
    return Parties(payer, payee, subject, _words(language, "away"), _words(language, "toward"))


def _words(language: str, name: str) -> frozenset[str]:
    return frozenset(word.strip() for word in getattr(languages()[language], name).split(","))
