"""The rules of the orchestrated strategy, and of triage before it, by the events and the requests of whole runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import msgspec
import pytest
from research import (
    MISTRAL,
    ONE_STEP,
    ROSE,
    TIDE,
    Log,
    Sea,
    agent,
    both_agents,
    call,
    first_agent,
    one_agent,
    planned,
    report_wanted,
    sends,
    whole,
)
from simulated_time import in_simulated_time
from stepwise import requests

from assay.core import events as e
from assay.core.depths import ORCHESTRATED_DEPTHS, REFLECTIVE_DEPTHS, depths_of, rules_for_reasoning
from assay.core.errors import NothingSearched
from assay.core.messages import CallDone, Delta, Profile, Reply, Request
from assay.core.usage import Budget
from assay.models.script import Scene, Scripted, calls, fails, says
from assay.run.budget import LANE_TAG, LaneRecord

WRITTEN = says(ROSE, task="write")
THINK = ("think", {"reasoning": "The tide first."})


async def run_of(script: list[Scene] | Scripted, **changes: object) -> Log:
    log = await Sea().run(script, **changes)
    assert whole(log)
    return log


def answered_once(request: Request) -> bool:
    """Whether each call in a history has exactly one answer, right after it and in call order."""
    wanted = [call.id for message in request.messages for call in message.calls]
    answers = [message.call_id for message in request.messages if message.role == "tool"]
    return wanted == answers and len(set(wanted)) >= max(
        (len(message.calls) for message in request.messages), default=0
    )


# depths


def test_the_numbers_of_the_depths() -> None:
    assert {
        depth: (each.seconds, each.min_steps, each.max_steps, each.cycles, each.agents_at_once, each.agent_turns)
        for depth, each in ORCHESTRATED_DEPTHS.items()
    } == {"light": (120, 1, 3, 2, 2, 3), "medium": (600, 3, 6, 4, 3, 6), "extended": (1800, 5, 6, 8, 3, 8)}
    assert {
        depth: (each.seconds, each.min_steps, each.max_steps, each.queries, each.pages, each.calls)
        for depth, each in REFLECTIVE_DEPTHS.items()
    } == {"light": (120, 1, 3, 2, 3, 0), "medium": (600, 3, 6, 0, 0, 12), "extended": (1800, 5, 10, 0, 0, 40)}


@pytest.mark.parametrize(("strategy", "cycles"), [("orchestrated", (2, 4, 4)), ("reflective", (4, 7, 11))])
def test_a_model_that_reasons_by_itself_decides_less_often(strategy: str, cycles: tuple[int, ...]) -> None:
    assert tuple(rules_for_reasoning(rules).cycles for rules in depths_of(strategy).values()) == cycles


@pytest.mark.parametrize(
    ("complexity", "depth", "cycles"), [("simple", "light", 2), ("moderate", "medium", 4), ("complex", "extended", 8)]
)
async def test_auto_depth_follows_complexity_and_sets_the_cycles(complexity: str, depth: str, cycles: int) -> None:
    triage, background, plan = planned(ONE_STEP, complexity=complexity)
    more = [sends(f"{TIDE}, try {turn}", turn=turn) for turn in range(cycles)]
    found = [says("done", task="research", repeat=True), says(ROSE, task="find", repeat=True)]
    search = calls(("search", {"query": "tide"}), task="research", turn=0, repeat=True)
    log = await run_of([triage, background, plan, *more, search, *found, WRITTEN])
    assert log.last(e.TriageClassified).depth == depth
    assert [event.cycle for event in log.of(e.AgentsPlanned)] == list(range(1, cycles + 1))
    assert len(requests(log.model, "orchestrate")) == cycles  # after the last cycle it is not asked


# deciding


async def test_thinking_has_a_limit_of_its_own() -> None:
    script = [*planned(ONE_STEP), *(calls(THINK, task="orchestrate", turn=turn) for turn in range(4))]
    log = await run_of([*script, sends(TIDE, turn=4), *first_agent(), report_wanted(turn=5), WRITTEN])
    offered = [{tool.name for tool in request.tools} for request in requests(log.model, "orchestrate")]
    assert [("think" in names) for names in offered] == [True, True, True, False, False, True]
    assert [event.cycle for event in log.of(e.AgentsPlanned)] == [1]


async def test_who_decides_without_a_thought_is_told_to_think_first() -> None:
    def rules_of(log: Log) -> list[str]:
        return [each.user_texts("rules")[-1] for each in requests(log.model, "orchestrate")]

    first = [*planned(ONE_STEP), sends(TIDE), *first_agent()]
    found = rules_of(await run_of([*first, report_wanted(), WRITTEN]))
    assert ["decided without `think`" in each for each in found] == [False, True]
    thought = [*planned(ONE_STEP), calls(THINK, task="orchestrate", turn=0), sends(TIDE, turn=1), *first_agent()]
    found = rules_of(await run_of([*thought, report_wanted(turn=2), WRITTEN]))
    assert not any("decided without `think`" in each for each in found)
    model = Scripted([*first, report_wanted(), WRITTEN], profile=Profile(name="scripted", native_reasoning=True))
    assert not any("decided without `think`" in each for each in rules_of(await run_of(model)))


async def test_an_orchestrator_which_calls_nothing_is_named() -> None:
    script = [*planned(ONE_STEP), says("I would search for it.", task="orchestrate", repeat=True)]
    log = await run_of([*script, *agent("Tide at Brest", "tide Brest", ROSE), WRITTEN])
    assert [(event.task, event.lane) for event in log.of(e.ToolsIgnored)] == [("orchestrate", 0)]


async def test_who_only_thinks_is_not_asked_for_ever() -> None:
    script = [*planned(ONE_STEP), calls(THINK, task="orchestrate", repeat=True)]
    log = await run_of([*script, *agent("Tide at Brest", "tide Brest", ROSE), WRITTEN])
    assert len(requests(log.model, "orchestrate")) <= 6
    assert len(log.of(e.FindingAdded)) == 1  # coverage sends an agent for the step nobody took up


async def test_several_kinds_of_call_in_one_turn_are_all_heeded_and_answered() -> None:
    mixed = Reply(
        calls=(
            call("think", id="a", reasoning="The tide first."),
            call("research_agent", id="", task=TIDE),
            call("generate_report", id="a"),
            call("search", id="b", query="tide"),
            call("research_agent", id="b", task=MISTRAL),
            call("research_agent", id="c", task="  "),
            msgspec.structs.replace(call("research_agent", id="d"), malformed='{"task": "Find'),
        ),
        stop="calls",
    )
    script = [*planned(), Scene(answer=mixed, task="orchestrate", turn=0), *both_agents(), report_wanted(turn=1)]
    log = await run_of([*script, WRITTEN])
    assert log.of(e.AgentsPlanned)[-1].lanes == (1, 2)
    assert [event.text for event in log.of(e.ThinkFinished)] == ["The tide first."]
    last = requests(log.model, "orchestrate")[-1]
    assert answered_once(last)
    answers = [message.text for message in last.messages if message.role == "tool"]
    assert answers[0] == "Noted."
    assert answers[1].startswith("Agent 1 found:")
    assert answers[2].startswith("The agents were sent first.")
    assert answers[3].startswith("There is no tool 'search'")
    assert answers[4].startswith("Agent 2 found:")
    assert answers[5:] == ["not sent: the task is empty", "not sent: the arguments are not a JSON object"]


async def test_more_agents_than_a_turn_may_send_are_told_to_wait() -> None:
    tasks = [f"Find tide number {number:02}" for number in range(14)]
    search = calls(("search", {"query": "tide"}), task="research", turn=0, repeat=True)
    found = [says("done", task="research", repeat=True), says(ROSE, task="find", repeat=True)]
    log = await run_of([*planned(ONE_STEP), sends(*tasks), search, *found, report_wanted(turn=1), WRITTEN])
    assert len(log.of(e.AgentStarted)) == 12
    last = requests(log.model, "orchestrate")[-1]
    assert answered_once(last)
    assert sum("at most 12 agents at a time" in message.text for message in last.messages) == 2


class Watching(Scripted):
    """Stops an orchestrator's stream after its first call until an agent has been heard of."""

    def __init__(self, script: list[Scene]) -> None:
        super().__init__(script)
        self.heard = asyncio.Event()

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        async for delta in super().stream(request):
            yield delta
            if request.task == "orchestrate" and isinstance(delta, CallDone) and delta.index == 0:
                async with asyncio.timeout(60):
                    await self.heard.wait()


