"""What of the plan and the question is answered by the report as it left verification.

Coverage before writing says what was found; whether the report states it, its claims say. A part all of whose claims
were taken out is not answered, and the report's end says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from assay.core.claims import HOLDING
from assay.core.events import CoverageAssessed, ReportRevised
from assay.core.plan import Coverage
from assay.core.sources import Passage
from assay.phases.form import missing, unfound, with_missing
from assay.run.run import Run
from assay.verify.claim_check import ClaimResult
from assay.verify.repair.mender import Repaired

REVISED = "what could not be found was put right by code"

Place = tuple[str, int]
"""A passage as its document and the byte it begins at: what two lanes were shown may be one."""


class Closing:
    """Assesses a report before its last check; `limits` are what its text has no place for.

    Args:
        before: the coverage before writing.
        passages: every passage shown in the run, by id.
        formed: whether the text has a form of its own, to which nothing may be added.
    """

    def __init__(self, before: Sequence[Coverage], passages: Mapping[str, Passage], *, formed: bool) -> None:
        self.before, self.passages, self.formed = before, passages, formed
        self.limits: tuple[str, ...] = ()

    def __call__(self, run: Run, repaired: Repaired, removed: Sequence[ClaimResult]) -> Repaired:
        """The report with what it does not answer after all. Nothing before its end moves."""
        if not self.before:
            return repaired
        after = reassess(self.before, self.passages, repaired.checked, removed)
        run.emit(CoverageAssessed(coverage=after, when="after"))
        known = missing(self.before)
        lost = [part for part in missing(after) if part not in known and f"\n- {part}:" not in repaired.text]
        if self.formed:
            self.limits = tuple(map(unfound, lost))
            return repaired
        text = with_missing(repaired.text, lost)
        if text != repaired.text:
            spans = {each.id: (each.sentence.start, each.sentence.end) for each in repaired.checked}
            run.emit(ReportRevised(text=text, why=REVISED, spans=spans))
        return msgspec.structs.replace(repaired, text=text)


def reassess(
    before: Sequence[Coverage],
    passages: Mapping[str, Passage],
    standing: Sequence[ClaimResult],
    removed: Sequence[ClaimResult],
) -> tuple[Coverage, ...]:
    """Coverage by what a report says.

    A part is answered as far as it was before where a quoted or supported claim rests on what was found for it; partly,
    where only claims of which that is not sure do, or none; not, where all that did were taken out. What rests on no
    passages of its own, an analysis, stands as the question does. The question is answered when every part of it is.

    Args:
        before: the coverage before writing; the question first.
        passages: every passage shown in the run, by id.
        standing: the claims of the report.
        removed: the claims which were taken out, as they were found.
    """
    sure = _places(each for each in standing if each.check.verdict in HOLDING)
    stated, gone = _places(standing), _places(removed)

    def now(part: Coverage) -> Coverage:
        own = {_place(passages[id]) for id in part.passages if id in passages}
        if part.status == "not" or own & sure:
            return part
        lost = bool(own & gone) and not own & stated
        return msgspec.structs.replace(part, status="not" if lost else "partly")

    parts = [part if not part.passages else now(part) for part in before[1:]]
    whole = _whole(now(before[0]), parts)
    return (whole, *(_analysed(part, before[0], whole) for part in parts))


def _whole(whole: Coverage, parts: Sequence[Coverage]) -> Coverage:
    searched = [part for part in parts if part.passages or part.status == "not"]
    if whole.status == "answered" and any(part.status != "answered" for part in searched):
        return msgspec.structs.replace(whole, status="partly")
    return whole


def _analysed(part: Coverage, before: Coverage, whole: Coverage) -> Coverage:
    """What analyses the rest stands as that stands; what was not found at all stays so."""
    if part.passages or part.status != before.status:
        return part
    return msgspec.structs.replace(part, status=whole.status)


def _places(claims: Iterable[ClaimResult]) -> set[Place]:
    return {_place(passage) for each in claims for passage in each.evidence.passages}


def _place(passage: Passage) -> Place:
    return passage.document_sha256, passage.start
