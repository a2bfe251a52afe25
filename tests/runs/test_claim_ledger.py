"""Whole runs: what verification said of each claim is in the report as data, and holds when it is checked again."""

from __future__ import annotations

from research import ONE_STEP, TIDE, Sea, first_agent, planned, report_wanted, sends

from assay.app.verification import text_reader
from assay.core import events as e
from assay.core.report import build_report
from assay.core.view import fold_events
from assay.models.script import says
from assay.verify.pipeline import recheck_by_code

WRITTEN = "The tide rises by 7 metres at Brest. [S1001.1]\n\nThe tide at Brest rises nine metres. [S1001.1]"


async def test_the_report_has_every_check_and_the_same_verdicts_again() -> None:
    sea = Sea()
    script = [*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted(), says(WRITTEN, task="write")]
    log = await sea.run(script, repair=False)
    checked = {event.id: event for event in log.of(e.ClaimChecked)}
    view = fold_events(log.envelopes)
    report = build_report(view)
    assert [claim.verdict for claim in report.claims] == ["supported", "contradicted"]
    for claim in report.claims:
        last = claim.checks[-1]
        assert (last.rule, last.verdict, last.reason) == (checked[claim.id].rule, claim.verdict, claim.reason)
        assert (claim.versions, claim.against) == ((), ())
    again = recheck_by_code(view, text_reader(sea.store.library, sea.reader)).with_opinions({})
    assert again.holds
    assert [claim.now for claim in again.claims] == [claim.before for claim in again.claims]
