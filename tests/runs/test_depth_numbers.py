"""Every number a depth decides is a setting: a run obeys it, and its brief keeps it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from judging import rules as ruled
from research import (
    MISTRAL,
    ONE_STEP,
    PLAN,
    ROSE,
    TIDE,
    Log,
    Sea,
    WordSearch,
    agent,
    both_agents,
    first_agent,
    planned,
    report_wanted,
    sends,
)
from simulated_time import in_simulated_time
from stepwise import TITLES, classic, decides, opening, requests, step, steps, tide, two_steps

from assay.core import events as e
from assay.core.brief import Brief, DepthRules, SetDepth
from assay.core.depths import ORCHESTRATED_DEPTHS, REFLECTIVE_DEPTHS, changed_depths
from assay.core.messages import Price, Profile, Request, Task
from assay.core.ports import Hit, Query
from assay.models.script import Scene, Scripted, calls, says
from assay.phases.without_plan import LATE
from assay.run.execution import LaneRecord
from assay.run.run import LANE_TAG

WRITTEN = says(ROSE, task="write")
CLEVER = Profile(name="clever", price=Price(input=0.0, output=0.0))
NOTHING = "Nothing about this was found."


class Hanging(WordSearch):
    """A search which does not answer in time."""

    async def search(self, query: Query) -> list[Hit]:
        await asyncio.sleep(30)
        return []


async def played(script: list[Scene] | Scripted, strategy: str = "orchestrated", /, **numbers: float) -> Log:
    """A run in which these numbers are set at every depth."""
    return await Sea().run(script, strategy=strategy, depths=everywhere(strategy, **numbers))


def everywhere(strategy: str = "orchestrated", /, **numbers: float) -> dict[SetDepth, DepthRules]:
    return changed_depths(strategy, dict.fromkeys(ORCHESTRATED_DEPTHS, numbers))


def rules_in(request: Request) -> dict[str, Any]:
    return msgspec.json.decode(request.values("rules")[-1], type=dict[str, Any])


def one_agent(*turns: Scene) -> list[Scene]:
    done = turns or tuple(first_agent()[:2])
    return [*planned(ONE_STEP), sends(TIDE), *done, says(ROSE, task="find"), report_wanted(), WRITTEN]


async def test_words() -> None:
    (request,) = requests((await played(one_agent(), words=120)).model, "write")
    assert "Write about 120 words." in request.user_texts("rules")[-1]
    (request,) = requests((await played(one_agent(), words=0)).model, "write")
    assert "words" not in request.user_texts("rules")[-1]


async def test_questions() -> None:
    script = [says("Which Brest?\nWhich tide?", task="triage"), *one_agent()[1:]]
    log = await played(script, questions=1)
    assert log.last(e.ClarifyRequested).questions == ("Which Brest?",)


@pytest.mark.parametrize("number", [0, 1, 2])
async def test_background_queries(number: int) -> None:
    triage, _, plan = planned(ONE_STEP)
    wanted = [("search", {"query": word}) for word in ("tide", "Brest", "moon")]
    looking = [calls(*wanted, task="background")] if number else []
    log = await played([triage, *looking, plan, *one_agent()[3:]], background_queries=number)
    asked = [path for path in log.paths(e.ToolStarted) if path[0] == "background"]
    assert len(asked) == number


async def test_max_steps() -> None:
    log = await played([*planned(PLAN), *one_agent()[3:]], max_steps=1)
    assert len(log.last(e.PlanProposed).plan.steps) == 1


async def test_min_steps() -> None:
    script = [*opening(steps(*TITLES[:2])), *tide(), decides("complete"), *step(TITLES[1])]
    script += [decides("continue"), WRITTEN]
    log = await played(script, "reflective", min_steps=2)
    assert "at least 2 steps" in log.of(e.ReflectDecided)[0].note


async def test_plans() -> None:
    script = [*opening(steps(*TITLES[:2])), *tide(), decides("adjust"), *step(TITLES[1]), WRITTEN]
    log = await played(script, "reflective", plans=1)
    assert log.of(e.ReflectDecided)[0].note == "there are at most 1 plans"


async def test_cycles() -> None:
    script = [*planned(ONE_STEP), sends(TIDE), *first_agent(), WRITTEN]
    log = await played(script, cycles=1)
    assert [rules_in(each)["cycles"] for each in requests(log.model, "orchestrate")] == [1]


async def test_reasoning_cycles() -> None:
    model = Scripted(one_agent(), profile=Profile(name="scripted", native_reasoning=True))
    log = await played(model, cycles=9, reasoning_cycles=6)
    assert rules_in(requests(log.model, "orchestrate")[0])["cycles"] == 6


async def test_agents_a_cycle() -> None:
    script = [*planned(), sends(TIDE, MISTRAL, turn=0), *first_agent(), sends(MISTRAL, turn=1)]
    script += [*agent(MISTRAL, "mistral", "The mistral blows from the north-west. [S2001.1]"), WRITTEN]
    log = await played(script, agents_a_cycle=1, cycles=2)
    assert [len(each.lanes) for each in log.of(e.AgentsPlanned)] == [1, 1]
    refused = [each.text for each in requests(log.model, "orchestrate")[1].messages if each.role == "tool"]
    assert "not sent: at most 1 agents at a time; call again after these" in refused


async def test_agents_at_once() -> None:
    log = await played([*planned(), sends(TIDE, MISTRAL), *both_agents(), report_wanted(), WRITTEN], agents_at_once=1)
    kinds = log.types("agent")
    assert kinds == ["agent.started", "agent.finished"] * 2
    assert rules_in(requests(log.model, "orchestrate")[0])["agents_at_once"] == 1


async def test_agent_turns() -> None:
    log = await played(one_agent(first_agent()[0]), agent_turns=1)
    assert log.last(e.AgentFinished).turns == 1
    assert len(requests(log.model, "research")) == 1


async def test_calls() -> None:
    search = calls(("search", {"query": "tide"}), ("search", {"query": "moon"}), task="research", turn=0)
    log = await played(one_agent(search), calls=1)
    (findings,) = requests(log.model, "find")
    answers = [message.text for message in findings.messages if message.role == "tool"]
    assert answers[1:] == ["Not carried out: the calls of this task are used up."]


async def test_queries_and_pages() -> None:
    wanted = ("tide Brest", "mistral", "moon")
    script = [*opening(steps(TITLES[0]), depth="light"), *classic(TITLES[0], wanted, "It rises. [S1001.1]")]
    log = await played([*script, decides("complete"), WRITTEN], "reflective", queries=3, pages=1)
    tools = [event.tool for event in log.of(e.ToolStarted) if event.call != "background"]
    assert tools.count("open") == 1
    (request,) = requests(log.model, "research")
    assert request.user_texts("rules") == ("Word 3 queries.",)


async def test_queries_and_pages_of_a_web_search() -> None:
    wanted = [("search", {"query": word}) for word in ("tide", "mistral", "moon")]
    script = [calls(*wanted, task="background"), says(ROSE.replace("S1001", "S1"), task="answer")]
    log = await Sea().run(script, mode="web_search", depths=everywhere(queries=1, pages=1))
    assert [event.tool for event in log.of(e.ToolStarted)] == ["search", "open"]
    assert requests(log.model, "background")[0].user_texts("rules") == ("Word at most 1 query.",)


async def test_thoughts() -> None:
    log = await played(one_agent(), thoughts=0)
    assert not any(tool.name == "think" for request in log.model.requests for tool in request.tools)


async def test_recalls() -> None:
    searched = calls(("search", {"query": "tide moon Brest"}), task="research", turn=0)
    for number in (0, 2):
        script = one_agent(searched, says("done", task="research", turn=1))
        (request,) = requests((await played(script, recalls=number)).model, "write")
        assert rules_in(request)["recalls"] == number
        assert bool(request.tools) is bool(number)


@pytest.mark.parametrize(
    ("numbers", "reports", "stops"),
    [
        ({"agent_share": 0.5, "stop_share": 1.0}, 300.0, 600.0),
        ({"agent_seconds": 30.0, "stop_seconds": 60.0}, 30.0, 60.0),
    ],
)
@in_simulated_time
async def test_the_times_of_agents(numbers: dict[str, float], reports: float, stops: float) -> None:
    sea = Sea()
    log = await sea.run(one_agent(), depths=everywhere(seconds=800.0, **numbers))
    memory = await sea.journal.load(log.envelopes[0].run_id)
    (lane,) = (
        msgspec.json.decode(each.data, type=LaneRecord) for each in memory.steps.values() if each.tag == LANE_TAG
    )
    assert lane.work_until == pytest.approx(reports, abs=0.1)
    assert lane.report_until == pytest.approx(stops, abs=0.1)


async def test_seconds() -> None:
    log = await played([], seconds=1e-9)
    assert log.last(e.RunCompleted).stop_reason == "time"


@pytest.mark.parametrize(
    ("number", "strategy", "tasks"),
    [
        ("decision_tokens", "orchestrated", ("triage", "orchestrate")),
        ("decision_tokens", "reflective", ("triage", "reflect")),
        ("plan_tokens", "orchestrated", ("plan",)),
        ("turn_tokens", "orchestrated", ("research",)),
        ("findings_tokens", "orchestrated", ("find",)),
        ("report_tokens", "orchestrated", ("write",)),
    ],
)
async def test_output_caps(number: str, strategy: str, tasks: tuple[Task, ...]) -> None:
    script = one_agent() if strategy == "orchestrated" else two_steps()
    log = await played(script, strategy, **{number: 777})
    capped = {request.task for request in log.model.requests if request.max_tokens == 777}
    assert capped == set(tasks)


async def test_the_cap_of_an_answer_and_of_an_analysis() -> None:
    script = [says("Seven metres.", task="answer")]
    log = await Sea().run(script, mode="simple", depths=everywhere(answer_tokens=777))
    assert requests(log.model, "answer")[0].max_tokens == 777
    plan = json.dumps({"title": "Brest", "steps": [{"title": TITLES[0]}, {"title": "Compare", "type": "analysis"}]})
    script = [*opening(plan), *tide(), decides("continue"), says(ROSE, task="analyze"), decides("continue"), WRITTEN]
    log = await played(script, "reflective", analysis_tokens=777)
    assert requests(log.model, "analyze")[0].max_tokens == 777


async def test_the_cap_of_queries() -> None:
    looking = calls(("search", {"query": "tide"}), task="background")
    triage, _, plan = planned(ONE_STEP)
    log = await played([triage, looking, plan, *one_agent()[3:]], query_tokens=777)
    assert requests(log.model, "background")[0].max_tokens == 777
    script = [*opening(steps(TITLES[0]), depth="light"), *classic(TITLES[0], ("tide",), "It rises. [S1001.1]")]
    log = await played([*script, decides("complete"), WRITTEN], "reflective", query_tokens=777)
    assert requests(log.model, "research")[0].max_tokens == 777


async def test_the_caps_of_a_survey() -> None:
    triage = calls(("generate_plan", {"complexity": "simple", "whole_collection": True}), task="triage")
    way = calls(("read_documents", {"look_for": "numbers"}), task="survey")
    found = calls(("report_rows", {"rows": [{"text": "7 metres", "passages": ["S1001.1"]}]}), task="survey")
    log = await Sea().run([triage, way, found], depths=everywhere(decision_tokens=777, row_tokens=888))
    assert [each.max_tokens for each in requests(log.model, "survey")] == [777, 888]


async def test_the_cap_of_fields() -> None:
    schema = json.dumps({"type": "object", "properties": {"rise": {"type": "integer"}}})
    rise = {"value": 7, "passages": ["S1001.1"], "reason": ""}
    filled = calls(("fill_fields", {"subject": "the tide at Brest", "fields": {"rise": rise}}), task="fill")
    log = await Sea().run([*one_agent()[:-1], filled], schema=schema, depths=everywhere(field_tokens=777))
    assert requests(log.model, "fill")[0].max_tokens == 777


async def test_the_caps_of_a_verdict_and_of_a_revision() -> None:
    denied = msgspec.structs.replace(ruled("unsupported", "it does not say so"), repeat=True)
    written = says("The moon makes many ships at Brest wait for the 7 metres of the tide. [S1001.1]", task="write")
    script = [*one_agent()[:-1], written, denied, says("NOTHING", task="revise", repeat=True)]
    log = await played(Scripted(script, profile=CLEVER), verdict_tokens=777, revision_tokens=888)
    assert {each.max_tokens for each in requests(log.model, "judge")} == {777}
    assert {each.max_tokens for each in requests(log.model, "revise")} == {888}


@in_simulated_time
async def test_look_seconds() -> None:
    sea = Sea()
    sea.search = Hanging(sea.store.library, sea.reader)
    script = [calls(("search", {"query": "tide"}), task="background"), says("Seven metres.", task="answer")]
    log = await sea.run(script, mode="web_search", depths=everywhere(look_seconds=0.1))
    assert log.last(e.ReportFinished).limits == (LATE.format(seconds=0),)


# what is set, and when


def test_every_number_can_be_set_and_has_a_test_here() -> None:
    named = set(ORCHESTRATED_DEPTHS["light"].__struct_fields__)
    assert named == set(REFLECTIVE_DEPTHS["light"].__struct_fields__)
    text = Path(__file__).read_text(encoding="utf-8")
    assert {name for name in named if name not in text} == set()


async def test_a_brief_without_numbers_goes_by_the_defaults() -> None:
    old = msgspec.to_builtins(Brief(question="?", date="2026-01-01"))
    del old["depths"]
    brief = msgspec.convert(old, Brief)
    assert brief.rules("medium") == ORCHESTRATED_DEPTHS["medium"]
    assert brief.rules("extended", reasoning=True).cycles == 4


async def test_a_started_run_keeps_its_numbers() -> None:
    depths = changed_depths("orchestrated", {"light": {"words": 77}})
    sea = Sea()
    log = await sea.run(one_agent(), depths=depths)
    stored = (await sea.journal.load(log.envelopes[0].run_id)).brief
    assert msgspec.json.decode(stored, type=Brief).rules("light").words == 77
