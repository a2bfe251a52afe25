"""Agents that go on from others, and agents that ask what others have asked."""

from __future__ import annotations

import msgspec
import pytest
from research import MISTRAL, ONE_STEP, ROSE, TIDE, Log, Sea, agent, call, planned, report_wanted, whole
from stepwise import requests

from assay.agents.history import total_tokens
from assay.core import events as e
from assay.core.messages import Profile, Reply, Request
from assay.core.text import estimate_tokens
from assay.models.script import Scene, Scripted, calls, says

MORE = "Find how often the tide turns"
TURNS = "It turns twice a day. [S1001.1]"
LAST = "Find what causes the tide"


def goes_on(task: str, continues: str, **scene: object) -> Scene:
    made = Reply(calls=(call("research_agent", task=task, continues=continues),), stop="calls")
    return Scene(answer=made, task="orchestrate", **scene)


def opening() -> list[Scene]:
    return planned(ONE_STEP, depth="medium")


async def run_of(script: list[Scene] | Scripted, **changes: object) -> Log:
    log = await Sea().run(script, **changes)
    assert whole(log)
    return log


def first_of(log: Log, task: str) -> Request:
    return next(request for request in requests(log.model, "research") if task in request.user_texts("task"))


async def test_it_has_what_the_earlier_agent_found_saw_and_asked() -> None:
    script = [*opening(), goes_on(TIDE, ""), *agent(TIDE, "tide Brest", ROSE), goes_on(MORE, "1", turn=1)]
    script += [says("done", task="research", contains=MORE, turn=0), says("done", task="research", turn=1)]
    script += [says(TURNS, task="find"), report_wanted(turn=2), says(TURNS, task="write")]
    log = await run_of(script)
    request = first_of(log, MORE)
    brief = msgspec.json.decode(request.user_texts("brief")[0])
    assert brief["earlier"] == ROSE
    assert brief["finished"] == [{"task": TIDE, "searched": ["tide Brest"], "read": []}]
    (seen,) = request.user_texts("seen")
    assert "## S1001 Tides" in seen
    assert "[S1001.1] The tide at Brest rises seven metres. It turns twice a day." in seen
    assert not first_of(log, TIDE).user_texts("seen")
    second = log.of(e.FindingAdded)[1]  # it cites what it was told by the id it had, without a search of its own
    assert (second.lane, second.text, second.dropped_markers) == (2, TURNS, 0)
    assert [passage.id for passage in second.passages] == ["S1001.1"]
    assert {event.verdict for event in log.of(e.ClaimChecked)} == {"quoted"}


async def test_it_goes_on_from_one_that_went_on_itself() -> None:
    script = [*opening(), goes_on(TIDE, ""), *agent(TIDE, "tide Brest", ROSE)]
    script += [goes_on(MORE, "agent 1", turn=1), *agent(MORE, "moon", "It turns. [S1001.1] It is the moon. [S2001.2]")]
    script += [goes_on(LAST, "2", turn=2), *agent(LAST, "mistral", "The moon. [S2001.2]"), report_wanted(turn=3)]
    log = await run_of([*script, says(TURNS, task="write")])
    request = first_of(log, LAST)
    earlier = msgspec.json.decode(request.user_texts("brief")[0])["earlier"]
    assert earlier == f"{ROSE}\n\nIt turns. [S1001.1] It is the moon. [S2001.2]"
    (seen,) = request.user_texts("seen")
    assert "[S1001.1]" in seen
    assert "[S2001.2] The moon causes most of it." in seen
    ids = [event.source.id for event in log.of(e.SourceAdded)]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("when", ["agents.planned", "agent.started", "finding.started"])
async def test_taken_up_again_it_has_the_same_context(when: str) -> None:
    def script() -> list[Scene]:
        first = [*opening(), goes_on(TIDE, "", turn=0), *agent(TIDE, "tide Brest", ROSE), goes_on(MORE, "1", turn=1)]
        return [*first, *agent(MORE, "moon", TURNS), report_wanted(turn=2), says(TURNS, task="write")]

    straight = await run_of(script())
    sea, count = Sea(), 0
    handle = sea.start(repeating(script()))
    async for envelope in handle:
        count += envelope.type == when
        if count == 2:
            await handle.stop()
            break
    model = repeating(script())
    log = await sea.resume(handle.run_id, model)
    assert log.text == straight.text
    assert [event.lane for event in log.of(e.FindingAdded)] == [1, 2]
    asked = [request for request in requests(model, "find") if MORE in request.user_texts("task")]
    assert asked[-1].user_texts("seen") == first_of(straight, MORE).user_texts("seen") != ()