async def test_an_agent_starts_the_moment_its_call_is_complete() -> None:
    model = Watching([*planned(), sends(TIDE, MISTRAL), *both_agents(), report_wanted(), WRITTEN])
    handle = Sea().start(model)
    envelopes = []
    async for envelope in handle:
        envelopes.append(envelope)
        if envelope.type == "finding.added":  # the first agent has done all its work while the reply streams on
            model.heard.set()
    await handle.wait()
    log = Log(envelopes, model)
    decided = next(
        each.seq
        for each, event in ((each, e.decode(each)) for each in log.envelopes)
        if isinstance(event, e.ModelAttempted) and event.task == "orchestrate"
    )
    found = [each.seq for each in log.envelopes if each.type == "finding.added"]
    assert found[0] < decided < found[1]


@pytest.mark.parametrize(
    "failing",
    [[fails("no quota", transient=False, task="orchestrate")], [says("", task="orchestrate")] * 2],
    ids=["fails", "says nothing"],
)
async def test_without_an_orchestrator_the_plan_is_worked_off(failing: list[Scene]) -> None:
    steps = [
        *agent("Tide at Brest", "tide Brest", ROSE),
        *agent("Winds of the mistral", "mistral", "It blows. [S2001.1]"),
    ]
    log = await run_of([*planned(), *failing, *steps, WRITTEN])
    assert [event.step for event in log.of(e.AgentStarted)] == [1, 2]
    assert [step.status for step in log.last(e.PlanChanged).plan.steps] == ["completed", "completed"]


