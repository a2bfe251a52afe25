"""Small promises of whole runs: a plan streams as steps, a query is asked once, a greeting gets a greeting."""

from __future__ import annotations

import pytest
from research import ONE_STEP, PLAN, ROSE, TIDE, Log, Sea, agent, calls, first_agent, planned, report_wanted, sends

from assay.core import events as e
from assay.core.view import fold_events
from assay.models.script import Scene, fails, says
from assay.phases.without_plan import UNSOURCED
from assay.tools.search import normalize_query

WRITTEN = says("Seven. [S1001.1]", task="write")


async def test_a_plan_streams_as_steps() -> None:
    log = await Sea().run([*planned(), sends(TIDE), *first_agent(), *second(), report_wanted(), WRITTEN])
    streamed = "".join(event.text for event in log.of(e.PlanDelta))
    assert streamed == "1. Tide at Brest\n2. Winds of the mistral\n"
    assert fold_events(log.envelopes).plan_text == streamed


async def test_a_plan_whose_stream_was_cut_streams_from_its_first_step_again() -> None:
    cut = fails("overloaded", retry_after=0.0, task="plan", partial=PLAN[:150])
    script = [*planned()[:2], cut, says(PLAN, task="plan"), sends(TIDE), *first_agent(), *second(), report_wanted()]
    log = await Sea().run([*script, WRITTEN])
    assert fold_events(log.envelopes).plan_text == "1. Tide at Brest\n2. Winds of the mistral\n"


def second() -> list[Scene]:
    """The step nobody was sent for is made up for by coverage."""
    return agent("Winds of the mistral\nWhere it blows from", "mistral", "It blows. [S2001.1]")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("tide Brest", "Brest TIDE", True),
        ("tide  brest", "tide Brest", True),
        ('"tide at Brest"', '"Brest at tide"', False),
        ("tide Brest", "tide Brest 2020", False),
    ],
)
def test_queries_which_ask_the_same(one: str, other: str, same: bool) -> None:
    assert (normalize_query(one) == normalize_query(other)) is same


async def test_a_query_in_another_case_and_order_is_asked_once() -> None:
    sea = Sea()
    twice = [
        calls(("search", {"query": "tide BREST"}), ("search", {"query": "Brest Tide"}), task="research", turn=0),
        says("done", task="research", turn=1),
        says(ROSE, task="find"),
    ]
    log = await sea.run([*planned(ONE_STEP), sends(TIDE), *twice, report_wanted(), WRITTEN])
    assert len(sea.search.queries) == 1  # type: ignore[attr-defined]
    assert [event.shared for event in log.of(e.SearchPerformed)].count(False) == 1
    assert log.of(e.ToolFailed) == []


async def test_a_call_without_its_reasoning_is_read_all_the_same() -> None:
    log = await Sea().run([*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted(), WRITTEN])
    assert log.last(e.TriageClassified).depth == "light"
    assert log.of(e.Warned) == []


@pytest.mark.parametrize("greeting", ["Hello! How can I help?", "You are welcome."])
async def test_a_greeting_gets_a_greeting(greeting: str) -> None:
    log: Log = await Sea().run([calls(("answer", {"text": greeting}), task="triage")], question="Hi there, thanks!")
    assert log.text == greeting
    assert UNSOURCED not in log.text
    assert not any("sources" in limit for limit in log.last(e.ReportFinished).limits)
    assert log.last(e.RunCompleted).stop_reason == "done"
