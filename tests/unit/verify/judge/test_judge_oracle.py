"""The benches' judge of code, and a judge behind HTTP in its place: edited claims through the whole of asking."""

from __future__ import annotations

import asyncio
from pathlib import Path

import judged
import pytest
from judging import judging_server
from mutating import BREAKING
from paraphrasing import FAITHFUL

PASSAGE = (
    "In 2016 Norway exported 70 tonnes of salmon, and Iceland exported 45 tonnes of cod. The bridge was opened on "
    "12 May 1932 and is 300 km from Antwerp. The museum had 2,000 visitors a day, of whom 37% came from abroad."
)
PAIRS = [
    (claim, PASSAGE)
    for claim in (
        "Norwegian exports of salmon reached 70 tonnes, those of Iceland's cod 45 tonnes.",
        "A bridge at 300 km from Antwerp, it has been open since 12 May 1932.",
        "About 37% of a day's 2,000 visitors of the museum were foreigners.",
    )
]
SWAPS = {
    "Cod from the island came to 45 tonnes that year.": "Cod from the island came to 70 tonnes that year.",
    "Fishermen of the north sold salmon, 70 tonnes.": "Fishermen of the north sold salmon, 45 tonnes.",
}
"""Values exchanged where no rule sees it: all else is told in other words."""
WRONG = ("times ten", "swapped numbers", "number from elsewhere", "unit", "percent or points")


async def test_no_false_figure_gets_past_the_values_even_where_the_judge_nods() -> None:
    ways = await judged.edited(PAIRS, {way: BREAKING[way] for way in WRONG}, judged.ORACLE, 5)
    assert [row for rows in ways.values() for row in rows if row.verdict == "supported"] == []
    pairs = [(claim, PASSAGE) for claim in SWAPS]
    ways = await judged.edited(pairs, {"swap": lambda claim, _, __: SWAPS[claim]}, judged.ORACLE, 5)
    assert [(row.rule, row.verdict) for row in ways["swap"]] == [("judge", "contradicted")] * len(SWAPS)


async def test_what_stays_true_stays_supported() -> None:
    ways = await judged.edited(PAIRS, FAITHFUL, judged.ORACLE, 5)
    rows = [row for each in ways.values() for row in each if row.rule == "judge"]
    assert len(rows) >= 5
    assert {row.verdict for row in rows} == {"supported"}


def test_the_same_over_http(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `--judge mine:m` does it; this judge finds a value only where the same words stand before it."""
    with judging_server() as server:
        (tmp_path / "config.toml").write_text(f'[services.mine]\nurl = "{server.url}"\n')
        monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
        ways = asyncio.run(judged.edited(PAIRS, {"times ten": BREAKING["times ten"]}, "mine:m", 5))
        judged.table("made false", ways)
    assert "supported" not in {row.verdict for row in ways["times ten"]}
    assert "judged by mine:m" in capsys.readouterr().out
