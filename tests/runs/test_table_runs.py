"""A question about a table: answered from the right row, cited and verified."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay

TABLE = (
    "country,year,population (millions),capital\n"
    "France,2019,67.2,Paris\nFrance,2020,67.4,Paris\nFrance,2021,67.7,Paris\n"
    "Germany,2019,83.1,Berlin\nGermany,2020,83.2,Berlin\nSpain,2020,47.4,Madrid\n"
)


@pytest.mark.parametrize(("delimiter", "name"), [(",", "table.csv"), (";", "table.csv"), ("\t", "table.tsv")])
async def test_the_right_row_answers(tmp_path: Path, delimiter: str, name: str) -> None:
    (tmp_path / name).write_text(TABLE.replace(",", delimiter))
    report = await assay.research("What was the population of France in 2020?", sources=[str(tmp_path / name)])
    (claim,) = report.claims
    assert claim.verdict == "quoted"
    assert claim.text == "country: France | year: 2020 | population (millions): 67.4 | capital: Paris"
    assert [source.title for source in report.sources] == [name]


async def test_a_row_which_is_not_there_is_not_made_up(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(TABLE)
    report = await assay.research("What was the population of Italy in 2020?", sources=[str(tmp_path / "table.csv")])
    assert report.stop_reason == "no_evidence"
    assert "Closest passages" in report.markdown
