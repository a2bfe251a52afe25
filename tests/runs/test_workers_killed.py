"""Workers over one database, one of them killed with a real signal: every run comes to the same, with whomever.

A sample of the campaign; the whole of it is `python tests/runs/campaign_workers.py`.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from campaign_workers import RUNS, killed_at, killed_at_random, uninterrupted
from crashing_workers import Workers

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(sys.platform == "win32", reason="signals between processes"),
]

STORY = "reflective, repaired"


@pytest.fixture
def workers(tmp_path: Path, new_database: Callable[[], str]) -> Iterator[Workers]:
    made = Workers(tmp_path, STORY, new_database())
    yield made
    made.close()


def test_a_worker_killed_at_a_point_or_at_any_moment(workers: Workers) -> None:
    whole = uninterrupted(workers)
    (run,) = killed_at(workers, whole, "streamed", whole.points["streamed"] // 2)
    assert run.taken_over() == 1
    runs, kills = killed_at_random(workers, whole, random.Random(7))
    assert kills
    assert len(runs) == RUNS
