"""Whole runs whose coverage a model judges: "answered" says that findings answer, not that they cite something."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from research import BLEW, MISTRAL, ROSE, TIDE, Log, Sea, agent, both_agents, planned, report_wanted, sends
from sampling import crossed
from stepwise import TITLES, decides, opening, requests, step, steps

from assay.core import events as e
from assay.core.plan import Coverage, Plan
from assay.models.extractive import Extractive
from assay.models.script import Scene, fails, says

STRATEGIES = ["orchestrated", "reflective"]
SILENT = "The documents do not state where the mistral blows from. [S2001.1]"
WRITTEN = "It rises seven metres. [S1001.1]"


def parts(*judged: tuple[int, str, str]) -> str:
    """A model's judgement of parts."""
    return json.dumps({"parts": [{"part": n, "status": status, "reason": why} for n, status, why in judged]})


def two_steps(strategy: str, second: str = SILENT, *, coverage: list[dict[str, Any]] | None = None) -> list[Scene]:
    """A run of two steps: what the second finds is given; the reflector judges the parts as `coverage` says."""
    if strategy == "orchestrated":
        agents = [*agent(TIDE, "tide Brest", ROSE), *agent(MISTRAL, "mistral", second)]
        return [*planned(), sends(TIDE, MISTRAL), *agents, report_wanted()]
    last = says(json.dumps({"decision": "continue", "coverage": coverage or []}), task="reflect")
    first = [*opening(steps(*TITLES[:2])), *step(TITLES[0], ROSE), decides("continue")]
    return [*first, *step(TITLES[1], second, "mistral"), last]


async def covered(script: list[Scene], strategy: str, text: str = WRITTEN, **changes: Any) -> Log:
    return await Sea().run([*script, says(text, task="write")], strategy=strategy, assess=True, **changes)


def before(log: Log) -> list[Coverage]:
    return list(next(event for event in log.of(e.CoverageAssessed) if event.when == "before").coverage)


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_finding_which_says_that_nothing_is_stated_leaves_its_step_open(strategy: str) -> None:
    """It cites a passage, its agent came to its end, and the model which judges fails: code judges."""
    broken = Scene(answer=fails("no quota", transient=False).answer, task="assess")
    log = await covered([*two_steps(strategy), broken], strategy)
    assert [each.status for each in before(log)] == ["partly", "answered", "not"]
    assert any("was judged by code: " in event.message for event in log.of(e.Warned))
    assert [each.status for each in log.last(e.PlanChanged).plan.steps] == ["completed", "open"]
    assert log.text.endswith(f"## What could not be found\n\n- {before(log)[2].part}")


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_what_a_model_judges_is_what_is_told(strategy: str) -> None:
    found = [{"part": 1, "status": "answered"}, {"part": 2, "status": "not", "reason": "No document says where from."}]
    script = two_steps(strategy, BLEW, coverage=found)
    if strategy == "orchestrated":
        script.append(says(json.dumps({"parts": found}), task="assess"))
    log = await covered(script, strategy)
    assert [each.status for each in before(log)] == ["partly", "answered", "not"]
    assert before(log)[2].reason == "No document says where from."
    assert log.text.endswith(f"- {before(log)[2].part}: No document says where from.")
    assert len(requests(log.model, "assess")) == (strategy == "orchestrated")
    (message,) = [request.user_texts("coverage")[0] for request in requests(log.model, "write")]
    assert [each["status"] for each in json.loads(message)] == ["partly", "answered", "not"]


async def test_the_reflector_is_not_asked_again_where_nothing_was_found_since() -> None:
    found = [{"part": 1, "status": "answered"}, {"part": 2, "status": "answered"}]
    log = await covered(two_steps("reflective", BLEW, coverage=found), "reflective")
    assert [each.status for each in before(log)] == ["answered"] * 3
    assert requests(log.model, "assess") == []
    (first, second) = requests(log.model, "reflect")
    assert [each["step"] for each in json.loads(second.user_texts("parts")[0])] == [1, 2]
    assert first.user_texts("parts")


