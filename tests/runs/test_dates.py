"""Of when an answer is: said by every mode, by code, on the log as the reader of the stream has it."""

from __future__ import annotations

import json

import pytest
from research import ROSE, Sea, call, whole

from assay.core import events as e
from assay.core.messages import Reply
from assay.models.script import Scene, calls, says
from assay.phases.without_plan import UNSOURCED

TODAY = "*As of 2026-01-01, the day of this research: no source cited states a date.*"


def queries() -> Scene:
    return Scene(answer=Reply(calls=(call("search", query="tide Brest"),), stop="calls"), task="background")


@pytest.mark.parametrize("mode", ["simple", "web_search"])
async def test_an_answer_at_once_has_its_date_below_it(mode: str) -> None:
    look = [queries()] if mode == "web_search" else []
    log = await Sea().run([*look, says("Seven metres. [S1.1]", task="answer")], mode=mode)
    assert log.text.endswith(f"Seven metres. [S1.1]\n\n{TODAY}")
    assert log.last(e.VerifySummary).summary.claims == 1
    assert whole(log)


async def test_what_rests_on_no_sources_has_no_date_of_theirs() -> None:
    log = await Sea().run([says("Seven metres, I think.", task="answer")], mode="simple")
    assert log.text == f"*{UNSOURCED}*\n\nSeven metres, I think."
    greeted = await Sea().run([calls(("answer", {"text": "Hello."}), task="triage")])
    assert greeted.text == "Hello."
    assert whole(greeted)


async def test_an_answer_of_sections_has_it_before_the_first() -> None:
    log = await Sea().run([says(f"{ROSE} [S1.1]\n\n## More\n\n{ROSE} [S1.1]", task="answer")], mode="simple")
    assert f"[S1.1]\n\n{TODAY}\n\n## More" in log.text
    assert log.of(e.ReportRevised)
    assert whole(log)


async def test_no_model_no_answer_but_a_date() -> None:
    log = await Sea().run([says("", task="answer")], mode="simple")
    assert TODAY in log.text
    assert whole(log)


async def test_filled_fields_have_it_above_what_is_missing() -> None:
    schema = {"type": "object", "properties": {"rise": {"type": "integer"}}}
    given = {"subject": "Brest", "rise": {"value": None, "passages": [], "reason": "not said"}}
    log = await Sea().run(
        [
            calls(("generate_plan", {"complexity": "simple"}), task="triage"),
            queries(),
            says('{"title": "Brest", "steps": [{"title": "Tide at Brest"}]}', task="plan"),
            calls(("research_agent", {"task": "Tide at Brest", "step": 1}), task="orchestrate", turn=0),
            calls(("search", {"query": "tide Brest"}), task="research", turn=0),
            says("done", task="research", turn=1),
            says(f"{ROSE} [S1001.1]", task="find"),
            calls(("generate_report", {}), task="orchestrate", turn=1),
            calls(("fill_fields", given), task="fill"),
        ],
        schema=json.dumps(schema),
    )
    assert log.text.startswith(f"{TODAY}\n\n## What could not be found")
    assert whole(log)


async def test_an_annual_report_without_a_date_is_of_its_year() -> None:
    report = {"report.md": "# Annual report 2024\n\nThe tide at Brest rises seven metres.\n"}
    log = await Sea(report).run([queries(), says("Seven metres. [S1.1]", task="answer")], mode="web_search")
    assert log.text.endswith("\n\n*As of 2024, the date of the newest source cited.*")
    assert whole(log)
