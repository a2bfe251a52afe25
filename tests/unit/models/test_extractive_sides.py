"""Comparisons in prose: what is said of each thing compared, where no sentence speaks of both."""

from __future__ import annotations

from pathlib import Path

from assay import Assay
from assay.core.report import Report

FILES = {
    "brest.md": "# Tides of Brest\n\nThe tide at Brest reaches 7.3 metres in spring. The port was rebuilt.\n",
    "genoa.md": "# Genoa\n\nThe tide at Genoa is 0.3 metres high. Storms matter more there.\n",
}


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


async def test_what_each_of_two_things_is_answers_how_they_differ(tmp_path: Path) -> None:
    (tmp_path / "ring.md").write_text(
        "# ring — Bells of a port\n\nThis module rings bells at set times. The ring of a bell is heard far away.\n"
        "\n## Order\n\nA bell whose order is unknown rings last.\n"
    )
    (tmp_path / "lamps.md").write_text(
        "# lamps — Lights of a port\n\nThis module lights the lamps of a quay. Use lamps where no ring is heard.\n"
    )
    async with Assay() as assay:
        report = await assay.start("How do ring and lamps differ?", sources=[tmp_path]).report()
    opening = report.markdown.partition("*As of")[0]
    assert "rings bells at set times" in opening
    assert "lights the lamps of a quay" in opening
    assert {claim.verdict for claim in report.claims} == {"quoted"}
    assert {claim.relevance for claim in report.claims} == {"answers"}


async def test_one_side_alone_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / "ring.md").write_text("# ring — Bells of a port\n\nThis module rings bells at set times.\n")
    async with Assay() as assay:
        report = await assay.start("How do ring and lamps differ?", sources=[tmp_path]).report()
    assert "answers" not in {claim.relevance for claim in report.claims}
    assert "lamps" in report.markdown.casefold()
