"""Reports and findings which a model writes badly and again badly are used all the same, and said to be."""

from __future__ import annotations

import json

import pytest
from habitual import BLEW, ROSE, STRATEGIES, found, reports, researched, writes, written
from research import Log, Sea, whole
from sampling import crossed

from assay.core import events as e
from assay.core.view import fold_events
from assay.models.script import Scene
from assay.phases.write import HALF_WRITTEN, NOT_WRITTEN
from assay.phases.writer import CUT_OFF, REPEATED

GOOD = written("[ID]")
AGAIN = f"{ROSE} and it does so again and again. [S1001.1]\n"
TABLE = "| Measured at the harbour of Brest | Height in metres |\n|:---------------------------------|---:|\n"
TABLES = "\n".join(f"### Measurements in the harbour\n\n{TABLE}| Pier {n} | {n} | [S1001.1]\n" for n in range(1, 7))


async def ran(strategy: str, *endings: Scene, first: tuple[Scene, ...] = ()) -> Log:
    one, two = found("[ID]")
    log = await Sea().run(
        [*researched(strategy, first or [reports(one)], [reports(two)]), *endings], strategy=strategy, verify=False
    )
    assert whole(log)
    return log


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_several_tables_with_one_head_are_no_loop(strategy: str) -> None:
    log = await ran(strategy, writes(f"{GOOD}\n\n{TABLES}"))
    assert len(log.of(e.ReportStarted)) == 1
    assert log.text.count("Pier") == 6
    assert not [event for event in log.of(e.Warned) if "repeated" in event.message]


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_report_which_loops_twice_is_the_report_without_the_loop(strategy: str) -> None:
    log = await ran(strategy, writes(AGAIN * 9), writes(f"{GOOD}\n\n" + AGAIN * 30))
    assert log.written == f"{GOOD}\n\n{AGAIN.strip()}"
    ended = log.last(e.ReportFinished)
    assert REPEATED in ended.limits
    assert not {NOT_WRITTEN, HALF_WRITTEN} & set(ended.limits)
    assert any("used in part" in event.message for event in log.of(e.Warned))
    assert log.last(e.RunCompleted).stop_reason == "done"
    assert fold_events(log.envelopes).report.text == log.text


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_report_cut_off_twice_is_the_report_up_to_its_last_sentence(strategy: str) -> None:
    cut = f"{GOOD}\n\nThe moon, which is"
    log = await ran(strategy, writes(cut, "length"), writes(f"{ROSE} [S1001.1]. And", "length"))
    assert log.written == GOOD  # the better of the two
    assert CUT_OFF in log.last(e.ReportFinished).limits
    assert log.last(e.RunCompleted).stop_reason == "done"


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_what_says_less_than_the_findings_is_not_the_report(strategy: str) -> None:
    log = await ran(strategy, writes("The tide", "length"), writes("It rises far. It", "length"))
    assert NOT_WRITTEN in log.last(e.ReportFinished).limits
    assert ROSE in log.text
    assert BLEW in log.text


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("refusal", ["I'm sorry, but I can't assist with that.", "抱歉，我无法提供帮助。"])
async def test_a_refusal_is_not_the_report(refusal: str, strategy: str) -> None:
    log = await ran(strategy, writes(refusal), writes(refusal))
    assert NOT_WRITTEN in log.last(e.ReportFinished).limits
    assert ROSE in log.text
    assert BLEW in log.text
    again = await ran(strategy, writes(refusal), writes(GOOD))
    assert again.last(e.RunCompleted).stop_reason == "done"
    assert again.text == (await ran(strategy, writes(GOOD))).text


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_report_that_cites_nothing_but_says_what_was_found_is_one(strategy: str) -> None:
    log = await ran(strategy, writes(f"{ROSE}.\n\n{BLEW}."))
    assert NOT_WRITTEN not in log.last(e.ReportFinished).limits
    assert [claim.text for claim in fold_events(log.envelopes).claims] == [f"{ROSE}.", f"{BLEW}."]


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_findings_cut_off_twice_are_used_as_far_as_they_cite(strategy: str) -> None:
    one, _ = found("[ID]")
    log = await ran(strategy, writes(GOOD), first=(reports(f"{one} And", "length"), reports("The", "length")))
    texts = {event.lane: event.text for event in log.of(e.FindingAdded)}
    assert texts[1] == one
    assert any("findings were used in part" in event.message for event in log.of(e.Warned))


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_plan_in_any_fence_is_read_and_never_shown_in_it(strategy: str) -> None:
    one, two = found("[ID]")
    plan = '~~~json\n{"title": "Brest", "steps": [{"title": "Tide at Brest"}, {"title": "Winds of the mistral"}]}\n~~~'
    script = researched(strategy, [reports(one)], [reports(two)], plan=f"Here is the plan:\n{plan}")
    log = await Sea().run([*script, writes(GOOD)], strategy=strategy)
    assert [step.title for step in log.last(e.PlanChanged).plan.steps] == ["Tide at Brest", "Winds of the mistral"]
    assert "~~~" not in "".join(event.text for event in log.of(e.PlanDelta))


AROUND: dict[str, str] = {
    "announced": f"Certainly! Here is the report:\n\n{GOOD}\n\nLet me know if you would like more!",
    "JSON": json.dumps({"report": GOOD}),
    "JSON in a fence": f"```json\n{json.dumps({'report': GOOD})}\n```",
    "again": f"{GOOD}\n\n{GOOD}",
    "references": f"{GOOD}\n\n## References\n\n- S1001.1: tides.md\n- S2001.1: winds.md",
    "footnotes": written("[^ID]").replace("S1001.1", "1").replace("S2001.1", "2")
    + "\n\n[^1]: S1001.1 tides.md\n[^2]: S2001.1",
}
"""What models put around a report."""


@pytest.mark.parametrize(("around", "strategy"), crossed(AROUND, STRATEGIES))
async def test_what_stands_around_a_report_is_not_the_report(around: str, strategy: str) -> None:
    one, two = (reports(text) for text in found("[ID]"))
    plain, log = [
        await Sea().run([*researched(strategy, [one], [two]), writes(text)], strategy=strategy)
        for text in (GOOD, AROUND[around])
    ]
    assert whole(log)
    assert log.text == plain.text
    assert len(log.of(e.ReportStarted)) == 1
    claims = fold_events(log.envelopes).claims
    assert {claim.text.rstrip("."): claim.verdict for claim in claims} == {ROSE: "quoted", BLEW: "quoted"}
    assert log.last(e.ReportFinished).limits == plain.last(e.ReportFinished).limits


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_numbers_of_rows_are_no_facts(strategy: str) -> None:
    one, two = found("[ID]")
    rows = "".join(
        f"| {number} | {text} |\n" for number, text in enumerate((one, "It rises nine metres. [S1001.1]", two), 1)
    )
    table = f"| # | Finding |\n|---|---|\n{rows}"
    log = await Sea().run([*researched(strategy, [reports(one)], [reports(two)]), writes(table)], strategy=strategy)
    assert [claim.verdict for claim in fold_events(log.envelopes).claims] == ["quoted", "quoted"]
    assert log.text.partition("\n\n")[0] == table.replace("| 2 | It rises nine metres. [S1001.1] |\n", "").strip()
