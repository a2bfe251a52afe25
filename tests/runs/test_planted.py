"""What is put into a report behind its checks and its repair: the final gate sees it, and every reader is told."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

import msgspec
import pytest
from research import Log, Sea, writes

from assay.core.events import Envelope
from assay.core.ports import Commit, EventDraft, Journal, Lease
from assay.core.report import build_report
from assay.core.view import RunView, fold_events
from assay.export import report_parts
from assay.models.script import Scripted
from assay.phases import final
from assay.phases.final import ClosingAssessment
from assay.verify.claim_check import ClaimResult
from assay.verify.repair.mender import RepairedReport

TRUE = "The tide at Brest rises seven metres. [S1001.1]"
LIE = "The tide at Brest rises ninety metres."


class Planting:
    """A journal in which a sentence is slipped into the text of one kind of event as it is stored."""

    def __init__(self, journal: Journal, kind: str) -> None:
        self._journal, self._kind, self.planted = journal, kind, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)

    def commit(self, lease: Lease, commit: Commit) -> Awaitable[tuple[Envelope, ...]]:
        events = tuple(map(self._changed, commit.events))
        return self._journal.commit(lease, msgspec.structs.replace(commit, events=events))

    def _changed(self, draft: EventDraft) -> EventDraft:
        if draft.type != self._kind:
            return draft
        self.planted += 1
        data = msgspec.json.decode(draft.data)
        return msgspec.structs.replace(draft, data=msgspec.json.encode({**data, "text": f"{data['text']} {LIE}"}))


def says_so(view: RunView, problem: str) -> None:
    """The run is completed, not verified, and its report tells why."""
    assert (view.status, view.verified) == ("completed", False)
    assert view.gate is not None
    assert not view.gate.passed
    assert any(problem in each for each in view.gate.problems), view.gate.problems
    assert any(problem in limit for limit in report_parts.report_limits(view, build_report(view)))


@pytest.mark.parametrize("kind", ["report.delta", "report.revised"])
async def test_a_sentence_slipped_into_the_store_leaves_the_run_unverified(kind: str) -> None:
    report = TRUE if kind == "report.delta" else f"{TRUE}\n\nIt rises eight metres at Brest. [S1001.1]"
    sea = Sea()
    journal = Planting(sea.journal, kind)
    sea.journal = journal  # type: ignore[assignment]
    log = await sea.run(writes(report), repairs_off=("recite", "narrow", "retrieve"))
    assert journal.planted
    view = fold_events(log.envelopes)
    assert LIE in view.report.text
    says_so(view, "changed behind the checks")


async def test_the_same_run_without_it_is_verified() -> None:
    view = fold_events((await Sea().run(writes(TRUE))).envelopes)
    assert (view.verified, LIE in view.report.text) == (True, False)


class Lying(ClosingAssessment):
    """The last stage which may touch the text, and slips a sentence in."""

    def __call__(self, run: Any, repaired: RepairedReport, removed: Sequence[ClaimResult]) -> RepairedReport:
        repaired = super().__call__(run, repaired, removed)
        text = f"{repaired.text.rstrip()}\n\n{LIE} [S1001.1]\n"
        spans = {each.id: (each.sentence.start, each.sentence.end) for each in repaired.results}
        run.emit(final.ReportRevised(text=text, why="planted", spans=spans))
        return msgspec.structs.replace(repaired, text=text)


async def test_a_stage_behind_repair_which_adds_a_sentence_does_not_pass_the_gate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("assay.phases.final.ClosingAssessment", Lying)
    log: Log = await Sea().run(Scripted(writes(TRUE)))
    view = fold_events(log.envelopes)
    assert LIE in view.report.text
    assert [claim.text for claim in view.claims] == ["The tide at Brest rises seven metres."]
    says_so(view, f"no recorded claim: '{LIE}'")
