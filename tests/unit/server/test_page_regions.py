"""The regions of a run's page: who watched from the beginning sees at the end what one sees who comes then."""

from __future__ import annotations

import logs
import pytest
from repair_runs import FOUND, LIES, run

from assay.core import events as e
from assay.core.plan import Plan, PlanStep
from assay.core.view import ViewBuilder, fold_events
from assay.server.page.hub import Board, render_regions
from assay.server.page.regions import active_seconds


@pytest.mark.parametrize("report", [FOUND, f"{FOUND}\n\n## More\n\n{LIES[0]}", LIES[0]])
async def test_a_screen_which_was_watched_ends_as_one_which_is_read_anew(report: str) -> None:
    log = await run(report)
    builder, board = ViewBuilder(), Board()
    for envelope in log.envelopes:
        builder.extend([envelope])
        board.put(board.render(builder.view, at_once=True))
    assert board.html == render_regions(builder.view)
    assert "being checked" not in board.html["report"]


def test_agents_and_steps_stop_with_their_run() -> None:
    log = logs.dispatched(1, 2)
    next(logs.agent(log, 1))
    log.add(
        "research", e.PlanChanged(plan=Plan(title="Find it", steps=(PlanStep(id=1, title="One", status="running"),)))
    )
    going = render_regions(fold_events(log.events))
    assert all(">running<" in going[name] for name in ("lane-1", "plan"))
    log.add("", e.ControlApplied(action="pause"))
    rests = render_regions(fold_events(log.events))
    assert all(">paused<" in rests[name] for name in ("lane-1", "plan"))
    assert "/cancel" not in rests["lane-1"]  # an agent at rest cannot be stopped
    log.add("", e.RunResumed(fence=2))
    assert ">running<" in render_regions(fold_events(log.events))["lane-1"]
    log.add("", e.RunCancelled())
    over = render_regions(fold_events(log.events))
    assert all(">stopped<" in over[name] for name in ("lane-1", "lane-2", "plan"))
    assert not any(word in over[name] for word in (">running<", "Waiting for its turn") for name in over)


def test_a_run_was_active_until_it_was_paused_or_began_to_wait() -> None:
    """Each event of the log is a second after the one before."""
    for rest in (e.ControlApplied(action="pause"), e.RunWaiting(topic="plan")):
        log = logs.dispatched(1)
        worked = log.add("", rest) - log.events.index(next(one for one in log.events if one.type == "run.started")) - 1
        assert active_seconds(fold_events(log.events)) == worked
        log.add("", e.ControlAccepted(action="steer", id="m1", text="only Brest"))
        assert active_seconds(fold_events(log.events)) == worked  # a message does not set a resting run to work
        log.add("", e.RunResumed(fence=2))
        log.add("", e.RunCompleted(stop_reason="done", verified=True))
        assert active_seconds(fold_events(log.events)) == worked + 1