@in_simulated_time
async def test_the_deadline_ends_agents_and_decisions_and_the_report_is_written() -> None:
    stuck = calls(("open", {"documents": ["S1001"]}), task="research", turn=1, hang=asyncio.Event())
    slow = says(ROSE, task="find", hang=asyncio.Event())
    undecided = report_wanted(turn=1, hang=asyncio.Event())
    script = [*planned(ONE_STEP), sends(TIDE), first_agent()[0], stuck, slow, undecided, WRITTEN]
    log = await run_of(script, budget=Budget(seconds=1.5))
    assert len(requests(log.model, "orchestrate")) == 2
    assert log.text.startswith(ROSE)
    assert log.last(e.RunCompleted).stop_reason == "time"
    assert log.last(e.FindingAdded).text.startswith("- The tide at Brest rises seven metres. [S1001.1]")


async def test_an_agent_for_a_step_of_analysis_searches_nothing() -> None:
    steps = '[{"title": "Tide at Brest"}, {"title": "Compare", "type": "analysis", "needs_search": false}]'
    judge = call("research_agent", task="Compare tide and moon", step=2)
    compared = says("It rises, by the moon. [S1001.1, S1001.2]", task="analyze")
    script = [*planned(f'{{"title": "Brest", "steps": {steps}}}'), sends(TIDE, turn=0), *first_agent(), compared]
    script += [Scene(answer=Reply(calls=(judge,), stop="calls"), task="orchestrate", turn=1), WRITTEN]
    log = await run_of(script)
    (asked,) = requests(log.model, "analyze")
    assert asked.tools == ()
    assert ROSE in "".join(asked.user_texts("findings"))
    assert [step.status for step in log.last(e.PlanChanged).plan.steps] == ["completed", "completed"]
    assert [(event.lane, event.step) for event in log.of(e.AgentStarted)] == [(1, 1), (2, 2)]
    assert not [path for path in log.paths(e.ToolStarted) if path[1:2] == ("agent-2",)]


