"""The reflective strategy with the built-in model, over real files: no script."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import msgspec
import pytest
import warm

from assay.app.assay import Assay
from assay.core.brief import SetDepth
from assay.core.events import Envelope, ReflectDecided, decode
from assay.core.report import Report
from assay.phases.reflective import reflect

DOCS = Path(__file__).parents[2] / "docs"
NOTES = {
    "harbor.md": "# Harbor report\n\nThe Harbor report was written by Ada Byron in 1843.\n",
    "bridge.md": "# Bridge\n\nThe bridge at Sandmouth was opened in 1851. It is 120 metres long.\n",
    "mill.md": "# Mill\n\nThe mill of Aru ground corn until 1902.\n",
}
BOTH = "Who wrote the Harbor report? When was the bridge at Sandmouth opened?"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    for name, text in NOTES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


async def researched(question: str, sources: Path, depth: SetDepth) -> tuple[Report, list[Envelope]]:
    async with Assay(home=None) as assay:
        assay._context.pipeline_parts = msgspec.structs.replace(
            assay._context.pipeline_parts, strategies={"reflective": reflect}
        )
        run = assay.start(question, sources=[sources], strategy="reflective", depth=depth)
        envelopes = [envelope async for envelope in run]
        return await run.report(), envelopes


def decided(envelopes: list[Envelope]) -> list[str]:
    events = map(decode, envelopes)
    return [event.decision for event in events if isinstance(event, ReflectDecided)]


@pytest.mark.parametrize("depth", get_args(SetDepth))
async def test_each_part_is_a_step_and_answered(notes: Path, depth: SetDepth) -> None:
    report, envelopes = await researched(BOTH, notes, depth)
    opening = report.markdown.partition("##")[0]
    assert "Ada Byron" in opening
    assert "1851" in opening
    assert decided(envelopes) == ["continue", "complete"]
    assert report.summary.claims == report.summary.grounded_count > 0


async def test_a_step_that_finds_nothing_is_tried_again_with_other_terms(notes: Path) -> None:
    report, envelopes = await researched("Who wrote the Harbor report? What is RFC 7777 about?", notes, "light")
    assert "adjust" in decided(envelopes)
    assert report.plan is not None
    assert report.plan.iteration == 2
    assert [step.again for step in report.plan.steps if step.again] == [2]
    assert "Ada Byron" in report.markdown
    assert "RFC 7777" in report.markdown.partition("What could not be found")[2]


async def test_what_is_not_there_is_not_claimed(notes: Path) -> None:
    report, _ = await researched("What is the boiling point of tungsten?", notes, "light")
    assert report.stop_reason == "no_evidence"
    assert report.summary.grounded_count == 0


def test_the_command_over_these_docs(tmp_path: Path) -> None:
    question = "What is a lane, and how are limits enforced?"
    done = warm.run(question, "--in", DOCS, "--strategy", "reflective", "--home", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Limits are enforced in code" in done.stdout
    assert "research is complete" in done.stderr
