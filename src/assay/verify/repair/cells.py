"""A table row which fails for some of its cells: those are left empty, where the rest of the row holds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice

import msgspec

from assay.core.claims import HOLDING
from assay.verify.claim_check import CheckRules, ClaimResult, settle
from assay.verify.claims import ReportSentence, read
from assay.verify.repair.surgery import Blank, changed
from assay.verify.rows import cells, is_empty

MOST = 24
"""Ways of emptying a row which are looked at."""
_TOGETHER = 3
_STANDS = (*HOLDING, "partial", "unchecked")


class Emptied(msgspec.Struct, frozen=True):
    """A row with cells left empty, as it is read then; `names` are the heads of those cells."""

    change: Blank
    sentence: ReportSentence
    names: tuple[str, ...]


def is_row(checked: ClaimResult) -> bool:
    """Whether a claim is a table row under a head, to which code objects: what a judge denies, it denies as a whole."""
    return bool(checked.sentence.head) and checked.check.rule not in ("judge", "citation")


def emptied(report: str, checked: ClaimResult, rules: CheckRules) -> Emptied | None:
    """The row with the fewest cells empty to which no rule objects any more; None where there is none. Blocking.

    One cell beside the first keeps its value, or nothing would be left of the row. What is supported comes before
    what is only not objected to.
    """
    found = [
        (settle(each.sentence, checked.evidence, rules)[0].verdict, each)
        for each in islice(_ways(report, checked.sentence), MOST)
    ]
    fewest = min((len(each.change.cells) for verdict, each in found if verdict in _STANDS), default=0)
    stands = [(verdict, each) for verdict, each in found if verdict in _STANDS and len(each.change.cells) == fewest]
    return min(stands, key=lambda each: _STANDS.index(each[0]))[1] if stands else None


def _ways(report: str, row: ReportSentence) -> Iterator[Emptied]:
    filled = [at for at, cell in enumerate(cells(row.text)) if at and not is_empty(cell)]
    for count in range(1, min(_TOGETHER, len(filled) - 1) + 1):
        for chosen in combinations(filled, count):
            change = Blank(chosen)
            after = changed(report, {row.id: change})
            sentence = next((each for each in read(after) if each.id and each.start == row.start), None)
            if sentence is not None and sentence.head == row.head:
                yield Emptied(change, sentence, tuple(row.head[at] for at in chosen))
