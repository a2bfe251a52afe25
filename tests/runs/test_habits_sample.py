"""A sample of `python -m bench habits`: whole runs on a service which has another habit at each call."""

from __future__ import annotations

import habits
import pytest
from sampling import crossed

STRATEGIES = ("orchestrated", "reflective")


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_without_habits_nothing_goes_wrong(strategy: str) -> None:
    ended = await habits.played(0, strategy, plain=True)
    assert (ended.wrong, sum(ended.habits.values())) == ((), 0)


@pytest.mark.parametrize(("seed", "strategy"), crossed(range(5), STRATEGIES))
async def test_a_service_with_habits_is_one_like_others(seed: int, strategy: str) -> None:
    ended = await habits.played(seed, strategy)
    assert ended.wrong == (), dict(ended.habits)
    assert sum(ended.habits.values()) > 8
