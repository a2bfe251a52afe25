"""A real process killed with a real signal, wherever it may die: the run goes on and comes to the same.

A sample of the campaign; the whole of it is `make crash`.
"""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest
from campaign import Campaign, Tally, Whole, killed_at, killed_at_random, uninterrupted
from crash_scene import Scene

AGAIN_AT = 20
"""A store write in the middle of a run."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    return uninterrupted(tmp_path_factory.mktemp("whole"), "reflective, repaired")


@pytest.mark.parametrize("kind", ["asked", "streamed", "searched", "exported"])
def test_killed_inside_a_call_or_an_export(kind: str, tmp_path: Path, whole: Whole) -> None:
    last = whole.points[kind]
    killed_at(tmp_path, "reflective, repaired", whole, kind, 1 + last // 2)  # type: ignore[arg-type]


def test_killed_between_two_stored_facts(tmp_path: Path, whole: Whole) -> None:
    """Just before a store write and just after one, while verifying and repairing too."""
    for number in (1, AGAIN_AT, whole.points["write"] - 9):
        killed_at(tmp_path / str(number), "reflective, repaired", whole, "write", number)


def test_killed_at_random_moments_again_and_again(tmp_path: Path, whole: Whole) -> None:
    _, kills = killed_at_random(tmp_path, "reflective, repaired", whole, random.Random(7))
    assert kills


@pytest.mark.campaign
@pytest.mark.parametrize("story", ["orchestrated", "orchestrated, repaired"])
def test_killed_all_over_a_run(story: str, tmp_path: Path) -> None:
    """Beside the other strategy, which is killed above."""
    tally = Campaign(tmp_path, (story,), at_once=1, seed=7).run(every=90, randomly=1)
    assert tally.wrong == []
    assert tally.kills.keys() == {"write", "asked", "streamed", "searched", "exported", "random"}


def test_what_was_not_paid_for_is_seen(tmp_path: Path) -> None:
    """The checks of the campaign can fail: an account which says less than the server has served is noticed."""
    scene = Scene(tmp_path, "reflective, repaired")
    assert not scene.finish(scene.start(kind="streamed", at=9))
    scene.recover()
    scene.check(deaths=1)
    with sqlite3.connect(next(scene.home.glob("*.db"))) as database:
        repeated = max(scene.again(), key=lambda each: each.worst.tokens)
        key = database.execute("SELECT key FROM steps WHERE input_hash = ?", (repeated.request,)).fetchone()[0]
        paid = f'{{"model_calls": 1, "input_tokens": {repeated.spent.input_tokens}}}'
        database.execute("UPDATE holds SET amount = ? WHERE step = ?", (paid, key))
    with pytest.raises(AssertionError, match="charged"):
        scene.check(deaths=1)


def test_a_tally_counts_what_was_asked_again(tmp_path: Path, whole: Whole) -> None:
    scene = killed_at(tmp_path, "reflective, repaired", whole, "asked", 3)
    tally = Tally()
    tally.add(scene, tally.kills)
    assert (tally.runs, tally.again) == (1, len(scene.again()))
    assert tally.again >= 1
