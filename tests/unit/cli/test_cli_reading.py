"""Commands which only look: they make no library, and say of a run without a report that it has none."""

import json
from pathlib import Path

import pytest
from shells import apart

from assay.cli.main import main


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    apart(tmp_path, monkeypatch)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["runs", "export", "last", "-o", "report.md"],
        ["runs", "show", "last"],
        ["runs", "watch", "last"],
        ["runs", "resume", "last"],
        ["runs", "rm", "last", "--yes"],
        ["cite", "last", "1"],
        ["docs", "search", "harbor"],
        ["docs", "list", "--collection", "mine"],
    ],
)
def test_where_there_is_no_library(
    arguments: list[str], place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    assert main([*arguments, "--home", str(place / "other")]) == 2
    assert f"there is no library in {place / 'other'}" in capsys.readouterr().err
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("group", ["runs", "docs"])
def test_lists_where_there_is_no_library(group: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([group, "list"]) == 0
    assert capsys.readouterr().out == ""
    assert main([group, "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert list(place.iterdir()) == []


def test_a_run_without_a_report_is_exported_as_what_it_is(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "note.md").write_text("# Note\n\nThe harbor was built in 1843.\n")
    (place / "fails.json").write_text(json.dumps([{"error": "the key was refused"}]))
    model = ["--model", f"scripted:{place / 'fails.json'}", "--mode", "deep_research"]
    assert main(["When was it built?", "--in", str(place / "note.md"), *model]) == 1
    capsys.readouterr()
    files = [place / f"report.{kind}" for kind in ("md", "html", "json", "zip", "bib")]
    assert main(["runs", "export", "last", *(part for path in files for part in ("-o", str(path)))]) == 0
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == len(files)
    assert all(" failed, there is no report: " in line and "the report of" not in line for line in errors)
    for path in files[:3]:
        text = path.read_text()
        assert "The run failed: " in text
        assert (
            "the key was refused; resume the run later, or choose another model (--model); no report was written."
            in text
        )
    assert main(["verify", str(place / "report.zip")]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("without a report: the run failed")
