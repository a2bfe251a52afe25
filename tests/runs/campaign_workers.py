"""The crash campaign over workers: of three on one PostgreSQL database, one is killed, at random moments or at points.

Between deaths a worker may be frozen for longer than its lease, and the database or its pooler restarted.

python tests/runs/campaign_workers.py --random 300 --every 8
python tests/runs/campaign_workers.py --random 300 --every 0 --trouble frozen --trouble postgres --trouble pgbouncer
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import pgbouncer
import postgres
from campaign import Whole, chosen
from crash_scene import SECONDS, differences
from crash_stories import STORIES
from crashing import Point, reached_by
from crashing_workers import LEASE, Queued, Workers

WORKERS = 3
RUNS = 3
TROUBLES = ("frozen", "postgres", "pgbouncer")
SHARE = 0.25
"""Of what is done to workers, so much is other trouble than a death, where some is asked for."""
AWAY = 2.0
"""Seconds a database or its pooler is away at most."""
MOST_KILLS = 12
"""In one round: a run which 20 workers have taken up is offered to none any more."""


@dataclass
class Toll:
    """What a campaign did."""

    kills: int = 0
    troubles: Counter[str] = field(default_factory=Counter)
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


Befall = Callable[[Workers, int], None]
"""What else befalls workers, of which one is busy."""


@dataclass
class Ground:
    """What the workers of a campaign stand on, and what may befall it; a round lasts `seconds` at most."""

    server: postgres.Server
    folder: Path
    troubles: tuple[str, ...] = ()
    pooler: pgbouncer.Pgbouncer | None = None
    seconds: float = SECONDS

    def workers(self, place: Path, story: str) -> Workers:
        """Workers over a schema of their own."""
        url = self.server.url if self.pooler is None else self.pooler.url
        return Workers(place, story, postgres.with_schema(url))

    def befall(self, trouble: str, workers: Workers, busy: int, dice: random.Random) -> None:
        """Freeze a worker for longer than its lease, or have the database or its pooler away for a moment."""
        if trouble == "frozen":
            workers.freeze(busy, LEASE + AWAY * dice.random())
            return
        away = self.server if trouble == "postgres" else self.pooler
        assert away is not None
        away.stop()
        time.sleep(AWAY * dice.random())
        away.start()


def uninterrupted(workers: Workers, seconds: float = SECONDS) -> Whole:
    """A run of one worker which nobody kills."""
    (run,) = workers.queue(1)
    process = workers.begin()
    began = time.monotonic()
    _until_done(workers, [run], seconds)
    took = time.monotonic() - began
    run.check()
    process.send_signal(signal.SIGTERM)  # it lets go, and says how many points it came to
    process.wait(SECONDS)
    workers.alive.clear()
    return Whole(run.ended(), reached_by(workers.folder / "worker-1"), took)


def killed_at_random(
    workers: Workers, whole: Whole, dice: random.Random, befall: Befall | None = None, seconds: float = SECONDS
) -> tuple[list[Queued], int]:
    """Some runs at once, while a worker which has one is killed again and again, or is met by other trouble."""
    runs, kills = workers.queue(RUNS), 0
    while len(workers.alive) < WORKERS:
        workers.begin()
    end = time.monotonic() + seconds
    while not _completed(runs):
        assert time.monotonic() < end, f"the runs do not end: {[run.run_id for run in runs]}"
        time.sleep(dice.random() * whole.seconds / RUNS)
        if kills >= MOST_KILLS or not (busy := workers.busy()):
            continue
        if befall is not None and dice.random() < SHARE:
            befall(workers, dice.choice(busy))
            continue
        workers.kill(dice.choice(busy))
        workers.begin()
        kills += 1
    _same(runs, whole)
    return runs, kills


def killed_at(workers: Workers, whole: Whole, kind: Point, at: int, seconds: float = SECONDS) -> list[Queued]:
    """The one worker which has the run dies at one point of it; another goes on."""
    runs = workers.queue(1)
    doomed = workers.begin(kind=kind, at=at)
    assert doomed.wait(SECONDS) != 0, f"{kind} {at} was not met"
    workers.alive.remove(doomed)
    workers.begin()
    _until_done(workers, runs, seconds)
    _same(runs, whole)
    return runs


def _completed(runs: list[Queued]) -> bool:
    """Whether all have come to their end."""
    return all(run.completed() for run in runs)


def _until_done(workers: Workers, runs: list[Queued], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not _completed(runs):
        assert time.monotonic() < end, f"the runs do not end; {len(workers.alive)} workers"
        time.sleep(0.1)


def _same(runs: list[Queued], whole: Whole) -> None:
    for run in runs:
        run.check(run.taken_over())
        different = list(differences(whole.ended, run.ended()))
        assert not different, f"run {run.run_id} differs at {'; '.join(different[:4])}"


def campaign(ground: Ground, story: str, every: int, randomly: int, seed: int, seconds: float) -> Toll:
    """One story: deaths at random moments, then at every `every`-th point; none is begun after `seconds`."""
    toll, end = Toll(), time.monotonic() + seconds
    whole = _whole(ground, story)
    number = seed
    while toll.kills < randomly and time.monotonic() < end:
        number += 1
        dice = random.Random(f"{story} {number}")
        _counted(toll, ground, story, f"at random {number}", lambda w, d=dice: _random(toll, ground, w, whole, d))
    for kind, at in chosen(whole.points, every) if every else ():
        if kind != "exported" and time.monotonic() < end:
            _counted(toll, ground, story, f"{kind} {at}", lambda w, k=kind, n=at: _point(toll, ground, w, whole, k, n))
    return toll


def _random(toll: Toll, ground: Ground, workers: Workers, whole: Whole, dice: random.Random) -> None:
    def befall(among: Workers, busy: int) -> None:
        trouble = dice.choice(ground.troubles)
        ground.befall(trouble, among, busy, dice)
        toll.troubles[trouble] += 1

    runs, kills = killed_at_random(workers, whole, dice, befall if ground.troubles else None, ground.seconds)
    toll.kills += kills
    toll.add(runs)


def _point(toll: Toll, ground: Ground, workers: Workers, whole: Whole, kind: Point, at: int) -> None:
    toll.add(killed_at(workers, whole, kind, at, ground.seconds))
    toll.points += 1


def _whole(ground: Ground, story: str) -> Whole:
    with tempfile.TemporaryDirectory(dir=ground.folder) as place:
        workers = ground.workers(Path(place), story)
        try:
            return uninterrupted(workers, ground.seconds)
        finally:
            workers.close()
            postgres.drop(workers.database)


def _counted(toll: Toll, ground: Ground, story: str, what: str, deaths: Any) -> None:
    """One round in a database of its own; what is wrong with it is said."""
    with tempfile.TemporaryDirectory(dir=ground.folder, ignore_cleanup_errors=True) as place:
        workers = ground.workers(Path(place), story)
        try:
            deaths(workers)
        except AssertionError as error:
            toll.wrong.append(f"{story}, {what}: {error}")
            print(f"WRONG: {toll.wrong[-1]}", flush=True)
        finally:
            workers.close()
            postgres.drop(workers.database)


@contextlib.contextmanager
def standing(troubles: tuple[str, ...], seconds: float) -> Iterator[Ground]:
    """A database of our own, and a pooler before it where that is to be restarted."""
    found = postgres.binaries()
    if found is None:
        sys.exit(postgres.MISSING)
    server = postgres.new_server(found)
    with contextlib.ExitStack() as stack:
        stack.callback(server.remove)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-workers-")))
        pooler = (
            stack.enter_context(pgbouncer.running(server.url, settings={"server_login_retry": "1"}))
            if "pgbouncer" in troubles
            else None
        )
        yield Ground(server, folder, troubles, pooler, seconds)


def summary(toll: Toll) -> str:
    """What a campaign did, in a line."""
    other = "".join(f", {count} times {trouble}" for trouble, count in sorted(toll.troubles.items()))
    return (
        f"{toll.kills} workers killed at random, {toll.points} at points{other}; "
        f"{toll.runs} runs, taken over {toll.taken_over} times, {toll.again} calls made again; {len(toll.wrong)} wrong"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=8, help="which points: every N-th; 0 for none")
    parser.add_argument("--random", type=int, default=300, help="how many deaths at random moments")
    parser.add_argument("--seed", type=int, default=7, help="which random moments")
    parser.add_argument("--seconds", type=float, default=3600, help="no death is begun after so long, of each story")
    parser.add_argument("--round", type=float, default=SECONDS, help="seconds three runs may take, deaths included")
    parser.add_argument("--story", action="append", choices=list(STORIES), help="only this story; again for more")
    parser.add_argument("--trouble", action="append", choices=TROUBLES, help="beside deaths: again for more")
    asked = parser.parse_args()
    stories = tuple(asked.story or STORIES)
    wrong = 0
    with standing(tuple(asked.trouble or ()), asked.round) as ground:
        for story in stories:
            began = time.monotonic()
            share = -(-asked.random // len(stories))
            toll = campaign(ground, story, asked.every, share, asked.seed, asked.seconds)
            wrong += len(toll.wrong)
            took, load = time.monotonic() - began, os.getloadavg()[0]
            print(f"{story}: {summary(toll)}; {took:.0f} s, load {load:.1f}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
