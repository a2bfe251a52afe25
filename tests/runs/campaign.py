"""The crash campaign: `make crash` kills at every point and at 300 random moments; test_crash.py takes a sample.

python tests/runs/campaign.py --every 1 --random 300 --at-once 2
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, get_args

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from crash_scene import SECONDS, Scene, differences
from crash_stories import STORIES
from crashing import Point

MOST_KILLS = 12
"""Of one run at random moments: enough that the last ones meet a run which was resumed before."""


SOON = 0.1
"""Seconds within which a run dies for the first time: none is over by then."""


@dataclass(frozen=True)
class Whole:
    """An uninterrupted run: what it came to, its points, its seconds."""

    ended: dict[str, Any]
    points: dict[str, int]
    seconds: float


@dataclass
class Tally:
    """What a campaign did."""

    kills: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    again: int = 0
    served: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, scene: Scene, kills: Counter[str]) -> None:
        """One more run came to its end."""
        self.runs, self.kills = self.runs + 1, self.kills + kills
        self.served += sum(not call.answered for call in scene.calls())
        self.again += len(scene.again())


def uninterrupted(folder: Path, story: str) -> Whole:
    """A run nobody kills; its accounts are what the server has counted, to the token."""
    scene = Scene(folder, story)
    began = time.monotonic()
    assert scene.finish(scene.start())
    took = time.monotonic() - began
    scene.check()
    ended = scene.ended()
    assert ended["status"] == "completed"
    assert ended["summary"]["quoted"] >= 2
    return Whole(ended, scene.points(), took)


def killed_at(folder: Path, story: str, whole: Whole, kind: Point, at: int) -> Scene:
    """Die at one point, go on, and come to the same."""
    scene = Scene(folder, story)
    assert not scene.finish(scene.start(kind=kind, at=at)), f"{kind} {at} was not met"
    before = scene.files()
    scene.recover()
    _same(scene, whole, before)
    return scene


def killed_at_random(folder: Path, story: str, whole: Whole, dice: random.Random) -> tuple[Scene, int]:
    """Die again and again, at moments nobody chose."""
    scene, kills = Scene(folder, story), 0
    process = scene.start()
    while process.poll() is None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(dice.random() * (whole.seconds if kills else SOON))
        if process.poll() is None and kills < MOST_KILLS:
            process.kill()
            process.wait(SECONDS)
            kills += 1
            process = scene.start(resume=scene.has_run())
    assert scene.finish(process)
    _same(scene, whole, {}, kills)
    return scene, kills


def _same(scene: Scene, whole: Whole, before: dict[str, bytes], deaths: int = 1) -> None:
    scene.check(deaths)
    scene.check_exports(before)
    different = list(differences(whole.ended, scene.ended()))
    assert not different, f"the resumed run differs at {'; '.join(different[:4])}"


def chosen(points: dict[str, int], every: int) -> Iterator[tuple[Point, int]]:
    """Every `every`-th point of each kind, and the last."""
    for kind in get_args(Point):
        count = points.get(kind, 0)
        yield from ((kind, number) for number in sorted({*range(1, count + 1, every), count}) if number)


class Campaign:
    """Runs the deaths of all stories, some at once, and says what came of it."""

    def __init__(self, folder: Path, stories: tuple[str, ...], at_once: int, seed: int) -> None:
        self._folder, self._stories, self._at_once, self._seed = folder, stories, at_once, seed
        self.tally = Tally()

    def run(self, every: int, randomly: int) -> Tally:
        """Enumerated deaths, then `randomly` at random moments, shared by the stories."""
        for number, story in enumerate(self._stories):
            whole = uninterrupted(Path(tempfile.mkdtemp(dir=self._folder)), story)
            before = self.tally.kills.total()
            self._all(partial(self._point, story, whole, kind, at) for kind, at in chosen(whole.points, every))
            wanted = self.tally.kills["random"] + (randomly - self.tally.kills["random"]) // (
                len(self._stories) - number
            )
            self._random(story, whole, wanted)
            print(f"{story}: killed {self.tally.kills.total() - before} times", flush=True)
        return self.tally

    def _random(self, story: str, whole: Whole, wanted: int) -> None:
        seed = self._seed
        while self.tally.kills["random"] < wanted and not self.tally.wrong:
            dice = [random.Random(f"{story} {seed + number}") for number in range(self._at_once)]
            seed += self._at_once
            self._all(partial(self._chance, story, whole, each) for each in dice)

    def _all(self, deaths: Iterator[Callable[[], None]]) -> None:
        with ThreadPoolExecutor(self._at_once) as pool:
            list(pool.map(lambda death: death(), deaths))

    def _point(self, story: str, whole: Whole, kind: Point, at: int) -> None:
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            try:
                self.tally.add(killed_at(Path(folder), story, whole, kind, at), Counter({kind: 1}))
            except AssertionError as error:
                self._wrong(f"{story}, {kind} {at} of {whole.points[kind]}: {error}")

    def _chance(self, story: str, whole: Whole, dice: random.Random) -> None:
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            try:
                scene, kills = killed_at_random(Path(folder), story, whole, dice)
                self.tally.add(scene, Counter(random=kills))
            except AssertionError as error:
                self._wrong(f"{story}, at random: {error}")

    def _wrong(self, what: str) -> None:
        self.tally.wrong.append(what)
        print(f"WRONG: {what}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill runs and see whether they go on as if nothing had happened.")
    parser.add_argument("--every", type=int, default=1, help="which points: every N-th")
    parser.add_argument("--random", type=int, default=300, help="how many deaths at random moments")
    parser.add_argument("--at-once", type=int, default=2, help="how many runs at once")
    parser.add_argument("--seed", type=int, default=7, help="which random moments")
    parser.add_argument("--story", action="append", choices=list(STORIES), help="only this story; again for more")
    asked = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="assay-crash-") as folder:
        campaign = Campaign(Path(folder), tuple(asked.story or STORIES), asked.at_once, asked.seed)
        tally = campaign.run(asked.every, asked.random)
    for kind, count in sorted(tally.kills.items()):
        print(f"  {count:5} deaths: {kind}")
    print(
        f"{tally.kills.total()} deaths of {tally.runs} runs in {time.monotonic() - began:.0f} s: {tally.served} calls "
        f"served, {tally.again} of them again; {len(tally.wrong)} wrong"
    )
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