async def test_with_nothing_found_yet_it_searches_all_the_same() -> None:
    steps = '[{"title": "Tide at Brest"}, {"title": "Compare", "type": "analysis", "needs_search": false}]'
    early = Reply(calls=(call("research_agent", task=TIDE, step=2),), stop="calls")
    script = [
        *planned(f'{{"title": "Brest", "steps": {steps}}}'),
        Scene(answer=early, task="orchestrate"),
        *first_agent(),
    ]
    step = agent("Tide at Brest", "tide", ROSE.replace("S1", "S2"))
    log = await run_of([*script, report_wanted(), *step, WRITTEN])
    assert requests(log.model, "analyze") == []
    assert len(log.of(e.FindingAdded)) == 2


# triage


@pytest.mark.parametrize(
    "failing",
    [
        fails("no quota", transient=False, task="triage"),
        calls(("generate_plan", {"complexity": "huge"}), task="triage"),
    ],
    ids=["fails", "calls wrongly"],
)
async def test_a_failing_triage_means_a_moderate_question(failing: Scene) -> None:
    _, background, plan = planned(ONE_STEP)
    log = await run_of([failing, background, plan, sends(TIDE), *first_agent(), report_wanted(), WRITTEN])
    found = log.last(e.TriageClassified)
    assert (found.triage.complexity, found.depth, found.mode) == ("moderate", "medium", "deep_research")


# agents which do not do as they are told


async def test_for_an_agent_which_only_talks_code_searches_once() -> None:
    talk = [says("I know this.", task="research", turn=0), says("I really do.", task="research", turn=1)]
    nothing = says("Nothing about this was found.", task="find")
    model = Scripted([*planned(ONE_STEP), sends(TIDE), *talk, nothing, report_wanted()])
    with pytest.raises(NothingSearched, match="scripted made no tool call: it may not support tools"):
        await run_of(model)
    first, second = requests(model, "research")
    assert first.user_texts("note") == ()
    assert "Call a tool" in second.user_texts("note")[0]
    (asked,) = (request for request in model.requests if request.task == "find")
    assert TIDE in str(asked)  # code searched for the task before the findings were asked for


@pytest.mark.parametrize(("seconds", "reports", "stops"), [(400.0, 120.0, 240.0), (90_000.0, 720.0, 1_800.0)])
async def test_an_agent_must_report_in_time_and_is_stopped(seconds: float, reports: float, stops: float) -> None:
    """At 40 and at 80 % of what is left of the run's time without the writer's part (a quarter, at most 300 s)."""
    sea = Sea()
    log = await sea.run(one_agent(), budget=Budget(seconds=seconds))
    memory = await sea.journal.load(log.envelopes[0].run_id)
    (lane,) = (
        msgspec.json.decode(each.data, type=LaneRecord) for each in memory.steps.values() if each.tag == LANE_TAG
    )
    spawned = 10.0  # seconds at most until then
    assert reports - spawned <= lane.work_until <= reports + spawned
    assert stops - spawned <= lane.report_until <= stops + spawned


# what is written badly


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (Reply(text="The tide", stop="length"), "it was cut off"),
        (Reply(text="The tide at Brest rises and rises again. " * 5), "it repeated itself"),
        (Reply(text=" "), "it was empty"),
    ],
    ids=["cut", "repeating", "empty"],
)
async def test_findings_written_badly_are_discarded_told_so_and_tried_once_more(bad: Reply, message: str) -> None:
    search, done, find = first_agent()
    script = [*planned(ONE_STEP), sends(TIDE), search, done, Scene(answer=bad, task="find"), find, report_wanted()]
    log = await run_of([*script, WRITTEN])
    first, second = requests(log.model, "find")
    assert message in second.user_texts("report_findings")[0]
    assert first.user_texts("report_findings")[0] in second.user_texts("report_findings")[0]
    assert [event.text for event in log.of(e.FindingAdded)] == [ROSE]
    assert len(log.of(e.FindingStarted)) == 2  # what the first try streamed is taken back


async def test_findings_written_badly_twice_are_put_together_by_code() -> None:
    search, done, _ = first_agent()
    cut = Scene(answer=Reply(text="The tide", stop="length"), task="find")
    log = await run_of([*planned(ONE_STEP), sends(TIDE), search, done, cut, cut, report_wanted(), WRITTEN])
    assert log.last(e.FindingAdded).text.startswith("- The tide at Brest rises seven metres. [S1001.1]")
    assert any("put together by code" in event.message for event in log.of(e.Warned))
