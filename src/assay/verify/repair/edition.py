"""A report and its claims with several changes made: all, or those that leave every other claim unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice

import msgspec

from assay.core.claims import HOLDING
from assay.core.report_sentences import ReportSentence
from assay.core.tables.cells import row_cells
from assay.core.translation import N_, state
from assay.core.translation import gettext as _
from assay.verify.claim_check import CheckRules, ClaimResult, Means, settle
from assay.verify.evidence_index import standing
from assay.verify.repair.surgery import Blank, Change, ClaimChange, Recite, Remove, aligned, changed, placed
from assay.verify.rows import is_empty

NOTHING_LEFT = N_(
    "Nothing that answers this question was found in a form its sources support: "
    "every sentence which was written had to be taken out."
)


class Edition:
    """A report being changed: all changes at once, or one by one if together they would affect another claim."""

    def __init__(self, text: str, checked: Sequence[ClaimResult], means: Means) -> None:
        self._before, self._means = text, means
        self._all = list(checked)
        self._changes: dict[str, tuple[Change, ClaimResult | None]] = {}
        self._made: dict[str, tuple[Change, ClaimResult | None]] | None = None
        self._text, self._checked = text, list(checked)

    def revise(self, change: Change, after: ClaimResult) -> None:
        """Replace a claim by its new version."""
        self._changes[after.id] = (change, after)

    def remove(self, checked: ClaimResult) -> None:
        """Remove a claim."""
        self._changes[checked.id] = (Remove(), None)

    @property
    def text(self) -> str:
        """The text with all changes that can be made."""
        self._make()
        return self._text

    @property
    def checked(self) -> list[ClaimResult]:
        """The claims of the new text, each with its place."""
        self._make()
        return self._checked

    @property
    def revised(self) -> set[str]:
        """The revised claims."""
        return {id for id, (_, after) in self._make().items() if after is not None}

    @property
    def removed(self) -> set[str]:
        """The removed claims."""
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
        """Try these changes on the original text; return whether all other claims are unchanged."""
        left = [each for each in self._all if each.id not in changes or changes[each.id][1] is not None]
        if not left:
            self._text, self._checked = state(_(NOTHING_LEFT)), []
            return True
        lent = self._claims_with_lent_markers(changes)
        ops = {each.sentence.id: changes[each.id][0] for each in self._all if each.id in changes}
        ops |= {each.sentence.id: Recite(each.passages) for each in lent}
        wanted = [self._expected_claim(each, changes, lent) for each in left]
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

    def _expected_claim(
        self,
        checked: ClaimResult,
        changes: Mapping[str, tuple[Change, ClaimResult | None]],
        lent: Sequence[ClaimResult],
    ) -> ClaimChange:
        after = changes.get(checked.id, (None, None))[1]
        expected = placed((after or checked).sentence)
        return ClaimChange(expected.text, (after or checked).passages) if after or checked in lent else expected

    def _claims_with_lent_markers(self, changes: Mapping[str, tuple[Change, ClaimResult | None]]) -> list[ClaimResult]:
        """Claims without a marker whose citation belongs to a claim that changes: they get their own."""
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
    """The claim at its new place, in its own words."""
    there = msgspec.structs.replace(sentence, text=checked.sentence.text)
    return msgspec.structs.replace(checked, sentence=there)


# A table row of which some cells fail: these are emptied if the rest of the row holds.

MOST = 24
"""Ways of emptying a row that are tried."""
_TOGETHER = 3
_STANDS = (*HOLDING, "partial", "unchecked")


class Emptied(msgspec.Struct, frozen=True):
    """A row with emptied cells, as it reads then; `names` are the headers of those cells."""

    change: Blank
    sentence: ReportSentence
    names: tuple[str, ...]


def is_row(checked: ClaimResult) -> bool:
    """True if a claim is a table row with a header to which code objects; a judge rejects a row as a whole."""
    return bool(checked.sentence.head) and checked.check.rule not in ("judge", "citation")


def emptied(report: str, checked: ClaimResult, rules: CheckRules) -> Emptied | None:
    """The row with the fewest empty cells to which no rule objects; None if there is none. Blocking.

    At least one cell besides the first keeps its value, or nothing would be left. Supported rows come before those with
    just no objection.
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
            sentence = standing(after).get(row.start)
            if sentence is not None and sentence.head == row.head:
                yield Emptied(change, sentence, tuple(row.head[at] for at in chosen))
