"""`assay runs watch` without a terminal: the log as plain lines or as events, and how the run ended."""

import json
from pathlib import Path

import pytest
from shells import apart

from assay.cli.main import main

QUESTION = "Who wrote the Harbor report?"


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    apart(tmp_path, monkeypatch)
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "harbor.md").write_text("# Harbor report\n\nThe Harbor report was written by Ada Byron in 1843.\n")
    return folder


def test_an_ended_run_is_told_again_without_its_report(notes: Path, capsys: pytest.CaptureFixture[str]):
    main([QUESTION, "--in", str(notes)])
    printed = capsys.readouterr()
    assert main(["runs", "watch", "last"]) == 0
    again = capsys.readouterr()
    assert again.out == ""
    lines = [line for line in printed.err.splitlines() if not line.startswith(("indexed", "reading"))]
    assert again.err.splitlines() == lines
    assert [line.split(" ")[0] for line in lines[-3:]] == ["completed:", "took", "run"]


def test_its_events_are_those_of_the_run(notes: Path, capsys: pytest.CaptureFixture[str]):
    main([QUESTION, "--in", str(notes), "--events"])
    output = capsys.readouterr().out
    assert main(["runs", "watch", "last", "--events", "--speed", "1000"]) == 0
    assert capsys.readouterr().out == output
    assert json.loads(output.splitlines()[-1])["type"] == "run.completed"


def test_the_exit_code_is_the_runs(notes: Path, capsys: pytest.CaptureFixture[str]):
    code = main(["What is the airspeed of an unladen swallow?", "--in", str(notes)])
    assert code == 6
    assert main(["runs", "watch", "last", "-q"]) == code
    assert main(["runs", "watch", "nobody"]) == 2
    assert main(["runs", "watch", "last", "--speed", "-1"]) == 2