@pytest.mark.parametrize(("status", "grade"), [("answered", "answers"), ("partly", "related")])
async def test_a_claim_in_other_words_answers_if_its_passage_does(status: str, grade: str) -> None:
    """The words of the claim only relate to the question; a model has judged what its passage answers."""
    report = "At Brest the sea comes up by that much. [S1001.1]"
    judged = says(parts((1, status, ""), (2, status, "")), task="assess")
    log = await covered([*two_steps("orchestrated", BLEW), judged], "orchestrated", report)
    (relevance,) = log.last(e.ClaimsGraded).relevance.values()
    assert relevance == grade


async def test_what_code_judged_makes_no_claim_an_answer() -> None:
    report = "At Brest the sea comes up by that much. [S1001.1]"
    failing = Scene(answer=fails("no quota", transient=False).answer, task="assess")
    log = await covered([*two_steps("orchestrated", BLEW), failing], "orchestrated", report)
    assert [each.status for each in before(log)] == ["answered"] * 3
    assert list(log.last(e.ClaimsGraded).relevance.values()) == ["related"]


UNREADABLE = ["I think so.", "", '{"parts": [{"part": 9, "status": "answered"}]}', '{"parts": 3}']


@pytest.mark.parametrize(("reply", "strategy"), crossed(UNREADABLE, STRATEGIES))
async def test_an_unreadable_judgement_is_warned_of_and_code_judges(strategy: str, reply: str) -> None:
    log = await covered([*two_steps(strategy, BLEW), says(reply, task="assess")], strategy)
    assert [each.status for each in before(log)] == ["answered"] * 3
    assert any("judged by code" in event.message for event in log.of(e.Warned))


async def test_where_nothing_was_found_nobody_is_asked() -> None:
    nothing = "Nothing about this was found."
    script = [*planned(), sends(TIDE, MISTRAL), *agent(TIDE, "volcano", nothing), *agent(MISTRAL, "lava", nothing)]
    log = await Sea().run([*script, report_wanted()], assess=True)
    assert requests(log.model, "assess") == []
    assert [each.status for each in before(log)] == ["not"] * 3


async def test_an_agent_cut_short_never_completes_its_step() -> None:
    """Even where the model which judges thinks that what it found is the answer."""
    broken = fails("no quota", transient=False, task="find", contains=MISTRAL)
    script = [
        *planned(),
        sends(TIDE, MISTRAL),
        *agent(TIDE, "tide Brest", ROSE),
        *agent(MISTRAL, "mistral", BLEW)[:2],
        broken,
        report_wanted(),
        says(parts((1, "answered", ""), (2, "answered", "")), task="assess"),
    ]
    log = await covered(script, "orchestrated")
    assert [each.status for each in before(log)] == ["partly", "answered", "partly"]


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_brief_of_an_earlier_release_has_nobody_judge(strategy: str) -> None:
    script = [*two_steps(strategy, BLEW), says(WRITTEN, task="write")]
    log = await Sea().run(script, strategy=strategy)
    assert requests(log.model, "assess") == []
    assert all(not request.user_texts("parts") for request in log.model.requests)


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_the_built_in_model_judges_too(strategy: str) -> None:
    handle = Sea().start(
        Extractive("scripted"),  # type: ignore[arg-type]
        strategy=strategy,
        question="How far does the tide rise at Brest? Why do volcanoes erupt?",
        assess=True,
    )
    log = Log([envelope async for envelope in handle], None)  # type: ignore[arg-type]
    await handle.wait()
    known = {each.part: each.status for each in before(log)}
    assert known["How far does the tide rise at Brest?"] == "answered"
    assert known["Why do volcanoes erupt?"] != "answered"
    assert "volcanoes" in log.text.partition("What could not be found")[2]


