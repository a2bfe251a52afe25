"""Whole runs with weak models: what they copy, repeat or make up costs no report, and is in none."""

from __future__ import annotations

import habits
import pytest
from sampling import crossed
from weak_habits import WEAK

from assay.cli.terminal import Exit

STUBBORN = ("finds nothing", "opens what is not there", "copies plans")
"""It says twice that nothing is there, reads the wrong document, or has no plan but the question: less is found."""


@pytest.mark.parametrize(
    ("weak", "strategy"), crossed([weak for weak in WEAK if weak not in STUBBORN], ("orchestrated", "reflective"))
)
async def test_a_weak_model_loses_no_report(weak: str, strategy: str) -> None:
    ended = await habits.played(0, strategy, plain=True, weak=weak)
    assert ended.wrong in ((), (f"exit {int(Exit.LIMIT)}",))  # its sentences, or the findings as code composes them


@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
async def test_the_examples_of_a_prompt_are_no_plan(strategy: str) -> None:
    ended = await habits.played(0, strategy, plain=True, weak="copies plans")
    assert "lost report" not in ended.wrong
    assert "false: nothing was found" not in ended.wrong
