import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from itertools import pairwise

import logs
import pytest

from assay.cli.figures import summary
from assay.cli.runs.control import ReplayPlayer, event_gaps
from assay.core import events as e
from assay.core.events import Envelope
from assay.core.view import RunView, fold_events


@pytest.mark.parametrize("speed", [0.0, 10_000.0])
async def test_every_event_once_and_in_order(speed: float):
    log = logs.two_agents().events
    replay = ReplayPlayer(log, speed)
    assert [envelope.seq async for envelope in replay] == [envelope.seq for envelope in log]
    assert replay.now() >= datetime.fromisoformat(log[-1].at)


async def test_time_in_the_run_never_goes_back_nor_ahead_of_it():
    log = logs.one_agent().events
    following = [*log[1:], log[-1]]
    replay, seen = ReplayPlayer(log, 1_000.0), []
    async for envelope, after in _together(replay, following):
        seen.append(replay.now())
        await asyncio.sleep(0.002)  # two seconds of the run: longer than between most events
        seen.append(replay.now())
        assert datetime.fromisoformat(envelope.at) <= seen[-2] <= seen[-1] <= datetime.fromisoformat(after.at)
    assert all(before <= after for before, after in pairwise(seen))


async def _together(replay: ReplayPlayer, following: list[Envelope]) -> AsyncIterator[tuple[Envelope, Envelope]]:
    rest = iter(following)
    async for envelope in replay:
        yield envelope, next(rest)


def test_a_replay_takes_ten_seconds_at_most_and_a_short_run_its_own_time():
    log = logs.two_agents().events
    length = sum(event_gaps(log))
    assert length > 10
    assert ReplayPlayer(log).speed == pytest.approx(length / 10)
    assert ReplayPlayer(log[:3]).speed == 1.0
    assert ReplayPlayer([]).speed == 1.0


def test_when_nobody_worked_no_time_passes():
    log = logs.Log()
    logs.begin(log)
    worked = sum(event_gaps(log.events))
    log.add("", e.RunWaiting(topic="answers"))
    log.add("", e.ClarifyAnswered(answers=("x",)))
    log.add("", e.RunResumed(fence=2))
    assert sum(event_gaps(log.events)) == worked + 1  # until it waits
    assert event_gaps([]) == []


@pytest.mark.parametrize("name", sorted(logs.SCENARIOS))
def test_the_summary_has_three_lines(name: str):
    view = fold_events(logs.SCENARIOS[name]().events)
    outcome, cost, where = summary(view)
    assert outcome.startswith("completed: ")
    assert cost.startswith("took ")
    assert where.startswith(f"run {logs.RUN}: assay ")


def test_the_summary_counts_verdicts_and_says_what_it_took():
    outcome, cost, where = summary(fold_events(logs.two_agents().events))
    assert outcome == "completed: 3 passages of 2 sources cited; 2 claims: 1 supported, 1 contradicted."
    assert cost == "took 1:33, 6 model calls, 720 tokens"
    assert where == f"run {logs.RUN}: assay cite {logs.RUN} 1"


def test_the_summary_of_what_did_not_end_says_how_to_go_on():
    log = logs.dispatched(1)
    outcome, cost, where = summary(fold_events(log.events))
    assert outcome == "interrupted before its end"
    assert cost.startswith("took 0:1")
    assert where == f"run {logs.RUN}: assay runs resume {logs.RUN}"
    failed = summary(RunView(run_id="r", status="failed", error="no model"))
    assert failed == ["failed: no model", "took 0:00", "run r: assay runs show r"]
