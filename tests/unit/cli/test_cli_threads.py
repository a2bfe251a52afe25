"""Threads and lists of runs on the command line, over a real home."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from shells import Command, apart, prepared, spoken

from assay import Assay

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


QUESTIONS = ("How far does the tide rise?", "When was the harbor built?")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which both were asked, each in a thread of its own."""
    folder = tmp_path_factory.mktemp("asked")
    (folder / "tides.md").write_text(TIDES)
    (folder / "harbor.md").write_text(HARBOR)
    documents = ("--in", folder / "tides.md", "--in", folder / "harbor.md")
    prepared(folder, *((question, *documents, "--thread", question[:3], "-q") for question in QUESTIONS))
    return folder / "home"


@pytest.fixture
def both(asked: Path, tmp_path: Path) -> None:
    """Both were asked in the home of the test."""
    shutil.copytree(asked, tmp_path / "home")


@pytest.fixture
def assay(capsys: pytest.CaptureFixture[str]) -> Command:
    return spoken(capsys)


def test_runs_are_starred_and_labelled(assay: Command, both: None):
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


def test_runs_are_listed_by_what_they_are(assay: Command, both: None):
    def listed(*options: str) -> list[str]:
        return [line.split("\t")[-1] for line in assay("runs", "list", *options).stdout.splitlines()]

    newest = [*QUESTIONS[::-1]]
    assert listed() == newest
    assert listed("--status", "completed", "--status", "failed") == newest
    assert listed("--status", "failed") == []
    assert listed("--asked", "TIDE") == newest[1:]
    assert listed("--since", "2020", "--before", "2999") == newest
    assert listed("--since", "2999") == []
    assert listed("--thread", "Whe") == newest[:1]
    assert listed("--search", "harbors 1843") == ["The harbor was built in 1843."]
    first = assay("runs", "list", "-n", "1")
    assert "--cursor " in first.stderr
    assert listed("--cursor", first.stderr.split()[-1]) == newest[1:]
    data = json.loads(assay("runs", "list", "--json").stdout)
    assert [(row["question"], row["user"], row["tokens"] >= 0) for row in data] == [(each, "", True) for each in newest]
    assert assay("runs", "list", "--search", "x", "--status", "failed").returncode == 2
    assert assay("runs", "list", "--search", "zebra").stderr == "no run matches\n"


async def _asked_by_ana(home: Path, document: Path) -> None:
    async with Assay(home=home) as library:
        ana = library.owned_by("ana")
        await ana.add(str(document), "tides")
        await ana.create(QUESTIONS[0], sources="@tides")


def test_a_list_without_runs_of_ones_own_says_where_those_of_others_are(assay: Command, notes: Path, tmp_path: Path):
    assert assay("runs", "list").stderr.startswith("there are no runs yet")
    asyncio.run(_asked_by_ana(tmp_path / "home", notes / "tides.md"))
    listed = assay("runs", "list")
    assert listed.stdout == ""
    assert "users who log in see theirs on the server's page" in listed.stderr
    assert assay("runs", "list", "--asked", "tide").stderr == "no run matches\n"
