"""`assay runs diff` and `assay runs replay`, over real runs of the built-in model."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.cli.main import main

QUESTION = "Who wrote the Harbor report?"


class Said:
    """What a command wrote, and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def assay(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    def run(*args: object) -> Said:
        code = main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    return run


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("ASSAY_") and name != "ASSAY_SEARCH_WEB"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def two_runs(assay: Callable[..., Said], tmp_path: Path) -> tuple[str, str]:
    """Two runs of one question; between them the report on the harbor was written anew, by somebody else."""
    note = tmp_path / "harbor.md"
    ids = []
    for author in ("Ada Byron", "Mary Somerville"):
        note.write_text(f"# Harbor report\n\nThe Harbor report was written by {author} in 1843.\n")
        said = assay(QUESTION, "--in", note, "--json", "-q")
        assert said.code == 0
        ids.append(str(json.loads(said.out)["run_id"]))
    return ids[0], ids[1]


def test_a_diff_shows_what_is_said_otherwise(assay: Callable[..., Said], two_runs: tuple[str, str]) -> None:
    said = assay("runs", "diff", *two_runs)
    assert said.code == 0
    assert "claims changed:" in said.out
    assert "- supported: The Harbor report was written by Ada Byron in 1843." in said.out
    assert "+ supported: The Harbor report was written by Mary Somerville in 1843." in said.out
    assert assay("runs", "diff", *two_runs, "--exit-code", "-q").code == 1


def test_a_run_does_not_differ_from_itself(assay: Callable[..., Said], two_runs: tuple[str, str]) -> None:
    said = assay("runs", "diff", two_runs[0], two_runs[0], "--exit-code")
    assert said.code == 0
    assert "nothing differs" in said.out


def test_a_diff_as_json(assay: Callable[..., Said], two_runs: tuple[str, str]) -> None:
    found = json.loads(assay("runs", "diff", *two_runs, "--json").out)
    assert [pair["after"]["verdict"] for pair in found["changed"]] == ["supported"]
    assert (found["before"]["run_id"], found["after"]["run_id"]) == two_runs


def test_a_diff_with_a_run_that_is_not_there(assay: Callable[..., Said], two_runs: tuple[str, str]) -> None:
    said = assay("runs", "diff", "zzzz", two_runs[1])
    assert said.code == 2
    assert "no run named 'zzzz'" in said.err


def test_a_replay_says_that_all_is_the_same(assay: Callable[..., Said], two_runs: tuple[str, str]) -> None:
    said = assay("runs", "replay", two_runs[0])
    assert said.code == 0
    assert "the report is the same, byte for byte" in said.out
    assert json.loads(assay("runs", "replay", "last", "--json").out)["same_report"] is True
