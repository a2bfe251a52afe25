"""`assay agent`: what it prints, and its exit codes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from assay.cli.main import main

TASK = "How far does the tide rise at Brest?"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    page = tmp_path / "tides.md"
    page.write_text("# Tides\n\nThe tide at Brest rises seven metres. It turns twice a day.\n")
    return ["--in", str(page)]


def test_it_prints_its_findings_with_their_citations(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", TASK, *files]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("The tide at Brest rises seven metres. [1]")
    assert main(["cite", "last", "1"]) == 0
    assert "seven metres" in capsys.readouterr().out


def test_as_json_it_is_a_report(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", TASK, *files, "--json", "--depth", "light"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["mode"], report["plan"], report["verified"]) == ("agent", None, True)
    assert [claim["verdict"] for claim in report["claims"]] == ["quoted"]


def test_nothing_found_exits_with_6(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", "Who painted the ceiling of the Sistine Chapel?", *files]) == 6
    assert "Nothing that answers this question was found" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["two", "words"], ["  "]])
def test_wrong_usage(words: list[str], files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", *words, *files]) == 2
    assert "question" in capsys.readouterr().err


def test_it_can_be_queued_for_a_user_and_its_end_is_told(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "told.py"
    script.write_text(
        "import pathlib, sys\npathlib.Path(__file__).with_name('told.json').write_text(sys.stdin.read())\n"
    )
    assert main(["agent", TASK, *files, "--notify", f"{sys.executable} {script}"]) == 0
    assert json.loads((tmp_path / "told.json").read_text())["status"] == "completed"
    capsys.readouterr()
    assert main(["agent", TASK, *files, "--queue", "--user", "ann", "--label", "team=f", "-q"]) == 0
    queued = capsys.readouterr().out.strip()
    assert main(["worker", "--until-empty", "-q"]) == 0
    assert main(["runs", "show", queued, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["status"], shown["brief"]["user"], shown["brief"]["labels"]) == ("completed", "ann", {"team": "f"})


@pytest.mark.parametrize("command", ["agent", "research"])
def test_a_priority_is_for_the_queue(files: list[str], capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert main([command, TASK, *files, "--priority", "5"]) == 2
    assert "--priority orders the queue: add --queue" in capsys.readouterr().err
    assert main([command, TASK, *files, "--priority", "5", "--queue", "-q"]) == 0


def test_a_queued_one_writes_no_file(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", TASK, *files, "--queue", "-o", "found.md"]) == 2
    assert "--queue and -o exclude each other" in capsys.readouterr().err


def test_a_list_as_json_says_whose_a_run_is_and_what_it_used(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["agent", TASK, *files, "--user", "ann", "--label", "team=f", "-q"]) == 0
    assert main(["agent", TASK, *files, "-q"]) == 0
    capsys.readouterr()
    assert main(["runs", "list", "--json"]) == 0
    newest, first = json.loads(capsys.readouterr().out)
    assert (newest["user"], newest["labels"], first["user"], first["labels"]) == ("", {}, "ann", {"team": "f"})
    assert newest["tokens"] > 0
    assert newest["usd"] == 0.0