def repeating(script: list[Scene]) -> Scripted:
    """A model whose scenes may be played again by the process which takes a run up."""
    return Scripted([msgspec.structs.replace(scene, repeat=True) for scene in script])


@pytest.mark.parametrize("continues", ["", "0", "none", "7"])
async def test_with_nobody_to_go_on_from_it_begins_anew(continues: str) -> None:
    script = [*opening(), goes_on(TIDE, continues), *agent(TIDE, "tide Brest", ROSE), report_wanted()]
    log = await run_of([*script, says(ROSE, task="write")])
    assert msgspec.json.decode(first_of(log, TIDE).user_texts("brief")[0])["earlier"] == ""
    text = [message.text for message in requests(log.model, "orchestrate")[-1].messages if message.role == "tool"]
    assert text[0].startswith("There is no agent 7 to go on from" if continues == "7" else "Agent 1 found:")


async def test_what_it_is_told_fits_a_small_window() -> None:
    long = " ".join(f"Fact {number} of the tide at Brest in the year of the storm. [S1001.1]" for number in range(150))
    script = [*opening(), goes_on(TIDE, ""), *agent(TIDE, "tide Brest", long), goes_on(MORE, "1", turn=1)]
    script += [*agent(MORE, "mistral", TURNS), report_wanted(turn=2), says(TURNS, task="write", repeat=True)]
    profile = Profile(name="small", window=8_000, max_output=2_000)
    log = await run_of(Scripted(script, profile=profile))
    brief = msgspec.json.decode(first_of(log, MORE).user_texts("brief")[0])
    assert 0 < estimate_tokens(brief["earlier"]) <= profile.window // 8
    for request in log.model.requests:
        assert total_tokens(request.messages) + estimate_tokens(request.system) <= profile.window - request.max_tokens


# what others have asked


async def test_the_same_query_and_page_cost_nothing_and_read_the_same() -> None:
    """One searches and opens what another has; nothing in its requests tells it from the first to ask."""

    def reads(task: str, lane: int) -> list[Scene]:
        return [
            calls(("search", {"query": "rising tide  BREST"}), task="research", contains=task),
            calls(("open", {"documents": [f"S{lane}001"]}), task="research", contains=task, turn=1),
            says("done", task="research", contains=task, turn=2),
            says(ROSE.replace("S1", f"S{lane}"), task="find", contains=task),
        ]

    sea = Sea()
    script = [*planned(ONE_STEP), goes_on(TIDE, "", turn=0), *reads(TIDE, 1), goes_on(MISTRAL, "", turn=1)]
    log = await sea.run([*script, *reads(MISTRAL, 2), says(ROSE, task="write")])
    assert sea.search.queries.count("rising tide BREST") == 1
    shared = [event.shared for event in log.of(e.SearchPerformed) if event.query == "rising tide BREST"]
    assert shared == [False, True]
    shown = {lane: tools(log, task, lane) for lane, task in ((1, TIDE), (2, MISTRAL))}
    assert len(shown[1]) == 2
    assert shown[1] == shown[2]
    assert spent(log, 1) == (1, 1)
    assert spent(log, 2) == (0, 0)


def spent(log: Log, lane: int) -> tuple[int, int]:
    """Searches and pages a lane paid for."""
    made = zip(log.paths(e.UsageUpdated), log.of(e.UsageUpdated), strict=True)
    own = [event.usage for path, event in made if path[1:2] == (f"agent-{lane}",)]
    return sum(usage.searches for usage in own), sum(usage.pages for usage in own)


def tools(log: Log, task: str, lane: int) -> list[str]:
    """What tools told an agent, with its own ids written as those of lane 1."""
    last = [request for request in requests(log.model, "find") if task in request.user_texts("task")][-1]
    return [message.text.replace(f"S{lane}00", "S100") for message in last.messages if message.role == "tool"]
