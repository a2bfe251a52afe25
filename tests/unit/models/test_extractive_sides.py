"""Comparisons in prose: what is said of each thing compared, where no sentence speaks of both."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import Assay
from assay.core.report import Report
from assay.models.extractive.comparing import sides
from assay.models.extractive.question import analyze

FILES = {
    "brest.md": "# Tides of Brest\n\nThe tide at Brest reaches 7.3 metres in spring. The port was rebuilt.\n",
    "genoa.md": "# Genoa\n\nThe tide at Genoa is 0.3 metres high. Storms matter more there.\n",
}


@pytest.mark.parametrize(
    ("text", "each"),
    [
        ("Compare the tide at Brest and the tide at Genoa", ["brest", "genoa"]),
        ("Compare Brest, Genoa and Oslo", ["brest", "genoa", "oslo"]),
        ("Compare the tide with the wind", []),
        ("How high is the tide at Brest and at Genoa?", []),
    ],
)
def test_a_comparison_of_names_has_a_side_for_each(text: str, each: list[str]) -> None:
    found = sides(analyze(text))
    assert [sorted(side.names) for side in found] == [[name] for name in each]


async def compared(question: str, folder: Path) -> Report:
    for name, text in FILES.items():
        (folder / name).write_text(text)
    async with Assay() as assay:
        return await assay.start(question, sources=[folder]).report()


async def test_both_sides_are_told_and_cited(tmp_path: Path) -> None:
    report = await compared("Compare the tide at Brest and the tide at Genoa", tmp_path)
    assert "7.3 metres" in report.markdown
    assert "0.3 metres" in report.markdown
    assert len([source for source in report.sources if source.number is not None]) == 2
    assert {claim.verdict for claim in report.claims} == {"quoted"}


async def test_with_nothing_on_one_side_nothing_is_compared(tmp_path: Path) -> None:
    report = await compared("Compare the tide at Brest and the tide at Oslo", tmp_path)
    assert report.markdown.startswith("Nothing that answers this question was found")
