"""`assay ask` after a real prune of a real home: what the run opened is there still, and what is not is said."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from shells import apart

from assay.cli.main import main

TIDE = "The tide at Brest rises seven metres."
KEEPER = "The keeper of the light was called Perrine Kermorgant."
GAUGE = "The gauge was made by Jean Corre."
ASKED = "How high does the tide rise at Brest, and from where does the wind at Brest blow?"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    apart(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mill.md").write_text("# Mill\n\nThe mill at Lorient was built in 1702.\n")
    sea = tmp_path / "sea"
    sea.mkdir()
    (sea / "log.md").write_text(f"# Tides\n\n{TIDE}\n\n{KEEPER}\n")
    (sea / "winds.md").write_text(f"# Winds\n\nThe wind at Brest blows from the west.\n\n{GAUGE}\n")
    return tmp_path


def json_of(capsys: pytest.CaptureFixture[str], *line: str, code: int = 0) -> Any:
    capsys.readouterr()
    assert main([*line, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def claims(report: dict[str, Any]) -> list[tuple[str, str]]:
    return [(claim["verdict"], claim["text"]) for claim in report["claims"]]


def researched(capsys: pytest.CaptureFixture[str]) -> str:
    """A run over another document, then one over two; the first is pruned, with its document. The id of the second."""
    json_of(capsys, "When was the mill at Lorient built?", "--in", "mill.md", "--yes")
    second = json_of(capsys, ASKED, "--in", "sea", "--yes")
    assert main(["runs", "prune", "--keep", "1"]) == 0
    assert "1 run deleted; 1 document no run refers to any more removed" in capsys.readouterr().err
    (left,) = json_of(capsys, "runs", "list")
    assert left["run_id"] == second["run_id"]
    found: str = left["run_id"]
    return found


def test_what_another_run_opened_goes_and_what_this_one_opened_answers(capsys: pytest.CaptureFixture[str]) -> None:
    run = researched(capsys)
    for question, answer in (("Who was the keeper of the light?", KEEPER), ("Who made the gauge?", GAUGE)):
        report = json_of(capsys, "ask", run, question)
        assert claims(report) == [("quoted", answer)]
        assert report["limits"] == []
    assert main(["ask", run, "When was the mill at Lorient built?"]) == 6
    assert "1702" not in capsys.readouterr().out


def test_what_a_pruned_run_opened_is_kept_for_the_run_which_went_on_from_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = researched(capsys)
    second = json_of(capsys, "ask", first, "Who was the keeper of the light?")
    assert claims(second) == [("quoted", KEEPER)]
    assert main(["runs", "prune", "--keep", "1"]) == 0
    assert [each["run_id"] for each in json_of(capsys, "runs", "list")] == [second["run_id"]]
    report = json_of(capsys, "ask", "last", "Who made the gauge?")
    assert claims(report) == [("quoted", GAUGE)]


def test_a_text_whose_bytes_are_gone_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = researched(capsys)
    name = hashlib.sha256((place / "sea" / "winds.md").read_bytes()).hexdigest()
    kept = [path for path in (place / "home" / "blobs").rglob(f"*{name[-40:]}*") if path.is_file()]
    assert kept
    for path in kept:
        path.unlink()
    assert main(["ask", run, "Who was the keeper of the light?"]) == 1
    assert f"no blob {name}" in (errors := capsys.readouterr().err)
    assert "`assay db check` names what is missing" in errors
