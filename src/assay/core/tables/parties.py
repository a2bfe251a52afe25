"""Who pays and who receives: the columns of both by their headers, and the part of a name by the words beside it.

`Payer` and `Payee` often hold the same names. "How much did A pay to B?" asks for A in one and B in the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.tables.cells import ReadTable
from assay.core.tables.words import any_of, languages, read_language


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
