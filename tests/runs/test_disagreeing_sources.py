"""Whole runs over sources which disagree, copy one another, or do not carry what was written of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from research import PLAN, Sea, agent, planned, report_wanted, sends, whole

from assay import Assay
from assay.core import events as e
from assay.core.brief import Section
from assay.core.report import build_report
from assay.core.view import fold_events
from assay.models.script import Scene, says

STEP = '{"title": "Brest", "steps": [{"title": "Height of the Signal Tower"}]}'
TASK = "Find how tall the Signal Tower is"
GUIDE = "# Tower guide\n\nThe Signal Tower in Brest is 330 metres tall. It was painted red by twelve painters.\n"
CITY = "# City page\n\nVisitors come from all of Brittany. The Signal Tower in Brest is 324 metres tall.\n"
TALL = "The Signal Tower in Brest is 330 metres tall. [S1001.1]"
RELEASE = (
    "# {title}\n\n{lead}\n\nThe Signal Tower in Brest is closed for repairs from the first of March until the end of "
    "June, the harbour master said on Monday, and ferries leave from the southern quay in that time of the year.\n\n"
    "The works cost the town and the region a great deal of money, of which visitors pay a third with their tickets, "
    "and forty people of the neighbourhood find work in them until the summer begins.\n"
)
LEADS = {"One": "Brest loses its light this spring.", "Two": "Bad news for those who like a view."}
OWN = "# Diary\n\nI stood before the Signal Tower in Brest today. A paper on its door says it is closed for repairs.\n"


def script(report: str, finding: str = TALL, plan: str = STEP) -> list[Scene]:
    return [
        *planned(plan),
        sends(TASK),
        *agent(TASK, "Signal Tower Brest tall metres painted closed", finding),
        report_wanted(),
        says(report, task="write"),
    ]


async def test_both_values_stand_in_the_report_though_only_one_was_cited() -> None:
    log = await Sea({"guide.md": GUIDE, "city.md": CITY}).run(script(TALL))
    assert whole(log)
    [conflict] = log.of(e.ConflictFound)
    assert [side.value for side in conflict.sides] == ["330 metres", "324 metres"]
    assert {passage.id for passage in conflict.passages} == {side.passage for side in conflict.sides}
    assert (
        "## Where sources disagree\n\n330 metres (Tower guide, no date) or 324 metres (City page, no date):" in log.text
    )
    checked = log.of(e.ClaimChecked)
    assert [(check.rule, check.verdict) for check in checked] == [("verbatim", "quoted")] * 2
    assert log.last(e.VerifySummary).passed


async def test_the_report_is_dated_by_the_source_which_only_disagrees_too() -> None:
    city = CITY.replace("\n\n", "\n\nPublished: 12 March 2024\n\n", 1)
    log = await Sea({"guide.md": GUIDE, "city.md": city}).run(script(TALL))
    assert whole(log)
    assert "330 metres (Tower guide, no date) or 324 metres (City page, 2024-03-12):" in log.text
    assert log.text.count("As of ") == 1
    assert "*As of 2024-03-12, the date of the newest source cited.*" in log.text


async def test_the_report_as_data_has_the_conflict_and_its_passages() -> None:
    log = await Sea({"guide.md": GUIDE, "city.md": CITY}).run(script(TALL))
    report = build_report(fold_events(log.envelopes))
    [conflict] = report.conflicts
    assert (conflict.subject, len(conflict.sides)) == ("Signal Tower Brest", 2)
    assert set(conflict.passages) <= {passage.id for passage in (*report.passages, *report.further)}
    assert [claim.independent for claim in report.claims] == [1, 1]


async def test_a_text_with_a_form_of_its_own_stays_as_it_is() -> None:
    sea = Sea({"guide.md": GUIDE, "city.md": CITY})
    log = await sea.run(script(f"## Height\n\n{TALL}"), template=(Section(title="Height", level=2),))
    assert "disagree" not in log.text
    text = "Sources disagree: 330 metres (Tower guide, no date) or 324 metres (City page, no date)."
    assert text in log.last(e.ReportFinished).limits


@pytest.mark.parametrize("off", ["verify", "compare"])
async def test_what_is_switched_off_compares_nothing(off: str) -> None:
    log = await Sea({"guide.md": GUIDE, "city.md": CITY}).run(script(TALL), **{off: False})
    assert not log.of(e.ConflictFound)
    assert "disagree" not in log.text


async def test_sources_of_one_mind_are_no_conflict() -> None:
    log = await Sea({"guide.md": GUIDE, "city.md": CITY.replace("324", "330")}).run(script(TALL))
    assert not log.of(e.ConflictFound)
    assert "disagree" not in log.text


async def test_the_built_in_model_over_two_documents_which_disagree(tmp_path: Path) -> None:
    for name, text in (("guide.md", GUIDE), ("city.md", CITY)):
        (tmp_path / name).write_text(text)
    async with Assay() as assay:
        view = await assay.start("How tall is the Signal Tower in Brest?", sources=[tmp_path]).view()
    assert len(view.conflicts) == 1
    assert "324 metres" in view.report.text
    assert "330 metres" in view.report.text
    assert view.gate is not None
    assert view.gate.passed
    assert view.summary.grounded_count == view.summary.claims


async def test_a_report_that_answers_nothing_says_nothing_of_a_disagreement(tmp_path: Path) -> None:
    for name, text in (("guide.md", GUIDE), ("city.md", CITY)):
        (tmp_path / name).write_text(text)
    async with Assay() as assay:
        view = await assay.start("Who is the mayor of Brest?", sources=[tmp_path]).view()
    assert view.stop_reason == "no_evidence"
    assert "metres tall" in view.report.text  # among the closest passages
    assert (view.conflicts, "disagree" in view.report.text) == ((), False)


async def test_pages_which_copy_one_release_count_as_one_source() -> None:
    pages = {f"{name}.md": RELEASE.format(title=name, lead=lead) for name, lead in LEADS.items()}
    closed = "The Signal Tower is closed for repairs. [S1001.2, S1002.2, S1003.1]"
    found = "The Signal Tower is closed for repairs. [S1001.2, S1002.2, S1003.1]"
    log = await Sea({**pages, "own.md": OWN}).run(script(closed, found), repair=False)
    [event] = log.of(e.CopiesFound)
    assert [len(group) for group in event.groups] == [2]
    report = build_report(fold_events(log.envelopes))
    [claim] = report.claims
    assert (len(claim.citations), claim.independent) == (3, 2)
    assert any("copy one another and count as one source" in limit for limit in report.limits)


async def test_coverage_is_assessed_again_by_what_the_report_states() -> None:
    log = await Sea().run(
        [
            *planned(PLAN),
            sends("Find how far the tide rises at Brest", "Find where the winds of the mistral blow from"),
            *agent("tide rises", "tide Brest", "The tide at Brest rises seven metres. [S1001.1]"),
            *agent("mistral", "mistral", "The mistral blows from the north-west. [S2001.1]"),
            report_wanted(),
            says(
                "The tide at Brest rises seven metres. [S1001.1]\n\n"
                "The mistral blows from the south-east at 90 knots. [S2001.1]",
                task="write",
            ),
        ],
        repairs_off=("recite", "narrow", "retrieve"),
    )
    assert whole(log)
    before, after = log.of(e.CoverageAssessed)
    assert (before.when, after.when) == ("before", "after")
    assert [each.status for each in before.coverage] == ["answered", "answered", "answered"]
    assert [each.status for each in after.coverage] == ["partly", "answered", "not"]
    assert log.text.endswith("## What could not be found\n\n- Winds of the mistral")
    assert "knots" not in log.text
    report = build_report(fold_events(log.envelopes))
    assert [each.status for each in report.coverage] == ["partly", "answered", "not"]
    assert [claim.text for claim in report.claims] == ["The tide at Brest rises seven metres."]
