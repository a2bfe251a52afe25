"""An estimate in words, and beside what a run really cost."""

from __future__ import annotations

import logs
import msgspec
import pytest

from assay.cli.figures import cost, describe_estimate, describe_expected_cost, format_dollars
from assay.cli.runs.lists import run_lines
from assay.core.brief import Estimate, Span
from assay.core.view import RunView, fold_events

GUESS = Estimate(calls=Span(8, 30), tokens=Span(20_000, 200_000), seconds=Span(10, 120), usd=Span(0.004, 0.09))


def test_ranges_are_told_with_what_they_rest_on() -> None:
    assert describe_estimate(GUESS) == (
        "8 to 30 model calls, 20k to 200k tokens, $0.0040 to $0.09, 0:10 to 2:00 (by the rules of its depth)"
    )
    before = msgspec.structs.replace(GUESS, calls=Span(9, 9), usd=Span(0, 0), basis="runs", runs=4)
    assert describe_estimate(before) == "9 model calls, 20k to 200k tokens, $0, 0:10 to 2:00 (by 4 runs like it)"
    assert "cost unknown" in describe_estimate(msgspec.structs.replace(GUESS, usd=None))


@pytest.mark.parametrize(("usd", "text"), [(0.0, "$0.00"), (0.0001, "$0.0001"), (0.01, "$0.01"), (12.5, "$12.50")])
def test_small_amounts_have_more_places(usd: float, text: str) -> None:
    assert format_dollars(usd) == text


def with_estimate(guess: Estimate | None) -> RunView:
    view = fold_events(logs.two_agents().events)
    assert view.brief is not None
    return msgspec.structs.replace(view, brief=msgspec.structs.replace(view.brief, estimate=guess))


def test_a_run_is_shown_beside_what_it_was_thought_to_take() -> None:
    assert cost(with_estimate(GUESS)).endswith(" (estimated $0.0040 to $0.09)")
    assert f"  estimated at its start: {describe_estimate(GUESS)}" in list(run_lines(with_estimate(GUESS)))
    free = msgspec.structs.replace(GUESS, usd=Span(0, 0))
    assert cost(with_estimate(free)) == cost(with_estimate(None))
    assert describe_expected_cost(None) == ""
