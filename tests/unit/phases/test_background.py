"""What the planner is shown of a first look."""

from __future__ import annotations

from assay.agents.history import CallResult
from assay.phases.background import results_for_planner


def result(id: str, *blocks: str) -> CallResult:
    return CallResult(call_id=id, text="\n\n".join(blocks), shorten=lambda: ("", ""), gist=lambda: blocks[0])


def test_a_source_that_two_queries_find_with_the_same_passages_is_shown_once() -> None:
    tides, moon, other = (
        "## S1 Tides\n[S1.1] It rises.",
        "## S2 Moon\n[S2.1] It pulls.",
        "## S1 Tides\n[S1.2] It falls.",
    )
    results = [result("a", tides, moon), result("b", moon, other, tides)]
    assert results_for_planner(results, 1_000) == "\n\n".join((tides, moon, other))
    assert results_for_planner(results, 1) == "\n\n".join((tides, moon))
