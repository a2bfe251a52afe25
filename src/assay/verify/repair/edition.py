"""A report and its claims with several changes made: all, or those that leave every other claim unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice

import msgspec

from assay.core.claims import HOLDING
from assay.core.report_sentences import ReportSentence
from assay.core.tables.cells import row_cells
from assay.core.translation import N_, record_statement
from assay.core.translation import gettext as _
from assay.verify.claim_check import CheckRules, ClaimResult, RepairMeans, code_ruling
from assay.verify.evidence_index import claims_by_start
from assay.verify.repair.surgery import Blank, Change, ClaimChange, Recite, align_claims, apply_changes, claim_change_of
from assay.verify.rows import is_empty

NOTHING_LEFT = N_(
    "Nothing that answers this question was found in a form its sources support: "
    "every sentence which was written had to be taken out."
)


Changes = Mapping[str, tuple[Change, ClaimResult | None]]
"""By the id of a claim, its change and its new version; None if it is removed."""


class Edition:
    """A report with `changes` made: all at once, or one by one if together they would affect another claim.

    `made` are those that could be made; `text` and `checked`, with the place of each claim, are the result.
    """

    def __init__(self, text: str, checked: Sequence[ClaimResult], means: RepairMeans, changes: Changes) -> None:
        self._before, self._all, self._means = text, checked, means
        self.text, self.checked = text, list(checked)
        self.made = dict(changes)
        if changes and not self._try_changes(changes):
            self.made = {}
            for id, change in changes.items():
                if self._try_changes({**self.made, id: change}):
                    self.made[id] = change

    def _try_changes(self, changes: Changes) -> bool:
        """Try these changes on the original text; return whether all other claims are unchanged."""
        left = [each for each in self._all if each.id not in changes or changes[each.id][1] is not None]
        if not left:
            self.text, self.checked = record_statement(_(NOTHING_LEFT)), []
            return True
        lent = self._claims_with_lent_markers(changes)
        ops = {each.sentence.id: changes[each.id][0] for each in self._all if each.id in changes}
        ops |= {each.sentence.id: Recite(each.passages) for each in lent}
        wanted = [self._expected_claim(each, changes, lent) for each in left]
        text = self._means.retell(apply_changes(self._before, ops, emptied=self._means.emptied))
        found = align_claims(text, wanted)
        if found is None:
            return False
        self.text = text
        self.checked = [
            _move_result(changes.get(each.id, (None, each))[1] or each, sentence)
            for each, sentence in zip(left, found, strict=True)
        ]
        return True

    def _expected_claim(self, checked: ClaimResult, changes: Changes, lent: Sequence[ClaimResult]) -> ClaimChange:
        after = changes.get(checked.id, (None, None))[1]
        expected = claim_change_of((after or checked).sentence)
        return ClaimChange(expected.text, (after or checked).passages) if after or checked in lent else expected

    def _claims_with_lent_markers(self, changes: Changes) -> list[ClaimResult]:
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


def _move_result(checked: ClaimResult, sentence: ReportSentence) -> ClaimResult:
    """The claim at its new place, in its own words."""
    there = msgspec.structs.replace(sentence, text=checked.sentence.text)
    return msgspec.structs.replace(checked, sentence=there)


# A table row of which some cells fail: these are emptied if the rest of the row holds.

MOST = 24
"""Ways of emptying a row that are tried."""
_TOGETHER = 3
_STANDS = (*HOLDING, "partial", "unchecked")


class EmptiedRow(msgspec.Struct, frozen=True):
    """A row with emptied cells, as it reads then; `names` are the headers of those cells."""

    change: Blank
    sentence: ReportSentence
    names: tuple[str, ...]


def is_failing_row(checked: ClaimResult) -> bool:
    """True if a claim is a table row with a header to which code objects; a judge rejects a row as a whole."""
    return bool(checked.sentence.head) and checked.check.rule not in ("judge", "citation")


def empty_cells(report: str, checked: ClaimResult, rules: CheckRules) -> EmptiedRow | None:
    """The row with the fewest empty cells to which no rule objects; None if there is none. Blocking.

    At least one cell besides the first keeps its value, or nothing would be left. Supported rows come before those with
    just no objection.
    """
    found = [
        (code_ruling(each.sentence, checked.evidence, rules).check.verdict, each)
        for each in islice(_emptied_rows(report, checked.sentence), MOST)
    ]
    fewest = min((len(each.change.cells) for verdict, each in found if verdict in _STANDS), default=0)
    stands = [(verdict, each) for verdict, each in found if verdict in _STANDS and len(each.change.cells) == fewest]
    return min(stands, key=lambda each: _STANDS.index(each[0]))[1] if stands else None


def _emptied_rows(report: str, row: ReportSentence) -> Iterator[EmptiedRow]:
    filled = [at for at, cell in enumerate(row_cells(row.text)) if at and not is_empty(cell)]
    for count in range(1, min(_TOGETHER, len(filled) - 1) + 1):
        for chosen in combinations(filled, count):
            change = Blank(chosen)
            after = apply_changes(report, {row.id: change})
            sentence = claims_by_start(after).get(row.start)
            if sentence is not None and sentence.head == row.head:
                yield EmptiedRow(change, sentence, tuple(row.head[at] for at in chosen))
