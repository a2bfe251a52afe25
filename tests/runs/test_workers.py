"""Real workers on PostgreSQL: runs shared out, a worker killed, stopped and woken, asked to end; a server restarted."""

from __future__ import annotations

import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import postgres
import pytest
from fleet import LEASE, QUESTION, WAIT, Fleet

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals between processes")

SHORT_LEASE = 1.5


@pytest.fixture
def fleet(tmp_path: Path, new_database: Callable[[], str]) -> Iterator[Fleet]:
    made = Fleet(tmp_path, new_database(), forks=True)
    yield made
    made.close()


def whole(fleet: Fleet, run_id: str) -> list[str]:
    """The kinds of a completed run's events, which are numbered without a gap."""
    events = fleet.events(run_id)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    kinds = [event.type for event in events]
    assert (kinds[0], kinds[-1]) == ("run.created", "run.completed")
    return kinds


def test_two_workers_share_the_runs_and_each_is_executed_once(fleet: Fleet) -> None:
    runs = [fleet.queue(user=user) for user in ("ann", "bob")]
    model = f"scripted:{fleet.folder / 'script.json'}"
    asked = (QUESTION, "--in", fleet.notes, "--model", model, "--queue", "--user", "ann", "--label", "team=tides")
    runs.append(fleet.run(*asked).strip())
    assert [(row.run_id, row.queued, row.holder) for row in fleet.rows()] == [(run, True, "") for run in reversed(runs)]
    assert [line.split("\t")[2] for line in fleet.run("runs", "list").splitlines()] == ["queued"] * 3
    fleet.slow(find=300)
    for _ in range(2):
        fleet.worker("--slots", 1)
    fleet.until_done(runs)
    assert set(Counter(fleet.calls()).values()) == {len(runs)}
    for run_id in runs:
        assert "run.resumed" not in whole(fleet, run_id)
    assert "seven metres" in fleet.run("runs", "show", runs[0])
    assert not any(row.queued for row in fleet.rows())
    fleet.wait(lambda: "Ctrl-C" in fleet.workers[0].output())  # it heeds signals, also where the other did all the work
    fleet.workers[0].signal(signal.SIGTERM)
    assert fleet.workers[0].end() == 143


def test_a_killed_workers_run_is_with_another_within_seconds(fleet: Fleet) -> None:
    fleet.slow(find=30_000)
    run_id = fleet.queue()
    first = fleet.worker()
    fleet.wait(lambda: ("find", 1) in fleet.calls())
    second = fleet.worker()
    fleet.wait(lambda: "Ctrl-C" in second.output())
    fleet.slow()
    first.signal(signal.SIGKILL)
    assert fleet.wait(lambda: f"run {run_id}: taken up (fence 2)" in second.output()) < LEASE / 2  # not when it expires
    fleet.until_done([run_id])
    assert whole(fleet, run_id).count("run.resumed") == 1
    assert {call for call, count in Counter(fleet.calls()).items() if count > 1} == {("find", 1)}


def test_a_stopped_workers_run_is_taken_over_and_woken_it_writes_nothing(fleet: Fleet) -> None:
    fleet.lease(SHORT_LEASE)
    fleet.slow(find=5_000)
    run_id = fleet.queue()
    first = fleet.worker()
    fleet.wait(lambda: ("find", 1) in fleet.calls())
    first.signal(signal.SIGSTOP)
    fleet.slow()
    second = fleet.worker()
    fleet.wait(lambda: f"run {run_id}: taken up (fence 2)" in second.output())
    fleet.until_done([run_id])
    events = fleet.events(run_id)
    first.signal(signal.SIGCONT)
    fleet.wait(lambda: f"run {run_id} was taken over from process {first.popen.pid}" in first.output())
    assert fleet.events(run_id) == events
    second.signal(signal.SIGTERM)
    second.end()
    fleet.until_done([another := fleet.queue()])  # who was woken goes on with what comes
    assert f"run {another}: completed" in first.output()


