"""A price nobody knows is said to be unknown, and a small size is not shown as nothing."""

from __future__ import annotations

import logs
import msgspec
import pytest

from assay.cli.figures import cost, describe_cost, format_cost, format_size
from assay.cli.runs.lists import run_lines
from assay.core.report import build_report
from assay.core.usage import Usage
from assay.core.view import Spending, fold_events


@pytest.mark.parametrize(
    ("usage", "short", "words"),
    [
        (Usage(), "", ""),
        (Usage(model_calls=2, usd=0.5), "$0.5000", "$0.5000"),
        (Usage(model_calls=1, unpriced_calls=1), "$?", "cost unknown: 1 call without a known price"),
        (Usage(usd=0.5, unpriced_calls=3), "$0.5000+", "$0.5000 and 3 calls without a known price"),
    ],
)
def test_what_is_known_of_a_price(usage: Usage, short: str, words: str) -> None:
    assert (format_cost(usage), describe_cost(usage)) == (short, words)


def test_the_summary_the_outline_and_the_report_say_so() -> None:
    view = fold_events(logs.two_agents().events)
    unknown = Usage(model_calls=6, unpriced_calls=6)
    view = msgspec.structs.replace(view, usage=Spending(total=unknown, by_role={"simple": unknown}))
    assert "cost unknown: 6 calls without a known price" in cost(view)
    assert any("cost unknown: 6 calls" in line for line in run_lines(view))
    usage = build_report(view).usage
    assert (usage.unpriced_calls, usage.by_role["simple"].unpriced_calls) == (6, 6)


def test_a_report_says_what_each_agent_spent() -> None:
    view = fold_events(logs.two_agents().events)
    report = build_report(view)
    assert report.usage.by_lane == {str(lane.lane): lane.usage for lane in view.lanes}
    assert all(spent.model_calls for spent in report.usage.by_lane.values())


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1_000, "1.0 kB"),
        (9_940, "9.9 kB"),
        (9_990, "10 kB"),
        (48_200, "48 kB"),
        (999_499, "999 kB"),
        (999_600, "1.0 MB"),
        (1_204_000_000, "1,204 MB"),
    ],
)
def test_a_small_size_is_not_shown_as_nothing(count: int, words: str) -> None:
    assert format_size(count) == words
