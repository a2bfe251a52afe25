"""What an agent says to its loop: that it is done, and what it thinks. Neither is an action."""

from __future__ import annotations

from typing import Any

import pytest
from research import MISTRAL, ONE_STEP, ROSE, TIDE, Log, Sea, both_agents, planned, report_wanted, sends
from stepwise import requests

from assay.core import events as e
from assay.core.brief import Scope
from assay.core.messages import MESSAGE_NAMES, Profile
from assay.models.script import Scene, Scripted, calls, says

SEARCH = ("search", {"query": "tide Brest"})
DONE: tuple[str, dict[str, Any]] = ("done", {})
THINK = ("think", {"reasoning": "The tide is known; nothing is open."})


def turn(number: int, *wanted: tuple[str, dict[str, Any]]) -> Scene:
    return calls(*wanted, task="research", contains=TIDE, turn=number)


async def played(*turns: Scene, depth: str = "light", profile: Profile | None = None, **changes: Any) -> Log:
    """A run of one agent, whose turns these are."""
    script = [*planned(ONE_STEP, depth=depth), sends(TIDE), *turns, says(ROSE, task="find"), report_wanted()]
    return await Sea().run(Scripted([*script, says(ROSE, task="write")], profile=profile), **changes)


async def test_a_call_of_done_ends_an_agent() -> None:
    log = await played(turn(0, SEARCH), turn(1, DONE))
    assert log.last(e.AgentFinished).turns == 1
    assert [call.tool for call in log.of(e.ToolStarted) if call.tool != "search"] == []
    (findings,) = requests(log.model, "find")
    assert not any(call.name == "done" for message in findings.messages for call in message.calls)


async def test_calls_beside_done_are_made_first_and_all_are_answered() -> None:
    log = await played(turn(0, SEARCH), turn(1, DONE, ("search", {"query": "moon"})))
    assert log.last(e.AgentFinished).turns == 2
    (findings,) = requests(log.model, "find")
    found = [call.id for message in findings.messages for call in message.calls]
    answered = [message.call_id for message in findings.messages if message.role == "tool"]
    assert answered == found
    assert any("moon" in message.text for message in findings.messages if message.role == "tool")


async def test_the_word_done_still_ends_an_agent() -> None:
    log = await played(turn(0, SEARCH), says("done", task="research", turn=1))
    assert log.last(e.AgentFinished).turns == 1


async def test_who_is_done_before_it_searched_is_told_once_to_search() -> None:
    log = await played(turn(0, DONE), turn(1, SEARCH), turn(2, DONE))
    assert log.last(e.AgentFinished).turns == 1
    asked = requests(log.model, "research")[1]
    assert any("Call a tool" in text for text in asked.user_texts("note"))


async def test_an_agent_thinks_without_using_up_a_turn() -> None:
    log = await played(turn(0, THINK), turn(1, SEARCH), turn(2, THINK), turn(3, SEARCH), turn(4, DONE))
    assert log.last(e.AgentFinished).turns == 2
    thoughts = [each.text for each in log.of(e.ThinkFinished)]
    assert thoughts == ["The tide is known; nothing is open."] * 2
    found = [request.values("rules")[-1] for request in requests(log.model, "research")]
    assert [text for text in found if '"turn":1' in text] == found[:2]


async def test_who_only_thinks_is_not_asked_for_ever() -> None:
    thinks = calls(THINK, task="research", repeat=True)
    nothing = says("Nothing about this was found.", task="find", repeat=True)
    log = await Sea().run([*planned(ONE_STEP, depth="light"), sends(TIDE), thinks, nothing, report_wanted()])
    first = [request for request in requests(log.model, "research") if TIDE in request.user_texts("task")]
    assert len(first) == 1 + 4  # so many thoughts are noted, and it is over
    assert log.of(e.AgentFinished)[0].turns == 1  # code has searched with the words of its task


@pytest.mark.parametrize("native", [False, True])
async def test_think_is_for_models_that_do_not_reason_by_themselves(native: bool) -> None:
    profile = Profile(name="scripted", native_reasoning=native)
    log = await played(turn(0, SEARCH), turn(1, DONE), profile=profile)
    for request in [*requests(log.model, "research"), *requests(log.model, "find")]:
        assert ("think" in {tool.name for tool in request.tools}) is not native
        assert ("`think`" in request.system) is not native


@pytest.mark.parametrize("web", [False, True])
async def test_an_agent_is_told_of_the_places_there_are(web: bool) -> None:
    log = await played(turn(0, SEARCH), turn(1, DONE), scope=Scope(web=web))
    (request, *_) = requests(log.model, "research")
    assert ("primary sources" in request.system) is web
    assert "The documents in scope come first" in request.system


async def test_every_message_has_a_name_whose_tag_is_known() -> None:
    script = [*planned(depth="medium"), sends(TIDE, MISTRAL), *both_agents(), report_wanted()]
    log = await Sea().run([*script, says(ROSE, task="write")], instructions="Be brief.", language="de")
    names = {message.name for request in log.model.requests for message in request.messages if message.role == "user"}
    assert names <= set(MESSAGE_NAMES)
