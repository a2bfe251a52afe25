"""Workers of two releases over one queue, as while a fleet is upgraded: each run goes on where it can."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fleet import QUESTION, Fleet
from releases import another_release

from assay.core.events import RunCreated, decode
from assay.run.releases import own_release

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="signals between processes"),
]

OTHER_STEPS = {"core/brief.py": ("STEPS_FORMAT = 1", "STEPS_FORMAT = 2")}


@pytest.fixture
def fleet(tmp_path: Path, new_database: Callable[[], str]) -> Iterator[Fleet]:
    made = Fleet(tmp_path, new_database(), forks=True)
    yield made
    made.close()


def queued_by(fleet: Fleet, path: Path) -> str:
    """A run which the release in `path` has put into the queue."""
    model = f"scripted:{fleet.folder / 'script.json'}"
    return fleet.run(QUESTION, "--in", fleet.notes, "--model", model, "--queue", path=path).strip()


def made_by(fleet: Fleet, run_id: str) -> str:
    created = decode(fleet.events(run_id)[0])
    assert isinstance(created, RunCreated)
    return created.brief.release


def test_a_run_of_the_release_before_is_gone_on_with(fleet: Fleet, tmp_path: Path) -> None:
    before = another_release(tmp_path / "before", "0.0.9")
    fleet.slow(find=30_000)
    run_id = queued_by(fleet, before)
    assert made_by(fleet, run_id) == "0.0.9"
    old = fleet.worker(path=before)
    fleet.wait(lambda: ("find", 1) in fleet.calls())
    fleet.slow()
    old.signal(signal.SIGKILL)
    old.end()
    fleet.worker("--until-empty")
    fleet.until_done([run_id])
    events = fleet.events(run_id)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [event.type for event in events].count("run.resumed") == 1


def test_two_releases_with_other_steps_share_a_queue_and_each_does_its_own(fleet: Fleet, tmp_path: Path) -> None:
    newer = another_release(tmp_path / "newer", "99.0.0", OTHER_STEPS)
    runs = {"99.0.0": queued_by(fleet, newer), own_release(): fleet.queue()}
    fleet.worker("--until-empty", path=newer)
    fleet.until_done([runs["99.0.0"]])
    assert fleet.workers[0].end() == 0
    text = f"run {runs[own_release()]} was started by assay {own_release()}, and assay 99.0.0 cannot go on with it"
    assert text in fleet.workers[0].output()
    assert f"pip install assay=={own_release()}" in fleet.workers[0].output()
    late = queued_by(fleet, newer)
    fleet.worker("--until-empty")
    fleet.until_done([runs[own_release()]])
    assert fleet.workers[1].end() == 0
    assert late not in fleet.workers[1].output()
    (left,) = [row for row in fleet.rows() if row.run_id == late]
    assert (left.status, left.queued, left.holder) == ("created", True, "")