# the plan they see


def plans(log: Log, task: str) -> list[list[tuple[int, str]]]:
    """The status of each step in the plan which each request of a task holds."""
    held = [request.user_texts("plan") for request in requests(log.model, task)]
    made = [msgspec.json.decode(texts[-1], type=Plan) for texts in held if texts]
    return [[(each.id, each.status) for each in plan.steps] for plan in made]


async def test_the_orchestrator_sees_the_plan_as_it_stands() -> None:
    script = [
        *planned(depth="medium"),
        sends(TIDE),
        *agent(TIDE, "tide Brest", ROSE),
        sends(MISTRAL),
        *agent(MISTRAL, "mistral", SILENT),
        report_wanted(),
        says(parts((1, "answered", ""), (2, "not", "It is not said.")), task="assess"),
    ]
    log = await covered(script, "orchestrated")
    assert plans(log, "orchestrate") == [
        [(1, "pending"), (2, "pending")],
        [(1, "completed"), (2, "pending")],
        [(1, "completed"), (2, "open")],
    ]
    assert all(len(request.user_texts("plan")) == 1 for request in requests(log.model, "orchestrate"))


async def test_reflector_and_planner_see_the_plan_as_it_stands() -> None:
    again = says(json.dumps({"title": "x", "steps": [{"title": "Winds again", "again": 2}]}), task="plan")
    script = [
        *opening(steps(*TITLES[:2])),
        *step(TITLES[0], ROSE),
        decides("continue"),
        *step(TITLES[1], SILENT, "mistral"),
        decides("adjust", "Not said.", "other words"),
        again,
        *step("Winds again", "The mistral blows from the north-west. [S3001.1]", "mistral"),
        says(json.dumps({"decision": "complete", "coverage": [{"part": 1, "status": "answered"}]}), task="reflect"),
    ]
    log = await covered(script, "reflective")
    assert plans(log, "reflect")[:2] == [[(1, "completed"), (2, "pending")], [(1, "completed"), (2, "open")]]
    assert plans(log, "plan") == [[(1, "completed"), (2, "open")]]
    assert [each.status for each in before(log)] == ["answered"] * 3


async def test_agents_of_both_steps_complete_them() -> None:
    judged = says(parts((1, "answered", ""), (2, "answered", "")), task="assess")
    script = [*planned(), sends(TIDE, MISTRAL), *both_agents(), report_wanted(), judged]
    log = await covered(script, "orchestrated")
    assert [each.status for each in log.last(e.PlanChanged).plan.steps] == ["completed", "completed"]
    assert "What could not be found" not in log.text


# what could not be found


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_section_of_the_writers_which_contradicts_coverage_is_taken_out(strategy: str) -> None:
    found = [{"part": 1, "status": "answered"}, {"part": 2, "status": "answered"}]
    judged = [says(json.dumps({"parts": found}), task="assess")] if strategy == "orchestrated" else []
    text = f"{WRITTEN}\n\n## What could not be found\n\n- Where the winds of the mistral blow from."
    log = await covered([*two_steps(strategy, BLEW, coverage=found), *judged], strategy, text)
    assert "could not be found" not in log.text
    assert "mistral" not in log.text


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_section_of_the_writers_keeps_what_is_true_and_gets_what_it_lacks(strategy: str) -> None:
    found = [{"part": 1, "status": "answered"}, {"part": 2, "status": "not"}]
    judged = [says(json.dumps({"parts": found}), task="assess")] if strategy == "orchestrated" else []
    text = f"{WRITTEN}\n\n## What could not be found\n\n- The tide at Brest.\n- The name of the harbour master."
    log = await covered([*two_steps(strategy, coverage=found), *judged], strategy, text)
    section = log.text.partition("## What could not be found")[2]
    assert section.split("\n- ")[1:] == ["The name of the harbour master.", before(log)[2].part]
