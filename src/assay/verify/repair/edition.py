"""A report and its claims with several changes made: all of them, or those which leave every other claim as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice

import msgspec

from assay.core.claims import HOLDING
from assay.core.report_sentences import ReportSentence, read
from assay.core.tables.cells import row_cells
from assay.core.translation import N_, state
from assay.core.translation import gettext as _
from assay.verify.claim_check import CheckRules, ClaimResult, settle
from assay.verify.repair.candidates import Means
from assay.verify.repair.surgery import Blank, Change, ClaimChange, Recite, Remove, aligned, changed, placed
from assay.verify.rows import is_empty

NOTHING_LEFT = N_(
    "Nothing that answers this question was found in a form its sources support: "
    "every sentence which was written had to be taken out."
)


class Edition:
    """A report in change: all changes at once, and one by one where together they would touch another claim."""

    def __init__(self, text: str, checked: Sequence[ClaimResult], means: Means) -> None:
        self._before, self._means = text, means
        self._all = list(checked)
        self._changes: dict[str, tuple[Change, ClaimResult | None]] = {}
        self._made: dict[str, tuple[Change, ClaimResult | None]] | None = None
        self._text, self._checked = text, list(checked)

    def revise(self, change: Change, after: ClaimResult) -> None:
        """Put a claim's new version in its place."""
        self._changes[after.id] = (change, after)

    def remove(self, checked: ClaimResult) -> None:
        """Take a claim out."""
        self._changes[checked.id] = (Remove(), None)

    @property
    def text(self) -> str:
        """The text with all changes which can be made."""
        self._make()
        return self._text

    @property
    def checked(self) -> list[ClaimResult]:
        """The claims there are then, each where it stands."""
        self._make()
        return self._checked

    @property
    def revised(self) -> set[str]:
        """The claims revised."""
        return {id for id, (_, after) in self._make().items() if after is not None}

    @property
    def removed(self) -> set[str]:
        """The claims taken out."""
        return {id for id, (_, after) in self._make().items() if after is None}

    def _make(self) -> Mapping[str, tuple[Change, ClaimResult | None]]:
        if self._made is None:
            self._made = dict(self._changes)
            if self._changes and not self._try(self._made):
                self._made = {}
                for id, change in self._changes.items():
                    if self._try({**self._made, id: change}):
                        self._made[id] = change
        return self._made

    def _try(self, changes: Mapping[str, tuple[Change, ClaimResult | None]]) -> bool:
        """Make these changes to the text as it was before; whether all other claims came through."""
        left = [each for each in self._all if each.id not in changes or changes[each.id][1] is not None]
        if not left:
            self._text, self._checked = state(_(NOTHING_LEFT)), []
            return True
        lent = self._lent(changes)
        ops = {each.sentence.id: changes[each.id][0] for each in self._all if each.id in changes}
        ops |= {each.sentence.id: Recite(each.passages) for each in lent}
        wanted = [self._wanted(each, changes, lent) for each in left]
        text = self._means.retell(changed(self._before, ops, emptied=self._means.emptied))
        found = aligned(text, wanted)
        if found is None:
            return False
        self._text = text
        self._checked = [
            _moved(changes.get(each.id, (None, each))[1] or each, sentence)
            for each, sentence in zip(left, found, strict=True)
        ]
        return True

    def _wanted(
        self,
        checked: ClaimResult,
        changes: Mapping[str, tuple[Change, ClaimResult | None]],
        lent: Sequence[ClaimResult],
    ) -> ClaimChange:
        after = changes.get(checked.id, (None, None))[1]
        said = placed((after or checked).sentence)
        return ClaimChange(said.text, (after or checked).passages) if after or checked in lent else said

    def _lent(self, changes: Mapping[str, tuple[Change, ClaimResult | None]]) -> list[ClaimResult]:
        """Claims without a marker of their own whose citation stands on a claim that changes: they get their own."""
        found: list[ClaimResult] = []
        lender: ClaimResult | None = None
        for each in reversed(self._all):
            if each.sentence.markers:
                lender = each
            elif (
                each.evidence.passages
                and lender is not None
                and lender.sentence.block == each.sentence.block
                and lender.id in changes
                and each.id not in changes
            ):
                found.append(each)
        return found


def _moved(checked: ClaimResult, sentence: ReportSentence) -> ClaimResult:
    """The claim where it stands now, in its own words."""
    there = msgspec.structs.replace(sentence, text=checked.sentence.text)
    return msgspec.structs.replace(checked, sentence=there)


# A table row which fails for some of its cells: those are left empty, where the rest of the row holds.

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
        (settle(each.sentence, checked.evidence, rules).check.verdict, each)
        for each in islice(_ways(report, checked.sentence), MOST)
    ]
    fewest = min((len(each.change.cells) for verdict, each in found if verdict in _STANDS), default=0)
    stands = [(verdict, each) for verdict, each in found if verdict in _STANDS and len(each.change.cells) == fewest]
    return min(stands, key=lambda each: _STANDS.index(each[0]))[1] if stands else None


def _ways(report: str, row: ReportSentence) -> Iterator[Emptied]:
    filled = [at for at, cell in enumerate(row_cells(row.text)) if at and not is_empty(cell)]
    for count in range(1, min(_TOGETHER, len(filled) - 1) + 1):
        for chosen in combinations(filled, count):
            change = Blank(chosen)
            after = changed(report, {row.id: change})
            sentence = next((each for each in read(after) if each.id and each.start == row.start), None)
            if sentence is not None and sentence.head == row.head:
                yield Emptied(change, sentence, tuple(row.head[at] for at in chosen))
