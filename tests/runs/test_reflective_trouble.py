"""Reflective runs that are ended early, killed and taken up again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec
import pytest
from research import Log, Sea, kinds, whole
from runtime import Dying, Killed
from sampling import sampled
from stepwise import SAID, TITLES, changed_plan, decides, opening, steps, tide, two_steps

from assay.core import events as e
from assay.core.messages import Request
from assay.core.view import fold_events
from assay.models.script import Scene, Scripted, calls, says

EVERY = 8
"""So many writes are between two at which one test kills a run; together they kill it at each."""
LEAST_WRITES = 60


async def ended(script: list[Scene], when: str, count: int, **changes: object) -> Log:
    """A run which its owner finishes at the `count`-th event of a kind."""
    model = Scripted(script)
    handle = Sea().start(model, strategy="reflective", **changes)
    envelopes = []
    async for envelope in handle:
        envelopes.append(envelope)
        count -= envelope.type == when
        if not count and envelope.type == when:
            handle.finish()
    await handle.wait()
    log = Log(envelopes, model)
    assert whole(log)
    assert log.last(e.RunCompleted).stop_reason == "finished_early"
    return log


async def test_finished_inside_a_step_reports_what_was_found() -> None:
    hang = asyncio.Event()
    slow = calls(("search", {"query": "mistral"}), task="research", contains=TITLES[1], hang=hang)
    script = [*opening(steps(*TITLES[:3])), *tide(), decides("continue"), slow, says(SAID, task="write")]
    log = await ended(script, "agent.started", 2)
    assert [event.lane for event in log.of(e.AgentStarted)] == [1, 2]
    assert log.written == f"{SAID}\n\n## What could not be found\n\n- {TITLES[1]}\n- {TITLES[2]}"
    assert [(each.step, each.status) for each in log.last(e.CoverageAssessed).coverage][:2] == [
        (0, "partly"),
        (1, "answered"),
    ]
    assert [step.status for step in log.last(e.PlanChanged).plan.steps][2] == "skipped"


async def test_finished_while_reflecting_starts_no_other_step() -> None:
    thinking = decides("continue", hang=asyncio.Event())
    script = [*opening(steps(*TITLES[:2])), *tide(), thinking, says(SAID, task="write")]
    log = await ended(script, "agent.finished", 1)
    assert [event.lane for event in log.of(e.AgentStarted)] == [1]
    assert log.of(e.ReflectDecided) == []
    assert log.written == f"{SAID}\n\n## What could not be found\n\n- {TITLES[1]}"


def repeating(script: list[Scene]) -> Scripted:
    """A model that answers a request asked again as it did before."""
    inner, answers = Scripted(script), dict[bytes, Scene]()

    def answer(request: Request) -> Scene:
        key = msgspec.json.encode(request)
        if key not in answers:
            answers[key] = inner._next_scene(request)
        return answers[key]

    return Scripted(answer)


async def killed(script: list[Scene], writes: int) -> Log | None:
    """A run killed after so many writes and taken up again; None where it ended before that."""
    sea, model = Sea(), repeating(script)
    sea.journal = Dying(sea.store.journal, writes + 1)
    handle = sea.start(model, strategy="reflective")
    try:
        await handle.wait()
        return None
    except (Killed, asyncio.CancelledError):
        pass
    sea.journal = sea.store.journal
    return await sea.resume(handle.run_id, model)


@pytest.mark.parametrize("first", sampled(range(2, 2 + EVERY), EVERY))
@pytest.mark.parametrize("script", [two_steps, changed_plan])
async def test_a_run_killed_between_any_two_stored_facts_is_the_same_run(
    script: Callable[[], list[Scene]], first: int
) -> None:
    straight = await Sea().run(script(), strategy="reflective")
    seen, wanted, writes = fold_events(straight.envelopes), sorted(kinds(straight)), first
    while (log := await killed(script(), writes)) is not None:
        kept = sorted(kind for kind in kinds(log) if kind not in ("run.resumed", "step.restarted"))
        assert kept == wanted, f"killed after {writes} writes"
        view = fold_events(log.envelopes)  # drops what the attempts said that were killed
        assert (view.report.text, view.plan, view.reflections) == (seen.report.text, seen.plan, seen.reflections)
        assert [lane.finding for lane in view.lanes] == [lane.finding for lane in seen.lanes]
        writes += EVERY
    assert writes > LEAST_WRITES
