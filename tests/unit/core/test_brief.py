"""How far each strategy goes at each depth."""

from __future__ import annotations

import pytest

from assay.core.depths import DepthRules, SetDepth, depths_of


@pytest.mark.parametrize(
    ("depth", "seconds", "steps", "calls", "queries", "pages"),
    [("light", 120, (1, 3), 0, 2, 3), ("medium", 600, (3, 6), 12, 0, 0), ("extended", 1800, (5, 10), 40, 0, 0)],
)
def test_reflective(
    depth: SetDepth, seconds: int, steps: tuple[int, int], calls: int, queries: int, pages: int
) -> None:
    rules = depths_of("reflective")[depth]
    assert (rules.seconds, (rules.min_steps, rules.max_steps)) == (seconds, steps)
    assert (rules.calls, rules.queries, rules.pages) == (calls, queries, pages)
    assert (rules.agents_at_once, rules.cycles) == (1, rules.max_steps + 1)
    assert rules.agent_turns >= calls


@pytest.mark.parametrize("strategy", ["orchestrated", "somebody's own"])
@pytest.mark.parametrize(
    ("depth", "numbers"),
    [("light", (120, 1, 3, 2, 2, 3)), ("medium", (600, 3, 6, 4, 3, 6)), ("extended", (1800, 5, 6, 8, 3, 8))],
)
def test_orchestrated(strategy: str, depth: SetDepth, numbers: tuple[int, ...]) -> None:
    seconds, least, most, cycles, at_once, turns = numbers
    words = {"light": 300, "medium": 900, "extended": 2_000}[depth]
    assert depths_of(strategy)[depth] == DepthRules(
        seconds=seconds,
        min_steps=least,
        max_steps=most,
        cycles=cycles,
        agents_at_once=at_once,
        agent_turns=turns,
        words=words,
        reasoning_cycles=4,
    )
