"""`assay docs watch`: a real process over a real folder, told of by what is in the library."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import warm
from shells import apart

from assay.cli.main import main

SECONDS = 120
HASTY = """
from assay.cli import main
from assay.cli.docs import intake

intake.QUIET_SECONDS, intake.FIRST_SECONDS = 0.2, 0.1
raise SystemExit(main())
"""
"""The command, which waits a shorter time until a folder counts as quiet."""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    apart(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "tides.md").write_text("# Tides\n\nThe tide rises seven metres.\n")
    return tmp_path


class Watching:
    """The command in a process of its own, with what it has said so far."""

    def __init__(self, folder: Path, *line: str) -> None:
        self.output = folder / "output.txt"
        with self.output.open("wb") as log:
            self.process = warm.start("docs", "watch", *line, stderr=log, program=HASTY)

    def until(self, words: str, times: int = 1) -> None:
        """Wait for it to say something."""
        end = time.monotonic() + SECONDS
        while self.output.read_text().count(words) < times:
            assert self.process.poll() is None, self.output.read_text()
            assert time.monotonic() < end, self.output.read_text()
            time.sleep(0.02)

    def interrupted(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(SECONDS)


@pytest.fixture
def watching(place: Path) -> Iterator[Watching]:
    made = Watching(place, "notes", "-c", "sea")
    yield made
    made.process.kill()
    made.process.wait()


def put(path: Path, text: str) -> None:
    """Write it so that nobody sees half of it."""
    written = path.parent.parent / f"{path.name}-written"
    written.write_text(text)
    written.replace(path)


def titles(capsys: pytest.CaptureFixture[str]) -> set[str]:
    capsys.readouterr()
    assert main(["docs", "list", "-c", "sea", "--json"]) == 0
    return {each["title"] for each in json.loads(capsys.readouterr().out)}


def test_what_comes_changes_and_goes(place: Path, watching: Watching, capsys: pytest.CaptureFixture[str]) -> None:
    watching.until("notes; Ctrl-C ends it")
    assert titles(capsys) == {"Tides"}
    put(place / "notes" / "winds.md", "# Winds\n\nThe wind blows from the west.\n")
    watching.until("1 added, 0 updated, 0 removed: 2 documents")
    put(place / "notes" / "tides.md", "# High tides\n\nThe tide rises eight metres.\n")
    watching.until("0 added, 1 updated, 0 removed: 2 documents")
    assert titles(capsys) == {"High tides", "Winds"}
    (place / "notes" / "winds.md").unlink()
    watching.until("0 added, 0 updated, 1 removed: 1 document")
    assert watching.interrupted() == 0
    assert watching.output.read_text().splitlines()[-1] == "watching has ended; the documents stay"
    assert titles(capsys) == {"High tides"}


def test_many_changes_at_once_are_looked_at_together(
    place: Path, watching: Watching, capsys: pytest.CaptureFixture[str]
) -> None:
    watching.until("; Ctrl-C ends it")
    (ports := place / "ports").mkdir()
    for number in range(30):
        (ports / f"port{number}.md").write_text(f"# Port {number}\n\nIt is {number} metres deep.\n")
    ports.rename(place / "notes" / "ports")
    watching.until(": 31 documents")
    assert watching.output.read_text().count(" added, ") <= 3
    assert watching.interrupted() == 0


def test_only_the_folder_is_looked_at_again_and_what_others_gave_stays(
    place: Path, watching: Watching, capsys: pytest.CaptureFixture[str]
) -> None:
    watching.until("; Ctrl-C ends it")
    other = place / "other.md"
    other.write_text((place / "notes" / "tides.md").read_text())  # the same document from another place
    assert main(["docs", "add", "other.md", "-c", "sea"]) == 0
    (place / "gone.md").write_text("# Gone\n\nIt was here.\n")
    assert main(["docs", "add", "gone.md", "-c", "sea"]) == 0
    (place / "gone.md").unlink()
    put(place / "notes" / "winds.md", "# Winds\n\nThe wind blows from the west.\n")
    (place / "notes" / "tides.md").unlink()
    watching.until("1 added, 0 updated, 0 removed: 3 documents")
    assert titles(capsys) == {"Tides", "Gone", "Winds"}


def test_a_folder_which_goes_and_comes_back(
    place: Path, watching: Watching, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a drive that is unmounted and mounted again: what it gave stays, and its changes are seen afterwards."""
    watching.until("notes; Ctrl-C ends it")
    (place / "notes").rename(place / "unmounted")
    watching.until("notes is missing or empty")
    assert titles(capsys) == {"Tides"}
    shutil.copytree(place / "unmounted", place / "notes")
    put(place / "notes" / "winds.md", "# Winds\n\nThe wind blows from the west.\n")
    watching.until("1 added, 0 updated, 0 removed: 2 documents")
    put(place / "notes" / "clouds.md", "# Clouds\n\nClouds come from the west.\n")
    watching.until("1 added, 0 updated, 0 removed: 3 documents")
    assert watching.interrupted() == 0
    assert watching.output.read_text().count("missing or empty") == 1


def test_a_warning_is_given_once(place: Path, watching: Watching) -> None:
    (place / "notes" / "empty.md").write_text("")
    watching.until("empty.md: empty")
    (place / "notes" / "~$winds.md").write_text("Somebody has it open.")
    (place / "notes" / "winds.md").write_text("# Winds\n\nThe mistral blows.\n")
    watching.until("1 added, 0 updated, 0 removed: 2 documents")
    watching.interrupted()
    output = watching.output.read_text()
    assert output.count("empty.md: empty") == 1
    assert "~$" not in output


def test_an_empty_folder_is_watched_too(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "notes" / "tides.md").unlink()
    made = Watching(place, "notes", "-c", "sea")
    made.until("warning: no document could be read in")
    made.until("; Ctrl-C ends it")
    put(place / "notes" / "winds.md", "# Winds\n\nThe wind blows from the west.\n")
    made.until("\n1 document\n")
    assert made.interrupted() == 0
    assert titles(capsys) == {"Winds"}


def test_what_is_no_folder_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "watch", "nowhere"]) == 2
    assert "nowhere is not a folder: name one to watch" in capsys.readouterr().err
