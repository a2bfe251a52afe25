"""What triage assumes where nobody can be asked: it keeps its classification, and everybody is told."""

from __future__ import annotations

from research import ONE_STEP, ROSE, TIDE, Log, Sea, agent, report_wanted, sends
from stepwise import requests

from assay.core import events as e
from assay.core.messages import Request
from assay.models.script import calls, says

BRITTANY = "Brest means the port in Brittany."


async def played(**changes: object) -> Log:
    arguments = {"complexity": "simple", "reasoning": "One figure of one port.", "assumptions": [BRITTANY]}
    script = [
        calls(("generate_plan", arguments), task="triage"),
        calls(("search", {"query": "tide Brest"}), task="background"),
        says(ONE_STEP, task="plan"),
        sends(TIDE),
        *agent(TIDE, "tide Brest", ROSE),
        report_wanted(),
        says(ROSE, task="write"),
    ]
    return await Sea().run(script, **changes)


def holds_answer(request: Request) -> bool:
    return any(BRITTANY in message.text for message in request.messages)


async def test_what_triage_assumes_reaches_everybody_who_works_on_it_and_the_report() -> None:
    log = await played()
    for task in ("plan", "orchestrate", "research", "find", "write"):
        assert all(holds_answer(request) for request in requests(log.model, task)), task
    assert f"Assumed: {BRITTANY}" in log.last(e.ReportFinished).limits


async def test_the_classification_is_kept_with_its_reasoning() -> None:
    triage = (await played()).last(e.TriageClassified).triage
    assert (triage.complexity, triage.reasoning) == ("simple", "One figure of one port.")
    assert triage.assumptions == (BRITTANY,)
    assert triage.questions == ()


async def test_triage_is_told_the_date_and_whether_anybody_can_be_asked() -> None:
    nobody = requests((await played()).model, "triage")[0]
    assert nobody.user_texts("rules") == ("Today is 2026-01-01. Nobody can be asked.",)
    somebody = requests((await played(ask="optional")).model, "triage")[0]
    assert somebody.user_texts("rules") == ("Today is 2026-01-01. You may ask the user at most 3 questions.",)


async def test_reasons_are_required_of_a_model() -> None:
    request = requests((await played()).model, "triage")[0]
    (tool,) = [tool for tool in request.tools if tool.name == "generate_plan"]
    assert tool.parameters["required"] == ["reasoning"]
