"""The crash campaign over workers: of three on one PostgreSQL database, one is killed, at random moments or at points.

python tests/runs/campaign_workers.py --random 300 --every 8
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import postgres
from campaign import Whole, chosen
from crash_scene import SECONDS, differences
from crash_stories import STORIES
from crashing import Point, reached_by
from crashing_workers import Queued, Workers

WORKERS = 3
RUNS = 3
MOST_KILLS = 12
"""In one round: a run which 20 workers have taken up is offered to none any more."""


@dataclass
class Toll:
    """What a campaign did."""

    kills: int = 0
    points: int = 0
    runs: int = 0
    taken_over: int = 0
    again: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, runs: list[Queued]) -> None:
        """These came to their end as they should."""
        self.runs += len(runs)
        self.taken_over += sum(run.taken_over() for run in runs)
        self.again += sum(len(run.again()) for run in runs)


def uninterrupted(workers: Workers) -> Whole:
    """A run of one worker which nobody kills."""
    (run,) = workers.queue(1)
    process = workers.begin()
    began = time.monotonic()
    _until_done(workers, [run])
    took = time.monotonic() - began
    run.check()
    process.terminate()  # it lets go, and says how many points it came to
    process.join(SECONDS)
    workers.alive.clear()
    return Whole(run.ended(), reached_by(workers.folder / "worker-1"), took)


def killed_at_random(workers: Workers, whole: Whole, dice: random.Random) -> tuple[list[Queued], int]:
    """Some runs at once, while a worker which has one is killed again and again."""
    runs, kills = workers.queue(RUNS), 0
    while len(workers.alive) < WORKERS:
        workers.begin()
    end = time.monotonic() + SECONDS
    while not _completed(runs):
        assert time.monotonic() < end, f"the runs do not end: {[run.run_id for run in runs]}"
        time.sleep(dice.random() * whole.seconds / RUNS)
        if kills < MOST_KILLS and (busy := workers.busy()):
            workers.kill(dice.choice(busy))
            workers.begin()
            kills += 1
    _same(runs, whole)
    return runs, kills


def killed_at(workers: Workers, whole: Whole, kind: Point, at: int) -> list[Queued]:
    """The one worker which has the run dies at one point of it; another goes on."""
    runs = workers.queue(1)
    doomed = workers.begin(kind=kind, at=at)
    doomed.join(SECONDS)
    assert doomed.exitcode not in (None, 0), f"{kind} {at} was not met"
    workers.alive.remove(doomed)
    workers.begin()
    _until_done(workers, runs)
    _same(runs, whole)
    return runs


def _completed(runs: list[Queued]) -> bool:
    """Whether all have come to their end."""
    return all(run.completed() for run in runs)


def _until_done(workers: Workers, runs: list[Queued]) -> None:
    end = time.monotonic() + SECONDS
    while not _completed(runs):
        assert time.monotonic() < end, f"the runs do not end; {len(workers.alive)} workers"
        time.sleep(0.1)


def _same(runs: list[Queued], whole: Whole) -> None:
    for run in runs:
        run.check(run.taken_over())
        different = list(differences(whole.ended, run.ended()))
        assert not different, f"run {run.run_id} differs at {'; '.join(different[:4])}"


def campaign(server: str, folder: Path, story: str, every: int, randomly: int, seed: int, seconds: float) -> Toll:
    """One story: deaths at random moments, then at every `every`-th point; none is begun after `seconds`."""
    toll, end = Toll(), time.monotonic() + seconds
    whole = _whole(server, folder, story)
    number = seed
    while toll.kills < randomly and time.monotonic() < end:
        number += 1
        dice = random.Random(f"{story} {number}")
        _counted(toll, server, folder, story, f"at random {number}", lambda w, d=dice: _random(toll, w, whole, d))
    for kind, at in chosen(whole.points, every) if every else ():
        if kind != "exported" and time.monotonic() < end:
            _counted(toll, server, folder, story, f"{kind} {at}", lambda w, k=kind, n=at: _point(toll, w, whole, k, n))
    return toll


def _random(toll: Toll, workers: Workers, whole: Whole, dice: random.Random) -> None:
    runs, kills = killed_at_random(workers, whole, dice)
    toll.kills += kills
    toll.add(runs)


def _point(toll: Toll, workers: Workers, whole: Whole, kind: Point, at: int) -> None:
    toll.add(killed_at(workers, whole, kind, at))
    toll.points += 1


def _whole(server: str, folder: Path, story: str) -> Whole:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        workers = Workers(Path(place), story, postgres.with_schema(server))
        try:
            return uninterrupted(workers)
        finally:
            workers.close()
            postgres.drop(workers.database)


def _counted(toll: Toll, server: str, folder: Path, story: str, what: str, deaths: Any) -> None:
    """One round in a database of its own; what is wrong with it is said."""
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as place:
        workers = Workers(Path(place), story, postgres.with_schema(server))
        try:
            deaths(workers)
        except AssertionError as error:
            toll.wrong.append(f"{story}, {what}: {error}")
            print(f"WRONG: {toll.wrong[-1]}", flush=True)
        finally:
            workers.close()
            postgres.drop(workers.database)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=8, help="which points: every N-th; 0 for none")
    parser.add_argument("--random", type=int, default=300, help="how many deaths at random moments")
    parser.add_argument("--seed", type=int, default=7, help="which random moments")
    parser.add_argument("--seconds", type=float, default=3600, help="no death is begun after so long, of each story")
    parser.add_argument("--story", action="append", choices=list(STORIES), help="only this story; again for more")
    asked = parser.parse_args()
    if why := postgres.reason_to_skip():
        sys.exit(why)
    stories = tuple(asked.story or STORIES)
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="assay-workers-") as folder, postgres.running() as server:
        for story in stories:
            began = time.monotonic()
            share = -(-asked.random // len(stories))
            toll = campaign(server, Path(folder), story, asked.every, share, asked.seed, asked.seconds)
            wrong += len(toll.wrong)
            print(
                f"{story}: {toll.kills} workers killed at random, {toll.points} at points; "
                f"{toll.runs} runs, taken over {toll.taken_over} times, {toll.again} calls made again; "
                f"{len(toll.wrong)} wrong; {time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
