"""What models are told, read off the requests sent: who knows what, in which order, with which caps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from research import MISTRAL, REPORT, ROSE, TIDE, Log, Sea, both_agents, planned, report_wanted, sends
from stepwise import requests, two_steps

from assay.core.brief import ROLES
from assay.core.messages import Profile, Request, Task
from assay.models.script import Scene, Scripted, calls, says

INSTRUCTIONS = "Write for sailors, and leave the citations out."
EXPLORE = "go through every part of the question and every step of the plan"
REASONING = Profile(name="scripted", native_reasoning=True)


def orchestrated() -> list[Scene]:
    """Two agents, then a decision with what they found, then the report."""
    return [*planned(depth="medium"), sends(TIDE, MISTRAL), *both_agents(), report_wanted(), says(REPORT, task="write")]


async def played(strategy: str, profile: Profile | None = None, **changes: Any) -> Log:
    script = orchestrated() if strategy == "orchestrated" else two_steps()
    return await Sea().run(Scripted(script, profile=profile), strategy=strategy, **changes)


def rules(request: Request) -> dict[str, Any]:
    return msgspec.json.decode(request.values("rules")[-1], type=dict[str, Any])


def flat(text: str) -> str:
    return " ".join(text.split())


# who is told what


@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
async def test_user_instructions_reach_planner_orchestrator_and_writer_only(strategy: str) -> None:
    log = await played(strategy, instructions=INSTRUCTIONS)
    instructed = {request.task for request in log.model.requests if request.user_texts("instructions")}
    assert {"plan", "write"} <= instructed
    assert instructed & {"research", "find", "judge"} == set()
    assert ("orchestrate" in instructed) is (strategy == "orchestrated")
    for request in log.model.requests:
        if request.task in {"research", "find"}:
            assert not any(INSTRUCTIONS in message.text for message in request.messages), request.task
        assert INSTRUCTIONS not in request.system  # a user's words are never part of the rules


@pytest.mark.parametrize(("strategy", "tasks"), [("orchestrated", ["orchestrate", "write"]), ("reflective", ["write"])])
async def test_user_instructions_yield_to_the_rules_on_citations_and_safety(strategy: str, tasks: list[Task]) -> None:
    log = await played(strategy, instructions=INSTRUCTIONS)
    for task in tasks:
        assert "never overrule" in flat(requests(log.model, task)[-1].system), task


@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
async def test_the_date_is_known_to_all_who_plan_decide_research_and_write(strategy: str) -> None:
    log = await played(strategy)
    for request in log.model.requests:
        if request.task in {"plan", "orchestrate", "reflect", "write"}:
            assert rules(request)["date"] == "2026-01-01", request.task
        if request.task in {"research", "find"}:
            assert msgspec.json.decode(request.user_texts("brief")[0])["date"] == "2026-01-01", request.task


async def test_the_orchestrator_knows_its_cycle_and_how_many_there_are() -> None:
    log = await played("orchestrated")
    found = [rules(request) for request in requests(log.model, "orchestrate")]
    assert [(each["cycle"], each["cycles"], each["agents_at_once"]) for each in found] == [(1, 4, 3), (2, 4, 3)]


async def test_a_task_carries_its_context_in_a_brief_it_cannot_lose() -> None:
    log = await played("orchestrated", language="de")
    for request in [*requests(log.model, "research"), *requests(log.model, "find")]:
        brief = msgspec.json.decode(request.user_texts("brief")[0])
        assert brief["question"] == "How far does the tide rise at Brest?"
        assert brief["language"] == "de"
        assert brief["documents"].startswith("the default collection: 2 documents in scope.")
        assert request.messages[0].name == "brief"
        assert request.user_texts("task")[0] in (TIDE, MISTRAL)


async def test_agents_see_neither_the_plan_nor_each_other() -> None:
    log = await played("orchestrated")
    for request in [*requests(log.model, "research"), *requests(log.model, "find")]:
        assert request.user_texts("plan") == ()
        other = MISTRAL if TIDE in request.user_texts("task") else TIDE
        assert not any(other in message.text for message in request.messages)


async def test_the_writer_gets_the_plan_last() -> None:
    for strategy in ("orchestrated", "reflective"):
        log = await played(strategy)
        (request,) = requests(log.model, "write")
        assert request.messages[-1].name == "plan"
        assert "Do not copy their style" in flat(request.system)


async def test_everything_is_explored_once_before_the_second_decision() -> None:
    more = [sends("Find more of the tide", turn=1), *more_agent(), report_wanted(turn=2)]
    script = [*planned(depth="medium"), sends(TIDE, MISTRAL, turn=0), *both_agents(), *more]
    log = await Sea().run([*script, says(REPORT, task="write")])
    hints = [
        sum(EXPLORE in flat(message.text) for message in request.messages)
        for request in requests(log.model, "orchestrate")
    ]
    assert hints == [0, 1, 1]  # told once, and part of the history from then on


def more_agent() -> Iterator[Scene]:
    yield calls(("search", {"query": "tide"}), task="research", contains="Find more of the tide", turn=0)
    yield says("done", task="research", contains="Find more of the tide", turn=1)
    yield says(ROSE.replace("S1", "S3"), task="find", contains="Find more of the tide")


# what the prompts say


@pytest.mark.parametrize(
    ("task", "instruction"),
    [
        ("triage", "You never answer a research question yourself"),
        ("triage", "Call exactly one tool"),
        ("plan", "Plan whatever the feasibility"),
        ("plan", "Do not answer the question"),
        ("orchestrate", "you yourself neither search nor answer. You only call tools."),
        ("orchestrate", "a task carries all its context"),
        ("research", "You only call tools."),
        ("find", "You only call tools."),
        ("write", "put the ids of the passages it rests on"),
    ],
)
async def test_what_each_is_told_to_do(task: Task, instruction: str) -> None:
    log = await played("orchestrated")
    assert instruction in flat(requests(log.model, task)[0].system)


async def test_who_has_to_call_a_tool_is_made_to() -> None:
    log = await played("orchestrated")
    choices = {(request.task, request.tool_choice) for request in log.model.requests if request.task != "research"}
    assert {("background", "required"), ("orchestrate", "required"), ("plan", "none"), ("find", "none")} <= choices
    first = [request.tool_choice for request in requests(log.model, "research")]
    assert sorted(first) == ["auto", "auto", "required", "required"]  # its first turn searches, then it may stop
    triage = requests(log.model, "triage")[0]
    assert {tool.name for tool in triage.tools} >= {"answer", "generate_plan"}


async def test_the_orchestrator_is_given_no_tool_that_acts() -> None:
    log = await played("orchestrated")
    offered = {tool.name for request in requests(log.model, "orchestrate") for tool in request.tools}
    assert offered == {"research_agent", "generate_report", "think"}
    assert all(tool.control for request in requests(log.model, "orchestrate") for tool in request.tools)
    agents = {tool.name for request in requests(log.model, "research") for tool in request.tools}
    assert agents == {"search", "open", "recall", "calculate", "done", "think"}


async def test_a_model_that_reasons_by_itself_is_told_nothing_of_think() -> None:
    plain, reasoning = await played("orchestrated"), await played("orchestrated", REASONING)
    before, after = (requests(log.model, "orchestrate")[0] for log in (plain, reasoning))
    assert "think" in before.system
    assert before.system.startswith(after.system)
    assert "think" not in after.system
    assert {tool.name for tool in after.tools} == {"research_agent", "generate_report"}


# caps


async def test_output_caps_effort_and_patience() -> None:
    log = await played("orchestrated", Profile(name="scripted", max_output=64_000))
    found = {each.task: (each.max_tokens, each.effort, each.timeout, each.first_token) for each in log.model.requests}
    assert found["orchestrate"][0] == 1_024
    assert found["research"][:2] == (1_000, "low")
    assert found["find"][:3] == (10_000, "low", 300.0)
    assert (found["write"][0], found["write"][2]) == (20_000, 300.0)
    assert {found[task][2] for task in ("triage", "plan", "orchestrate", "research")} == {60.0}
    assert {each[3] for each in found.values()} == {60.0}


@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
async def test_no_cap_is_more_than_a_quarter_of_the_window(strategy: str) -> None:
    small = Profile(name="scripted", window=8_192, max_output=8_192)
    log = await played(strategy, small)
    assert max(request.max_tokens for request in log.model.requests) == 8_192 // 4


async def test_the_roles_ask_for_what_is_theirs() -> None:
    names = {role: f"the {role} one" for role in ROLES}
    whole = Scripted(orchestrated())

    def one(name: str) -> Scripted:
        return Scripted(whole._next_scene, profile=Profile(name=name))

    models = {role: one(name) for role, name in names.items()}
    sea = Sea()
    world = sea.world(whole)
    by_name = {model.profile.name: model for model in models.values()}
    sea.world = lambda model: msgspec.structs.replace(world, models=by_name)  # type: ignore[method-assign]
    handle = sea.start(whole, models={role: (name,) for role, name in names.items()})
    await handle.wait()
    asked = {role: {request.task for request in model.requests} for role, model in models.items()}
    assert asked["simple"] == {"triage", "background"}
    assert asked["analytical"] == {"plan", "orchestrate", "research", "find"}
    assert asked["complex"] == {"write"}
