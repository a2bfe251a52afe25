"""One run in which models do everything wrong they can, and which ends with a verified report all the same."""

from __future__ import annotations

import pytest
from misbehaving import Wild, script, spare
from research import Log, whole
from stepwise import requests

from assay.core import events as e
from assay.core.brief import ROLES
from assay.core.claims import HOLDING
from assay.core.messages import Request
from assay.core.view import fold_events

STRATEGIES = ["orchestrated", "reflective"]
MODELS = dict.fromkeys(ROLES, ("scripted", "spare"))


PLAYED: dict[str, Log] = {}


async def once(strategy: str) -> Log:
    """The run, which all tests look at."""
    if strategy not in PLAYED:
        PLAYED[strategy] = await played(strategy)
    return PLAYED[strategy]


async def played(strategy: str) -> Log:
    second = spare()
    log = await Wild(second).run(script(strategy), strategy=strategy, models=MODELS)
    assert not second.unused
    return log


def pairs(request: Request) -> list[tuple[str, str]]:
    """The calls of a request's history and their answers, in order."""
    wanted = [call.id for message in request.messages for call in message.calls]
    answers = [message.call_id for message in request.messages if message.role == "tool"]
    assert len(wanted) == len(answers)
    return list(zip(wanted, answers, strict=True))


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_it_ends_with_a_verified_report(strategy: str) -> None:
    log = await once(strategy)
    assert whole(log)
    ended = log.last(e.RunCompleted)
    assert (ended.stop_reason, ended.verified) == ("done", True)
    assert log.text.startswith("The tide at Brest rises seven metres.")
    assert "Genoa" not in log.text  # what streams said before they were cut is taken back
    view = fold_events(log.envelopes)
    assert "Genoa" not in view.report.text
    verdicts = {claim.text.partition(" [")[0]: claim.verdict for claim in view.claims}
    assert verdicts["The tide at Brest rises seven metres."] == "quoted"
    assert verdicts["The mistral blows from the north-west."] == "quoted"
    assert verdicts["The moon causes most of it."] == "quoted"
    assert verdicts.get("Everybody knows it.", "unchecked") not in HOLDING
    assert log.last(e.VerifySummary).summary.dropped_markers == 1
    assert [gone.text for gone in view.removed] == ["Everybody knows it."]  # with the other marker of nothing


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_every_finding_is_kept_and_no_citation_is_invented(strategy: str) -> None:
    log = await once(strategy)
    found = {event.lane: (event.text, event.dropped_markers) for event in log.of(e.FindingAdded)}
    assert found == {
        1: ("The tide at Brest rises seven metres. [S1001.1] Everybody knows it.", 2),
        2: ("The mistral blows from the north-west. [S2001.1]", 0),
        4: ("The moon causes most of it. [S4001.2]", 0),
    }
    assert [(event.lane, "declined" in event.error or "refus" in event.error) for event in log.of(e.AgentFailed)] == [
        (3, True)
    ]
    assert {step.status for step in log.last(e.PlanChanged).plan.steps} == {"completed"}
    assert any("An agent failed" in limit for limit in log.last(e.ReportFinished).limits)


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_every_call_is_answered_once_and_a_dead_document_is_said(strategy: str) -> None:
    log = await once(strategy)
    for request in log.model.requests:
        for call, answer in pairs(request):
            assert call == answer
        ids = [call for call, _ in pairs(request)]
        assert all(ids)
        for message in request.messages:
            assert len({call.id for call in message.calls}) == len(message.calls)
    failed = log.last(e.SourceFailed)
    assert failed.url == "file:///dead.md"
    finding = [message for request in requests(log.model, "find") for message in request.messages]
    answers = [message.text for message in finding if message.role == "tool"]
    assert any("Dead could not be read." in text for text in answers)


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_what_went_wrong_is_told_to_who_did_it(strategy: str) -> None:
    log = await once(strategy)
    notes = [text for request in log.model.requests for text in request.user_texts("note")]
    assert any("could not be read as a plan" in note for note in notes)
    assert any("Call a tool" in note for note in notes)
    assert any("cut off because it was too long" in note for note in notes)
    again = [text for request in requests(log.model, "find") for text in request.user_texts("report_findings")]
    assert any("it repeated itself" in text for text in again)
    assert any("it was empty" in text for text in again)
    outcomes = [event.outcome for event in log.of(e.ModelAttempted)]
    assert outcomes.count("overloaded") == (2 if strategy == "orchestrated" else 1)
    assert outcomes.count("cut") == 2


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_the_same_comes_out_again(strategy: str) -> None:
    first, second = await once(strategy), await played(strategy)
    assert first.text == second.text
    assert [event.text for event in first.of(e.FindingAdded)] == [event.text for event in second.of(e.FindingAdded)]
