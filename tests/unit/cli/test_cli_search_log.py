"""`assay runs show --search-log`, and the options which say what of the web a run may use."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.cli.runs.lists import format_csv
from assay.core.clean import escape_csv_cell
from assay.core.search_record import ExcludedPage, SearchRow


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    return tmp_path


def test_the_searches_of_a_run(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "note.md").write_text("# Note\n\nThe old harbor was built in 1843 by Ada Byron.\n")
    assert main(["Who built the old harbor?", "--in", str(place / "note.md"), "-q"]) == 0
    capsys.readouterr()
    assert main(["runs", "show", "last", "--search-log", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows
    assert {row["provider"] for row in rows} == {"local"}
    assert {(row["hits"], row["read"], row["cited"]) for row in rows} == {(1, 1, 1)}
    assert main(["runs", "show", "last", "--search-log"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[:5] for line in lines] == [[row["query"], "local", "1", "1", "1"] for row in rows]
    assert main(["runs", "show", "last", "--search-log", "--csv"]) == 0
    assert [row["query"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))] == [
        row["query"] for row in rows
    ]


def test_no_cell_is_a_formula_and_all_come_back() -> None:
    rows = [
        SearchRow(
            query='=1+1, "x"', provider="a", hits=2, read=1, cited=0, excluded=(ExcludedPage("https://b.org/", "why"),)
        ),
        SearchRow(query="tides", provider="b", hits=0, read=0, cited=0, failed="b did not answer"),
    ]
    first, second = csv.DictReader(io.StringIO(format_csv(rows)))
    assert [escape_csv_cell(f"{sign}1") for sign in "=＝+＋-－@＠1"] == [
        *(f"'{sign}1" for sign in "=＝+＋-－@＠"),
        "11",
    ]
    assert first["query"] == '\'=1+1, "x"'
    assert first["excluded"] == "https://b.org/ (why)"
    assert (second["hits"], second["excluded"]) == ("", "no answer: b did not answer")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--domain", "a b"], "is not a domain"),
        (["--since", "soon"], "is not a date: write a day"),
        (["--country", "Germany"], "write two letters"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    option: list[str], message: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["Why?", *option]) == 2
    assert message in capsys.readouterr().err
