"""A report and its claims with several changes made: all of them, or those which leave every other claim as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from assay.core.translation import N_, state
from assay.core.translation import gettext as _
from assay.verify.claim_check import ClaimResult
from assay.verify.claims import ReportSentence
from assay.verify.repair.means import Means
from assay.verify.repair.surgery import Change, ClaimChange, Recite, Remove, aligned, changed, placed

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
