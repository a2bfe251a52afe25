"""`assay agent`: what it prints, and its exit codes."""

from __future__ import annotations

import json
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
    assert [claim["verdict"] for claim in report["claims"]] == ["supported"]


def test_nothing_found_exits_with_6(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", "Who painted the ceiling of the Sistine Chapel?", *files]) == 6
    assert "Nothing that answers this question was found" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["two", "words"], ["  "]])
def test_wrong_usage(words: list[str], files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", *words, *files]) == 2
    assert "question" in capsys.readouterr().err