@pytest.mark.slow
def test_a_worker_which_is_asked_to_end_hands_its_run_on_at_once(fleet: Fleet) -> None:
    fleet.slow(find=30_000)
    run_id = fleet.queue()
    first = fleet.worker()
    fleet.wait(lambda: ("find", 1) in fleet.calls())
    fleet.slow()
    first.signal(signal.SIGINT)
    assert first.end() == 0
    assert [(row.queued, row.holder, row.status) for row in fleet.rows()] == [(True, "", "running")]
    fleet.worker("--until-empty")
    assert fleet.workers[-1].end() == 0
    assert whole(fleet, run_id).count("run.resumed") == 1


def test_a_run_which_waits_for_an_answer_is_taken_up_when_it_has_it(fleet: Fleet) -> None:
    run_id = fleet.queue(review_plan="required")
    worker = fleet.worker()
    fleet.wait(lambda: f"run {run_id}: waiting" in worker.output())
    (row,) = fleet.rows()
    assert (row.status, row.queued, row.holder) == ("waiting", False, "")
    fleet.approve(run_id)
    fleet.until_done([run_id])
    whole(fleet, run_id)


@pytest.mark.campaign
def test_whatever_workers_are_killed_every_run_is_whole(fleet: Fleet) -> None:
    chance = random.Random(7)
    fleet.slow(plan=150, research=250, find=300, write=250)
    runs = [fleet.queue(user=f"user-{number % 2}") for number in range(5)]
    for _ in range(3):
        fleet.worker("--slots", 2)

    def ended() -> bool:
        return all(row.status == "completed" for row in fleet.rows())

    killed = 0
    end = time.monotonic() + 2 * WAIT  # a process takes seconds to start where others work too
    while not ended() and time.monotonic() < end:
        time.sleep(chance.uniform(1.0, 3.0))
        if killed < 4:
            victim = chance.randrange(len(fleet.workers))
            fleet.workers[victim].signal(signal.SIGKILL)
            fleet.workers[victim].end()
            fleet.worker("--slots", 2)
            killed += 1
    assert ended(), [worker.output() for worker in fleet.workers]
    for run_id in runs:
        kinds = whole(fleet, run_id)
        assert kinds.count("run.completed") == kinds.count("report.finished") == 1
    worst = Counter(call for call in fleet.calls())
    assert all(count <= len(runs) + 2 * killed for count in worst.values())  # two runs of each killed worker


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    """A PostgreSQL server of this module's own, to be stopped."""
    found = postgres.binaries()
    if postgres.reason_to_skip() or found is None:
        pytest.skip(postgres.MISSING)
    made = postgres.new_server(found)
    yield made
    made.remove()


@pytest.mark.slow
def test_a_server_restarted_under_load_costs_nothing(tmp_path: Path, server: postgres.Server) -> None:
    fleet = Fleet(tmp_path, postgres.with_schema(server.url), forks=True)
    try:
        fleet.slow(find=1_500, research=300)
        runs = [fleet.queue() for _ in range(3)]
        fleet.worker("--slots", 3)
        fleet.wait(lambda: ("research", 0) in fleet.calls())
        server.stop()
        server.start()
        fleet.until_done(runs)
        for run_id in runs:
            whole(fleet, run_id)
        assert max(Counter(fleet.calls()).values()) <= 2 * len(runs)
    finally:
        fleet.close()


def test_a_worker_waits_for_a_database_which_starts_later(tmp_path: Path, server: postgres.Server) -> None:
    fleet = Fleet(tmp_path, postgres.with_schema(server.url), forks=True)
    try:
        run_id = fleet.queue()
        server.stop()
        worker = fleet.worker("--until-empty")
        fleet.wait(lambda: "trying again for 60 s" in worker.output())
        server.start()
        assert worker.end() == 0
        whole(fleet, run_id)
    finally:
        fleet.close()
