"""How a step of the reflective strategy is done: by code, by an agent with so many calls, or without a search."""

from __future__ import annotations

import msgspec
import pytest
from research import BLEW, ROSE, Log, Sea, whole
from stepwise import SAID, TITLES, again, classic, decides, opening, requests, step, steps, tide, winds

from assay.agents.history import total_tokens
from assay.core import events as e
from assay.core.messages import Profile, Reply
from assay.core.text import estimate_tokens
from assay.core.usage import Budget
from assay.models.script import Scene, Scripted, calls, fails, says

OCEAN = {
    f"{number}.md": f"# Harbour {number}\n\nThe tide at Brest, seen from harbour {number}.\n" for number in range(9)
}
COMPARE = "Compare tide and wind"


async def stepwise(script: list[Scene] | Scripted, sea: Sea | None = None, **changes: object) -> Log:
    log = await (sea or Sea()).run(script, strategy="reflective", **changes)
    assert whole(log)
    return log


def tool_calls(log: Log, lane: int = 1) -> list[tuple[str, str]]:
    """The calls an agent made: tool and arguments."""
    return [
        (event.tool, event.arguments)
        for envelope, event in ((each, e.decode(each)) for each in log.envelopes)
        if isinstance(event, e.ToolStarted) and envelope.path[:2] == ("research", f"agent-{lane}")
    ]


# light: driven by code


@pytest.mark.parametrize("asked", [("tide Brest",), ("tide", "Brest", "sea", "moon"), ("tide Brest", "TIDE  brest")])
async def test_a_classic_step_makes_so_many_queries_and_opens_so_many_pages(asked: tuple[str, ...]) -> None:
    script = [*opening(steps(TITLES[0]), depth="light"), *classic(TITLES[0], asked, "Seen. [S1001.1]")]
    log = await stepwise([*script, decides("complete"), says("Seen. [S1001.1]", task="write")], Sea(OCEAN))
    tools = [tool for tool, _ in tool_calls(log)]
    assert tools == ["search", "search", "open", "open", "open"]
    opened = [msgspec.json.decode(arguments)["documents"] for tool, arguments in tool_calls(log) if tool == "open"]
    assert len({id for (id,) in opened}) == 3
    (queries,) = requests(log.model, "research")
    assert queries.user_texts("rules") == ("Word 2 queries.",)
    assert [tool.name for tool in queries.tools] == ["search"]
    assert log.last(e.AgentFinished).turns == 2


async def test_a_classic_step_without_queries_searches_with_its_own_words() -> None:
    script = [*opening(steps(TITLES[0]), depth="light"), fails("no quota", transient=False, task="research")]
    script += [says(ROSE, task="find"), decides("complete"), says(SAID, task="write")]
    log = await stepwise(script)
    assert [arguments for tool, arguments in tool_calls(log) if tool == "search"] == ['{"query":"Tide at Brest"}']
    assert any("words of the step alone" in event.message for event in log.of(e.Warned))
    assert log.last(e.FindingAdded).text == ROSE


async def test_a_classic_step_that_finds_nothing_opens_nothing() -> None:
    script = [*opening(steps(TITLES[0]), depth="light"), *classic(TITLES[0], ("volcano", "lava"))]
    log = await stepwise([*script, decides("complete")])
    assert [tool for tool, _ in tool_calls(log)] == ["search", "search"]
    assert log.last(e.RunCompleted).stop_reason == "no_evidence"


# medium and extended: the agent all strategies share


