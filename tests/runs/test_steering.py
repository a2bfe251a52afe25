"""Steering: what the owner says is stored, heeded by one decision which the log names, or rejected with a reason."""

from __future__ import annotations

import asyncio

import pytest
from research import (
    MISTRAL,
    REPORT,
    TIDE,
    Log,
    Sea,
    agent,
    both_agents,
    first_agent,
    one_agent,
    planned,
    report_wanted,
    sends,
)
from stepwise import again, decides, requests

from assay.core import events as e
from assay.core.errors import UsageError
from assay.core.messages import Request
from assay.core.view import fold_events
from assay.models.script import Scene, Scripted, calls, says
from assay.phases.case import STEERING_NOTE
from assay.run import control
from assay.run.process import SystemClock

WISH = "Look at the winds, too."


class Told(Scripted):
    """A scripted model during whose call of one kind the owner says something."""

    def __init__(self, script: list[Scene], sea: Sea, task: str, *texts: str, turn: int | None = None) -> None:
        super().__init__(script)
        self._sea, self._during, self._left, self._turn = sea, task, list(texts), turn
        self.run_id = ""

    async def stream(self, request: Request):  # type: ignore[no-untyped-def]
        turns = sum(message.role == "assistant" for message in request.messages)
        if self._left and request.task == self._during and self._turn in (None, turns):
            found, self._left = self._left, []
            for text in found:
                await control.post_instruction(self._sea.journal, SystemClock(), self.run_id, text)
        async for item in super().stream(request):
            yield item


async def played(sea: Sea, model: Told, **changes: object) -> Log:
    handle = sea.start(model, **changes)
    model.run_id = handle.run_id
    log = Log([envelope async for envelope in handle], model)
    await handle.wait()
    assert not model.unused, model.unused
    return log


def steering_notes(model: Scripted, task: str) -> list[tuple[str, ...]]:
    """What each request of a task holds of steering, with what it yields to."""
    found = []
    for request in requests(model, task):
        notes = request.user_texts("steering")
        assert (STEERING_NOTE in [message.text for message in request.messages if message.name == "note"]) == bool(
            notes
        )
        found.append(tuple(notes))
    return found


def facts(log: Log) -> list[tuple[str, str]]:
    """The facts of steering, in order: what, and where or why."""
    lines = []
    for event in map(e.decode, log.envelopes):
        match event:
            case e.ControlAccepted(text=text):
                lines.append(("accepted", text))
            case e.ControlApplied(where=where):
                lines.append(("applied", where))
            case e.ControlRejected(why=why):
                lines.append(("rejected", why))
    return lines


async def test_the_orchestrators_next_decision_heeds_it_and_the_writer_knows() -> None:
    sea = Sea()
    script = [*planned(), sends(TIDE), *both_agents(), sends(MISTRAL), report_wanted(), says(REPORT, task="write")]
    model = Told(script, sea, "research", WISH)
    log = await played(sea, model, depth="medium")
    assert steering_notes(model, "orchestrate") == [(), (WISH,), (WISH,)]
    assert steering_notes(model, "write") == [(WISH,)]
    assert facts(log) == [("accepted", WISH), ("applied", "research/cycle-2")]
    view = fold_events(log.envelopes)
    assert [(each.text, each.state, each.note) for each in view.steering] == [(WISH, "applied", "research/cycle-2")]


async def test_said_while_the_report_is_decided_on_it_opens_another_cycle() -> None:
    sea = Sea()
    second = agent(MISTRAL, "mistral", "The mistral blows from the north-west. [S2001.1]")
    opening = [*planned(), sends(TIDE), *first_agent(), report_wanted()]
    script = [*opening, sends(MISTRAL), *second, report_wanted(), says(REPORT, task="write")]
    model = Told(script, sea, "orchestrate", WISH, turn=1)
    log = await played(sea, model, depth="medium")
    assert facts(log) == [("accepted", WISH), ("applied", "research/cycle-3")]
    assert [finding.lane for finding in log.of(e.FindingAdded)] == [1, 2]


async def test_where_research_is_over_the_writer_heeds_it() -> None:
    """A light run has two cycles: what is said in the second has no decision left but the writer's."""
    sea = Sea()
    model = Told(one_agent(), sea, "orchestrate", WISH, turn=1)
    log = await played(sea, model, depth="light")
    assert facts(log) == [("accepted", WISH), ("applied", "write")]
    assert steering_notes(model, "write") == [(WISH,)]


