"""How much of what can be varied `make test` tries; `make fuzz` (examples) and `make crash` (`campaign`) try all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

USUAL = 40
"""What the numbers of `scaled` are read by: a property that is given twice as many gets twice as many."""
EXAMPLES = int(os.environ.get("ASSAY_TEST_EXAMPLES", "10"))
"""Of a property which names no number. They are the same every time: more of them in each build would find the same."""


def scaled(examples: int) -> int:
    """How many examples a property gets which is given so many where others are given 40."""
    return max(2, examples * EXAMPLES // USUAL)


def crossed(one: Iterable[Any], other: Sequence[Any]) -> list[Any]:
    """Pairs for `parametrize`: each of `one` with one of `other` in turn; with all others in campaigns alone."""
    return [
        pytest.param(each, with_, marks=() if place % len(other) == turn else pytest.mark.campaign)
        for place, each in enumerate(one)
        for turn, with_ in enumerate(other)
    ]


def sampled(values: Iterable[Any], every: int) -> list[Any]:
    """Values for `parametrize`: the first, and every so many after it; the others in campaigns alone."""
    return [
        pytest.param(each, marks=() if place % every == 0 else pytest.mark.campaign)
        for place, each in enumerate(values)
    ]
