"""Whole runs whose writer lies, with repair: nothing false leaves as supported, and what is repaired is told."""

from __future__ import annotations

import pytest
from repair_runs import FOUND, LIES, run, view_of

from assay.core import events as e


@pytest.mark.parametrize("lie", LIES)
async def test_a_lie_is_taken_out_and_the_truth_stays(lie: str) -> None:
    log = await run(f"{FOUND}\n\n## More\n\n{lie}")
    view = view_of(log)
    assert log.written == FOUND
    assert [(claim.id, claim.verdict) for claim in view.claims] == [("c1", "quoted")]
    (gone,) = view.removed
    assert gone.id == "c2"
    assert gone.verdict in {"unsupported", "contradicted"}
    assert gone.text in lie
    assert view.report.limits[-1] == "Verification changed the report as it was written: 1 sentence taken out."


async def test_a_wrong_citation_is_put_right_and_keeps_its_id() -> None:
    log = await run(
        "Trade fell. [S1001.3] The northern harbour of Brest employs 400 people. [S1001.3] It did. [S1001.3]"
    )
    view = view_of(log)
    claim = next(claim for claim in view.claims if "400" in claim.text)
    assert (claim.id, claim.passages, claim.verdict) == ("c2", ("S1001.1",), "quoted")
    (before,) = view.versions["c2"]
    assert (before.passages, before.verdict) == (("S1001.3",), "unsupported")
    assert "400 people. [S1001.1] It did" in log.text
    assert [check.rule for check in view.checks["c2"]] == ["verbatim"]


async def test_a_sentence_which_cites_nothing_gets_its_passage() -> None:
    log = await run("The northern harbour of Brest employs 400 people.")
    assert log.written == FOUND
    assert view_of(log).claims[0].verdict == "quoted"


async def test_whole_documents_are_mined_not_only_what_was_shown() -> None:
    line = "Pier 57 of the old port was built by the Tanguy family in 1757."
    log = await run(f"{FOUND}\n\n{line} [S1001.1]", repairs_off=("retrieve",))
    view = view_of(log)
    shown = {each.text for event in log.of(e.FindingAdded) for each in event.passages}
    assert line not in shown
    assert view.claims[1].verdict == "quoted"
    assert view.passages[view.claims[1].passages[0]].text == line
    assert view.versions["c2"][0].passages == ("S1001.1",)


async def test_nothing_left_is_said_and_ends_like_no_evidence() -> None:
    log = await run(LIES[0])
    view = view_of(log)
    assert view.claims == ()
    assert log.text.startswith("Nothing that answers this question was found in a form its sources support")
    assert view.stop_reason == "no_evidence"


async def test_without_repair_lies_stay_with_their_verdicts() -> None:
    for changes in ({"repair": False}, {"repairs_off": ("recite", "narrow", "retrieve", "remove")}):
        log = await run(LIES[0], **changes)
        assert log.written == LIES[0]
        assert view_of(log).claims[0].verdict == "contradicted"


async def test_a_table_loses_its_false_row_alone() -> None:
    table = (
        "| harbour | people |\n|---|---|\n| northern harbour of Brest | 400 people [S1001.1] |\n"
        "| northern harbour | fell by 15 percent [S1001.3] |"
    )
    log = await run(f"{FOUND}\n\n{table}", repairs_off=("recite", "narrow", "retrieve"))
    assert "15 percent" not in log.text
    assert "| northern harbour of Brest | 400 people [S1001.1] |" in log.text
    view_of(log)


async def test_a_row_keeps_the_cells_which_hold() -> None:
    table = (
        "| harbour | employs | trade fell by |\n|---|---|---|\n"
        "| northern harbour of Brest | 400 people [S1001.1] | 15 percent [S1001.3] |\n"
        "| southern harbour | 900 people [S1001.1] | |"
    )
    log = await run(f"{FOUND}\n\n{table}", repairs_off=("recite", "retrieve"))
    assert "| northern harbour of Brest | 400 people [S1001.1] | — [S1001.3] |" in log.text
    assert "900" not in log.text  # nothing would be left of that row
    [revised] = log.of(e.ClaimRevised)
    assert revised.why.startswith("left empty under trade fell by; it was ")
    claim = next(claim for claim in view_of(log).claims if claim.id == revised.id)
    assert claim.verdict in ("supported", "unchecked")
    assert log.text[claim.start : claim.end].startswith("northern harbour of Brest | 400 people")
    assert any("1 table row left with empty cells" in limit for limit in view_of(log).report.limits)