async def test_the_reflector_heeds_it_and_so_does_the_changed_plan() -> None:
    sea = Sea()
    titles = ("Tide at Brest", "Moon")
    wind = {"title": "Winds of the mistral"}
    script = [
        *planned('{"title": "Brest", "steps": [{"title": "Tide at Brest"}, {"title": "Moon"}]}', depth="medium"),
        *agent(titles[0], "tide Brest", "The tide at Brest rises seven metres. [S1001.1]"),
        decides("adjust", "the user wants the winds", "winds"),
        again(wind),
        *agent("Winds of the mistral", "mistral", "The mistral blows from the north-west. [S2001.1]"),
        decides("continue"),
        says(REPORT, task="write"),
    ]
    model = Told(script, sea, "find", WISH)
    log = await played(sea, model, strategy="reflective")
    assert steering_notes(model, "reflect") == [(WISH,), (WISH,)]
    assert steering_notes(model, "plan")[-1] == (WISH,)
    assert facts(log) == [("accepted", WISH), ("applied", "research/step-1")]


async def test_too_late_is_rejected_with_the_reason() -> None:
    sea = Sea()
    model = Told(one_agent(), sea, "write", WISH)
    log = await played(sea, model, depth="medium")
    assert facts(log) == [("accepted", WISH), ("rejected", control.ENDED_FIRST)]
    assert log.envelopes[-1].type == "run.completed"
    assert fold_events(log.envelopes).steering[0].state == "rejected"


async def test_several_are_heeded_in_order_each_once() -> None:
    sea = Sea()
    script = [*planned(), sends(TIDE), *both_agents(), sends(MISTRAL), report_wanted(), says(REPORT, task="write")]
    model = Told(script, sea, "research", "One.", "Two.", "Three.")
    log = await played(sea, model, depth="medium")
    assert steering_notes(model, "orchestrate")[-1] == ("One.", "Two.", "Three.")
    assert [kind for kind, _ in facts(log)] == ["accepted"] * 3 + ["applied"] * 3


async def test_a_replay_hears_what_was_heard_whatever_was_said_since() -> None:
    """The run dies while its second cycle is at work; what is said meanwhile belongs to the third decision."""
    sea, stuck = Sea(), asyncio.Event()
    opening = [*planned(), sends(TIDE), *first_agent(), sends(MISTRAL)]
    hanging = calls(("search", {"query": "mistral"}), task="research", contains=MISTRAL, hang=stuck)
    model = Told([*opening, hanging], sea, "research", "First.")
    first = sea.start(model, depth="medium")
    model.run_id = first.run_id
    async with asyncio.timeout(60):
        while model.unused:
            await asyncio.sleep(0.01)
    await first.stop()
    await control.post_instruction(sea.journal, SystemClock(), first.run_id, "Second.")

    rest = agent(MISTRAL, "mistral", "The mistral blows from the north-west. [S2001.1]")
    resumed = Scripted([*rest, report_wanted(), says(REPORT, task="write")])
    handle = await sea.engine().resume(first.run_id, lambda _: sea.world(resumed))
    await handle.wait()
    envelopes = await sea.journal.events(first.run_id)
    assert facts(Log(envelopes, resumed)) == [
        ("accepted", "First."),
        ("applied", "research/cycle-2"),
        ("accepted", "Second."),
        ("applied", "research/cycle-3"),
    ]
    assert not [each for each in envelopes if each.type == "step.diverged"]
    assert steering_notes(resumed, "orchestrate") == [("First.", "Second.")]


@pytest.mark.parametrize(("text", "why"), [("", "1 to 4,000"), ("  \n", "1 to 4,000"), ("x" * 4_001, "4,001")])
async def test_empty_and_endless_words_are_refused(text: str, why: str) -> None:
    sea = Sea()
    handle = sea.start(Scripted(one_agent()))
    await handle.wait()
    with pytest.raises(UsageError, match=why):
        await control.post_instruction(sea.journal, SystemClock(), handle.run_id, text)


async def test_a_run_can_be_told_only_so_much() -> None:
    sea = Sea()
    handle = sea.start(Scripted(one_agent()))
    await handle.wait()
    for number in range(control.MAX_MESSAGES):
        await control.post_instruction(sea.journal, SystemClock(), handle.run_id, f"{number}")
    with pytest.raises(UsageError, match="has 50 messages"):
        await control.post_instruction(sea.journal, SystemClock(), handle.run_id, "more")
