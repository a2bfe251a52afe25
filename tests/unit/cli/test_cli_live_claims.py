"""The live view says how the claims of a report stand while it is written."""

from __future__ import annotations

from tests.support import logs

from assay.cli.live_frame import claim_counts, phase_activity
from assay.core import events as e
from assay.core.view import fold_events


def written(*events: e.Event) -> str:
    log = logs.dispatched(1)
    log.add("research", e.PhaseFinished(phase="research"))
    log.add("write", e.PhaseStarted(phase="write"))
    log.add("write", e.ReportStarted())
    log.add("write", e.ReportDelta(text="It rises. It turns. It"))
    for event in events:
        log.add("write", event)
    return str(phase_activity(fold_events(log.events)))


def found(number: int) -> e.ClaimFound:
    return e.ClaimFound(id=f"c{number}", text="It rises.", start=number, end=number + 1)


def test_before_a_claim_is_found_only_words_are_counted() -> None:
    assert written() == "writing the report: 5 words"
    assert claim_counts(fold_events(logs.dispatched(1).events)) == ""


def test_claims_are_counted_by_what_was_found_of_them() -> None:
    line = written(
        found(1),
        e.ClaimChecked(id="c1", rule="judge", verdict="supported"),
        found(2),
        e.ClaimChecked(id="c2", rule="number", verdict="contradicted"),
        found(3),
        e.ClaimChecked(id="c3", rule="lexical", verdict="unchecked"),
        found(4),
    )
    assert line == "writing the report: 5 words; 4 claims: 1 supported, 1 contradicted, 1 unchecked, 1 being checked"
    assert written(found(1)) == "writing the report: 5 words; 1 claim: 1 being checked"
