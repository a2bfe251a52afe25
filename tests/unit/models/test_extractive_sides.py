"""Comparisons in prose: what is said of each thing compared, where no sentence speaks of both."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import Assay
from assay.core.report import Report
from assay.models.extractive.question import analyze
from assay.models.extractive.tabulation import sides

FILES = {
    "brest.md": "# Tides of Brest\n\nThe tide at Brest reaches 7.3 metres in spring. The port was rebuilt.\n",
    "genoa.md": "# Genoa\n\nThe tide at Genoa is 0.3 metres high. Storms matter more there.\n",
}


@pytest.mark.parametrize(
    ("text", "each"),
    [
        ("Compare the tide at Brest and the tide at Genoa", ["brest", "genoa"]),
        ("Compare Brest, Genoa and Oslo", ["brest", "genoa", "oslo"]),
        ("How high is the tide at Brest and at Genoa?", []),
    ],
)
def test_a_comparison_of_names_has_a_side_for_each(text: str, each: list[str]) -> None:
    found = sides(analyze(text))
    assert [sorted(side.names) for side in found] == [[name] for name in each]


@pytest.mark.parametrize(
    ("text", "each"),
    [
        ("Compare the tide with the wind", [{"tide"}, {"wind"}]),
        ("What is the difference between dry docks and wet docks?", [{"dri", "dock"}, {"wet", "dock"}]),
        ("How does steel differ from bronze?", [{"steel"}, {"bronz"}]),
        ("How high is the tide and the wind?", []),
    ],
)
def test_things_without_names_are_told_apart_by_grammar(text: str, each: list[set[str]]) -> None:
    assert [set(side.terms) for side in sides(analyze(text))] == each


async def test_what_is_compared_need_not_bear_a_name(tmp_path: Path) -> None:
    (tmp_path / "steel.md").write_text("# Steel\n\nSteel rusts in salt water within weeks. It is cheap.\n")
    (tmp_path / "bronze.md").write_text("# Bronze\n\nBronze stands salt water for decades. It costs much.\n")
    async with Assay() as assay:
        report = await assay.start("How does steel differ from bronze in salt water?", sources=[tmp_path]).report()
    assert "rusts in salt water" in report.markdown
    assert "for decades" in report.markdown


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
