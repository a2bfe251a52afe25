"""Threads and lists of runs on the command line, over a real home."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shells import Command, apart, spoken

TIDES = "# Tides\n\nThe tide at Brest rises seven metres.\n"
HARBOR = "# Harbor\n\nThe harbor was built in 1843.\n"


@pytest.fixture(autouse=True)
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    apart(tmp_path, monkeypatch)
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tides.md").write_text(TIDES)
    (folder / "harbor.md").write_text(HARBOR)
    return folder


@pytest.fixture
def assay(capsys: pytest.CaptureFixture[str]) -> Command:
    return spoken(capsys)


def test_runs_are_starred_and_labelled(assay: Command, notes: Path):
    for question in ("How far does the tide rise?", "When was the harbor built?"):
        assert assay(question, "--in", notes, "-q").returncode == 0
    assert assay("runs", "label", "last").stderr.endswith(": no labels\n")
    assert assay("runs", "label", "last", "--star", "project=tides").stderr.endswith(": project=tides, starred\n")
    for label, count in (("starred", 1), ("project=tides", 1), ("project", 1), ("project=town", 0)):
        listed = json.loads(assay("runs", "list", "--label", label, "--json").stdout)
        assert len(listed) == count
        assert all(each["labels"] == {"project": "tides", "starred": ""} for each in listed)
    assert assay("runs", "label", "last", "--unstar", "--remove", "project").stderr.endswith(": no labels\n")
    assert assay("runs", "label", "last", "=x").returncode == 2


def test_threads_are_listed_shown_named_and_deleted(assay: Command, notes: Path):
    assert "--thread NAME" in assay("threads", "list").stderr
    assert assay("How far does the tide rise?", "--in", notes, "--thread", "sea", "-q").returncode == 0
    assert assay("When was the harbor built?", "--in", notes, "--thread", "town", "-q").returncode == 0
    assert assay("How far does the tide rise at Brest?", "--in", notes, "--thread", "sea", "-q").returncode == 0
    rows = [line.split("\t") for line in assay("threads", "list").stdout.splitlines()]
    assert [(row[0], row[2], row[3]) for row in rows] == [
        ("sea", "2 runs", "How far does the tide rise?"),
        ("town", "1 run", "When was the harbor built?"),
    ]
    assert assay("threads", "rename", "town", "The old  town").stderr == "town: The old town\n"
    assert assay("threads", "search", "OLD TOWN").stdout.split("\t")[0] == "town"
    assert assay("threads", "search", "zebra").stderr == "no thread says that\n"
    shown = assay("threads", "show", "The old town").stdout
    assert "> When was the harbor built?" in shown
    assert "1843" in shown
    data = json.loads(assay("threads", "show", "to", "--json").stdout)
    assert [each["by"] for each in data] == ["user", "assistant"]

    first = assay("threads", "list", "-n", "1", "--json")
    page = json.loads(first.stdout)
    assert [row["name"] for row in page["threads"]] == ["sea"]
    assert assay("threads", "list", "--cursor", page["next"]).stdout.split("\t")[0] == "town"
    assert assay("threads", "list", "--cursor", "nonsense").returncode == 2

    assert assay("threads", "rm", "sea").returncode == 2  # nobody can be asked
    assert assay("threads", "rm", "sea", "--yes").stderr.startswith("2 runs deleted")
    assert [line.split("\t")[0] for line in assay("threads", "list").stdout.splitlines()] == ["town"]
    assert len(assay("runs", "list").stdout.splitlines()) == 1
    gone = assay("threads", "show", "sea")
    assert gone.returncode == 2
    assert "no thread named 'sea'" in gone.stderr


def test_runs_are_listed_by_what_they_are(assay: Command, notes: Path):
    for question in ("How far does the tide rise?", "When was the harbor built?"):
        assert assay(question, "--in", notes, "--thread", question[:3], "-q").returncode == 0

    def listed(*options: str) -> list[str]:
        return [line.split("\t")[-1] for line in assay("runs", "list", *options).stdout.splitlines()]

    both = ["When was the harbor built?", "How far does the tide rise?"]
    assert listed() == both
    assert listed("--status", "completed", "--status", "failed") == both
    assert listed("--status", "failed") == []
    assert listed("--asked", "TIDE") == both[1:]
    assert listed("--since", "2020", "--before", "2999") == both
    assert listed("--since", "2999") == []
    assert listed("--thread", "Whe") == both[:1]
    assert listed("--search", "harbors 1843") == ["The harbor was built in 1843."]
    first = assay("runs", "list", "-n", "1")
    assert "--cursor " in first.stderr
    assert listed("--cursor", first.stderr.split()[-1]) == both[1:]
    data = json.loads(assay("runs", "list", "--json").stdout)
    assert [(row["question"], row["user"], row["tokens"] >= 0) for row in data] == [(each, "", True) for each in both]
    assert assay("runs", "list", "--search", "x", "--status", "failed").returncode == 2
    assert assay("runs", "list", "--search", "zebra").stderr == "no run matches\n"
