"""`assay runs diff` and `assay runs replay`, over real runs of the built-in model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from shells import Command, apart, prepared, spoken

QUESTION = "Who wrote the Harbor report?"


@pytest.fixture
def assay(capsys: pytest.CaptureFixture[str]) -> Command:
    return spoken(capsys)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    apart(tmp_path, monkeypatch)
    return tmp_path / "home"


@pytest.fixture(scope="module")
def researched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[str, str]]:
    """A home with two runs of one question; between them the report on the harbor was written anew, by another."""
    folder = tmp_path_factory.mktemp("researched")
    note = folder / "harbor.md"
    ids = []
    for author in ("Ada Byron", "Mary Somerville"):
        note.write_text(f"# Harbor report\n\nThe Harbor report was written by {author} in 1843.\n")
        (report,) = prepared(folder, [QUESTION, "--in", note, "--json", "-q"])
        ids.append(str(json.loads(report)["run_id"]))
    return folder / "home", (ids[0], ids[1])


@pytest.fixture
def two_runs(researched: tuple[Path, tuple[str, str]], home: Path) -> tuple[str, str]:
    shutil.copytree(researched[0], home)
    return researched[1]


def test_a_diff_shows_what_is_said_otherwise(assay: Command, two_runs: tuple[str, str]) -> None:
    done = assay("runs", "diff", *two_runs)
    assert done.returncode == 0
    assert "claims changed:" in done.stdout
    assert "- quoted: The Harbor report was written by Ada Byron in 1843." in done.stdout
    assert "+ quoted: The Harbor report was written by Mary Somerville in 1843." in done.stdout
    assert assay("runs", "diff", *two_runs, "--exit-code", "-q").returncode == 1


def test_a_run_does_not_differ_from_itself(assay: Command, two_runs: tuple[str, str]) -> None:
    done = assay("runs", "diff", two_runs[0], two_runs[0], "--exit-code")
    assert done.returncode == 0
    assert "nothing differs" in done.stdout


def test_a_diff_as_json(assay: Command, two_runs: tuple[str, str]) -> None:
    found = json.loads(assay("runs", "diff", *two_runs, "--json").stdout)
    assert [pair["after"]["verdict"] for pair in found["changed"]] == ["quoted"]
    assert (found["before"]["run_id"], found["after"]["run_id"]) == two_runs


def test_a_diff_with_a_run_that_is_not_there(assay: Command, two_runs: tuple[str, str]) -> None:
    done = assay("runs", "diff", "zzzz", two_runs[1])
    assert done.returncode == 2
    assert "no run named 'zzzz'" in done.stderr


def test_a_replay_says_that_all_is_the_same(assay: Command, two_runs: tuple[str, str]) -> None:
    done = assay("runs", "replay", two_runs[0])
    assert done.returncode == 0
    assert "the report is the same, byte for byte" in done.stdout
    assert json.loads(assay("runs", "replay", "last", "--json").stdout)["same_report"] is True
