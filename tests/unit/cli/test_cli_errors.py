"""Wrong input and broken surroundings: one line that names the fix, and never a traceback.

What a full disk does is tried in real processes; so is one of the others.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
import warm
from alembic import command
from shells import Command, apart, spoken

from assay.store import migrations
from assay.store.sql import sqlite

pytestmark = pytest.mark.slow
QUESTION = "When was the harbor built?"


class Place:
    """A folder with one document, a home, and nothing of the user's own settings."""

    def __init__(self, folder: Path, here: Command) -> None:
        self.folder, self.home, self.config, self.run = folder, folder / "home", folder / "config.toml", here
        (folder / "docs").mkdir()
        (folder / "docs" / "note.md").write_text("# Note\n\nThe harbor was built in 1843.\n")

    def process(self, *arguments: str, stdout: str = "", largest: int = 0) -> subprocess.CompletedProcess[str]:
        """`assay` as a process; stdout into a file, files of at most so many bytes where asked."""
        limits = {"RLIMIT_FSIZE": largest} if largest else {}
        with open(stdout or os.devnull, "w") as file:
            return warm.run(*arguments, stdout=file if stdout else subprocess.PIPE, limits=limits)

    def fails(self, code: int, why: str, *arguments: str, **about: object) -> None:
        """It ends so, and says so: as a process where something is said about it."""
        done = self.process(*arguments, **about) if about else self.run(*arguments)  # type: ignore[arg-type]
        assert done.returncode == code, done.stderr
        assert why in done.stderr
        assert "Traceback" not in done.stderr
        assert len(done.stderr.splitlines()) <= 4
        assert not done.stderr.startswith("assay: internal error")


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Place:
    apart(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    return Place(tmp_path, spoken(capsys))


def database(place: Place, *statements: str) -> Path:
    """A home's database with something done to it."""
    assert place.run("docs", "add", "docs").returncode == 0
    path = place.home / "assay.db"
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


def test_paths_which_give_nothing(place: Place) -> None:
    (place.folder / "empty").mkdir()
    place.fails(2, "no file or folder 'nosuch'", QUESTION, "--in", "nosuch")
    place.fails(2, "no document could be read in empty: name files, folders or pages", QUESTION, "--in", "empty")


def test_a_home_which_is_a_file(place: Place) -> None:
    place.home.write_text("")
    place.fails(1, "it is a file; name another one with --home or ASSAY_HOME", "runs", "list")


@pytest.mark.parametrize("command", [("runs", "list"), ("docs", "add", "docs"), ("db", "check"), ("schedule", "list")])
def test_a_home_which_may_not_be_read(place: Place, command: tuple[str, ...]) -> None:
    place.home.mkdir(mode=0)
    if os.access(place.home, os.R_OK):
        pytest.skip("who runs this may read and write everything")
    place.fails(1, "ermission", *command)


def test_a_database_of_a_newer_release(place: Place) -> None:
    database(place, "UPDATE assay_schema SET version_num = '9999'")
    place.fails(1, "was written by a newer Assay (schema 9999", "runs", "list")


def test_a_database_of_an_older_release_is_brought_up_to_date(place: Place) -> None:
    place.home.mkdir()
    path = place.home / "assay.db"
    engine, settings = sqlite.create_sqlite_engine(path), migrations.config()
    with engine.begin() as connection:
        settings.attributes["connection"] = connection
        command.upgrade(settings, "0001")
    engine.dispose()
    looked = place.run("doctor")
    assert "schema 0001 of an earlier release" in looked.stdout
    assert place.run("runs", "list").returncode == 0
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT version_num FROM assay_schema").fetchone() != ("0001",)


def test_a_damaged_database(place: Place) -> None:
    path = database(place)
    path.write_bytes(os.urandom(5000))
    place.fails(1, "is damaged or not a database: move it away", "runs", "list")
    place.fails(1, "is damaged or not a database: move it away", "runs", "list", stdout=os.devnull)


def test_a_database_of_another_program(place: Place) -> None:
    place.home.mkdir()
    with closing(sqlite3.connect(place.home / "assay.db")) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    place.fails(1, "is not an Assay database", "runs", "list")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nosuch = 1", "no setting named 'nosuch'"),
        ("x = [", "is not valid TOML"),
        ('depth = "deep"', "light, medium or extended (in "),
    ],
)
def test_settings_which_are_wrong(place: Place, text: str, why: str) -> None:
    place.config.write_text(text)
    place.fails(2, why, "runs", "list")


def test_settings_which_are_a_folder(place: Place) -> None:
    place.config.mkdir()
    place.fails(2, "is a folder and should be a file", "runs", "list")


def test_runs_which_are_not_there(place: Place) -> None:
    place.fails(2, "there is no library in", "runs", "show", "nosuch")
    database(place)
    for arguments in (("show", "nosuch"), ("rm", "nosuch", "--yes")):
        place.fails(2, "no run named 'nosuch'", "runs", *arguments)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_behind_stdout(place: Place) -> None:
    place.fails(1, "the report is kept: assay runs export", QUESTION, "--in", "docs", "-q", stdout="/dev/full")
    place.fails(1, "stdout cannot be written: No space left", "completion", "bash", stdout="/dev/full")


def test_a_full_disk_behind_the_home(place: Place) -> None:
    """Files may not grow past a limit: what writes to them fails as on a full disk. Then there is room again."""
    place.fails(1, "the disk may be full", QUESTION, "--in", "docs", "-q", largest=20_000)
    place.fails(1, "once this is fixed: assay runs resume", QUESTION, "--in", "docs", "-q", largest=450_000)
    assert "1843" in place.run("runs", "resume", "last", "-q").stdout