@pytest.mark.parametrize(("depth", "most"), [("medium", 12), ("extended", 40)])
async def test_an_agent_makes_no_more_calls_than_its_depth_allows(depth: str, most: int) -> None:
    fives = [
        calls(*(("search", {"query": f"tide {turn} {number}"}) for number in range(5)), task="research", turn=turn)
        for turn in range(-(-most // 5))
    ]
    script = [*opening(steps(TITLES[0]), depth=depth), *fives, says(ROSE, task="find"), decides("complete")]
    log = await stepwise([*script, says(SAID, task="write")])
    assert len(tool_calls(log)) == most
    turns = requests(log.model, "research")
    assert len(turns) == -(-most // 5)
    left = [msgspec.json.decode(request.values("rules")[-1])["calls_left"] for request in turns]
    assert left == list(range(most, 0, -5))
    (asked,) = requests(log.model, "find")
    answers = [message.call_id for message in asked.messages if message.role == "tool"]
    wanted = [call.id for message in asked.messages for call in message.calls]
    assert answers == wanted
    assert len(wanted) == 5 * len(turns)
    refused = [message.text for message in asked.messages if message.text.startswith("Not carried out")]
    assert len(refused) == 5 * len(turns) - most


# analysis


async def test_an_analysis_works_on_findings_and_searches_nothing() -> None:
    compared = "The tide rises, the wind blows. [S1001.1, S2001.1]"
    script = [
        *opening(steps(TITLES[0], TITLES[1], COMPARE, type="analysis", needs_search=False)),
        *tide(),
        decides("continue"),
        *winds(),
        decides("continue"),
        says(compared, task="analyze"),
        decides("complete"),
        says(f"{SAID}\n\n## Both\n\n{compared}", task="write"),
    ]
    log = await stepwise(script)
    assert tool_calls(log, 3) == []
    (asked,) = requests(log.model, "analyze")
    assert asked.tools == ()
    message = "\n".join(asked.user_texts("findings"))
    assert ROSE in message and BLEW in message  # noqa: PT018
    assert "[S1001.1] The tide at Brest rises seven metres." in asked.user_texts("evidence")[0]
    assert asked.user_texts("task") == (COMPARE,)
    finding = log.last(e.FindingAdded)
    assert (finding.lane, [passage.id for passage in finding.passages]) == (3, ["S1001.1", "S2001.1"])
    assert [step.status for step in log.last(e.PlanChanged).plan.steps] == ["completed"] * 3


async def test_an_analysis_waits_for_findings_and_is_left_out_without_any() -> None:
    plan = '{"title": "x", "steps": [{"title": "Judge", "type": "analysis"}, {"title": "Tide at Brest"}]}'
    log = await stepwise([*opening(plan), *step(TITLES[0]), decides("continue")])
    assert [event.step for event in log.of(e.AgentStarted)] == [2]
    assert [(step.id, step.status) for step in log.last(e.PlanChanged).plan.steps] == [(1, "skipped"), (2, "open")]


@pytest.mark.parametrize(
    "analyst",
    [[fails("no quota", transient=False, task="analyze")], [says("", task="analyze"), says(" ", task="analyze")]],
    ids=["fails", "empty"],
)
async def test_a_failing_analysis_fails_alone(analyst: list[Scene]) -> None:
    plan = steps(TITLES[0], COMPARE, type="analysis")
    script = [*opening(plan), *tide(), decides("continue"), *analyst, decides("continue"), says(SAID, task="write")]
    log = await stepwise(script)
    assert [event.lane for event in log.of(e.AgentFailed)] == [2]
    assert log.written == SAID
    data = msgspec.json.decode(requests(log.model, "reflect")[-1].values("rules")[0])
    assert data["failed"] == [2]


async def test_an_analysis_written_badly_is_written_once_more() -> None:
    plan = steps(TITLES[0], COMPARE, type="analysis")
    cut = Scene(answer=Reply(text="The tide", stop="length"), task="analyze")
    script = [*opening(plan), *tide(), decides("continue"), cut, says(ROSE, task="analyze"), decides("complete")]
    log = await stepwise([*script, says(SAID, task="write")])
    assert "cut off" in requests(log.model, "analyze")[-1].user_texts("note")[0]
    assert log.last(e.FindingAdded).text == ROSE


async def test_a_small_window_is_never_overrun() -> None:
    long = " ".join(f"Fact {number} of the tide at Brest in the year of the storm. [S1001.1]" for number in range(150))
    script = [
        *opening(steps(TITLES[0], TITLES[1], "Compare", type="analysis")),
        *step(TITLES[0], long),
        decides("adjust", "More. " * 300, *["change " * 40] * 8),
        again({"title": TITLES[1]}, {"title": "Compare", "type": "analysis"}),
        *step(TITLES[1], long.replace("S1", "S2")),
        decides("continue"),
        says(ROSE, task="analyze"),
        decides("complete"),
        says(SAID, task="write", repeat=True),
    ]
    profile = Profile(name="small", window=8_000, max_output=2_000)
    log = await stepwise(Scripted(script, profile=profile))
    for request in log.model.requests:
        room = profile.window - request.max_tokens
        assert total_tokens(request.messages) + estimate_tokens(request.system) <= room, request.task
    assert [step.status for step in log.last(e.PlanChanged).plan.steps] == ["completed"] * 3


# what fails, and what it may spend


async def test_a_failing_step_is_told_and_tried_once_more_by_coverage() -> None:
    broken = fails("no quota", transient=False, task="research", contains=TITLES[0])
    script = [*opening(steps(*TITLES[:2])), broken, decides("continue"), *winds(), decides("continue")]
    late = step(TITLES[0], ROSE.replace("S1", "S3"))
    log = await stepwise([*script, *late, says("It rises. [S3001.1]", task="write")])
    data = msgspec.json.decode(requests(log.model, "reflect")[0].values("rules")[0])
    assert (data["failed"], data["steps_done"], data["steps_left"]) == ([1], 0, 1)
    assert [event.lane for event in log.of(e.AgentStarted)] == [1, 2, 3]
    assert [event.cycle for event in log.of(e.AgentsPlanned)] == [1, 2, 3]
    assert [step.status for step in log.last(e.PlanChanged).plan.steps] == ["completed", "completed"]


async def test_steps_share_the_budget_of_the_steps_left() -> None:
    log = await stepwise(
        [
            *opening(steps(*TITLES[:2])),
            *step(TITLES[0], ROSE, "tide sea"),
            decides("continue"),
            calls(*(("search", {"query": f"mistral {number}"}) for number in range(4)), task="research", turn=0),
            says("The mistral blows from the north-west. [S2001.1]", task="find"),
            says(SAID, task="write"),
        ],
        budget=Budget(searches=4),  # one for the look around, one for the first step; the two left end research
    )
    searched = [envelope.path[1] for envelope in log.envelopes if envelope.type == "search.performed"]
    assert searched.count("agent-2") == 2
    finished = {event.lane: event.stop for event in log.of(e.AgentFinished)}
    assert finished == {1: "done", 2: "searches"}
