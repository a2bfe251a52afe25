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

    `applied` are those that could be made; `text` and `results`, with the place of each claim, are the result.
    """

    def __init__(self, text: str, results: Sequence[ClaimResult], means: RepairMeans, changes: Changes) -> None:
        self._before, self._original_results, self._means = text, results, means
        self.text, self.results = text, list(results)
        self.applied = dict(changes)
        if changes and not self._try_changes(changes):
            self.applied = {}
            for id, change in changes.items():
                if self._try_changes({**self.applied, id: change}):
                    self.applied[id] = change

    def _try_changes(self, changes: Changes) -> bool:
        """Try these changes on the original text; return whether all other claims are unchanged."""
        remaining = [
            result for result in self._original_results if result.id not in changes or changes[result.id][1] is not None
        ]
        if not remaining:
            self.text, self.results = record_statement(_(NOTHING_LEFT)), []
            return True
        lent = self._claims_with_lent_markers(changes)
        ops = {result.sentence.id: changes[result.id][0] for result in self._original_results if result.id in changes}
        ops |= {result.sentence.id: Recite(result.passages) for result in lent}
        expected = [self._expected_claim(result, changes, lent) for result in remaining]
        text = self._means.retell(apply_changes(self._before, ops, placeholder=self._means.placeholder))
        sentences = align_claims(text, expected)
        if sentences is None:
            return False
        self.text = text
        self.results = [
            _move_result(changes.get(result.id, (None, result))[1] or result, sentence)
            for result, sentence in zip(remaining, sentences, strict=True)
        ]
        return True

    def _expected_claim(self, result: ClaimResult, changes: Changes, lent: Sequence[ClaimResult]) -> ClaimChange:
        after = changes.get(result.id, (None, None))[1]
        expected = claim_change_of((after or result).sentence)
        return ClaimChange(expected.text, (after or result).passages) if after or result in lent else expected

    def _claims_with_lent_markers(self, changes: Changes) -> list[ClaimResult]:
        """Claims without a marker whose citation belongs to a claim that changes: they get their own."""
        borrowers: list[ClaimResult] = []
        lender: ClaimResult | None = None
        for result in reversed(self._original_results):
            if result.sentence.markers:
                lender = result
            elif (
                result.evidence.passages
                and lender is not None
                and lender.sentence.block == result.sentence.block
                and lender.id in changes
                and result.id not in changes
            ):
                borrowers.append(result)
        return borrowers


def _move_result(result: ClaimResult, sentence: ReportSentence) -> ClaimResult:
    """The claim at its new place, in its own words."""
    moved_sentence = msgspec.structs.replace(sentence, text=result.sentence.text)
    return msgspec.structs.replace(result, sentence=moved_sentence)


# A table row of which some cells fail: these are emptied if the rest of the row holds.

MAX_ROW_VARIANTS = 24
"""Ways of emptying a row that are tried."""
_TOGETHER = 3
_STANDS = (*HOLDING, "partial", "unchecked")


class EmptiedRow(msgspec.Struct, frozen=True):
    """A row with emptied cells, as it reads then; `names` are the headers of those cells."""

    change: Blank
    sentence: ReportSentence
    names: tuple[str, ...]


def is_failing_row(result: ClaimResult) -> bool:
    """True if a claim is a table row with a header to which code objects; a judge rejects a row as a whole."""
    return bool(result.sentence.head) and result.check.rule not in ("judge", "citation")


def empty_cells(report: str, result: ClaimResult, rules: CheckRules) -> EmptiedRow | None:
    """The row with the fewest empty cells to which no rule objects; None if there is none. Blocking.

    At least one cell besides the first keeps its value, or nothing would be left. Supported rows come before those with
    just no objection.
    """
    rated_rows = [
        (code_ruling(row.sentence, result.evidence, rules).check.verdict, row)
        for row in islice(_emptied_rows(report, result.sentence), MAX_ROW_VARIANTS)
    ]
    fewest = min((len(row.change.cells) for verdict, row in rated_rows if verdict in _STANDS), default=0)
    stands = [(verdict, row) for verdict, row in rated_rows if verdict in _STANDS and len(row.change.cells) == fewest]
    return min(stands, key=lambda rated_row: _STANDS.index(rated_row[0]))[1] if stands else None


def _emptied_rows(report: str, row: ReportSentence) -> Iterator[EmptiedRow]:
    filled_columns = [column for column, cell in enumerate(row_cells(row.text)) if column and not is_empty(cell)]
    for count in range(1, min(_TOGETHER, len(filled_columns) - 1) + 1):
        for columns in combinations(filled_columns, count):
            change = Blank(columns)
            after = apply_changes(report, {row.id: change})
            sentence = claims_by_start(after).get(row.start)
            if sentence is not None and sentence.head == row.head:
                yield EmptiedRow(change, sentence, tuple(row.head[column] for column in columns))
