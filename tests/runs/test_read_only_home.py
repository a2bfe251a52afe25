"""A home that nobody can write: what is stored in it is read, and the rest says why it cannot be done."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import small_disks
import warm
from shells import apart

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a disk is mounted")

READING = (
    *(
        ("runs", "list"),
        ("runs", "show", "last"),
        ("docs", "list"),
        ("docs", "show", "harbor.md"),
        ("docs", "search", "harbor"),
        ("runs", "list", "--search", "harbor"),
        ("cite", "last", "1"),
    ),
    *(("runs", "export", "last", "-o", "report.md"), ("db", "check")),
)
KILLED = """
import os, signal, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("INSERT OR REPLACE INTO memos (key, data) VALUES ('tide', x'37')")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with a run and a document, on a disk of its own."""
    apart(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "harbor.md").write_text("# Harbor\n\nThe harbor is nine metres deep. It is 80 metres wide.\n")
    with small_disks.small_disk(tmp_path / "disk") as disk:
        made = assay(disk / "home", "How wide is the harbor?", "--in", "harbor.md", "--depth", "light", "--yes")
        assert made.returncode == 0, made.stderr
        assert assay(disk / "home", "docs", "add", "harbor.md").returncode == 0
        yield disk / "home"


def assay(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return warm.run(*arguments, "--home", str(home))


def killed_while_writing(home: Path) -> None:
    """As a process killed after a commit leaves it: with a log of changes."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(home / "assay.db")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (home / "assay.db-wal").stat().st_size > 0


SEARCHES = (("docs", "search", "harbor deep", "--json"), ("runs", "list", "--search", "harbor", "--json"))


@pytest.mark.parametrize("indexed", [True, False], ids=["indexed", "never searched"])
def test_what_is_stored_is_found(home: Path, indexed: bool) -> None:
    before = [assay(home, *line).stdout for line in SEARCHES]
    if not indexed:
        shutil.rmtree(home / "index")
    small_disks.make_read_only(home.parent)
    assert [assay(home, *line).stdout for line in SEARCHES] == before
    assert "Harbor" in before[0]


@pytest.mark.parametrize("killed", [False, True], ids=["closed", "killed"])
def test_what_is_stored_is_read(home: Path, killed: bool) -> None:
    before = json.loads(assay(home, "runs", "list", "--json").stdout)
    if killed:
        killed_while_writing(home)
    small_disks.make_read_only(home.parent)
    for line in READING:
        done = assay(home, *line)
        assert done.returncode == 0, (line, done.stderr)
    assert json.loads(assay(home, "runs", "list", "--json").stdout) == before
    refused = assay(home, "runs", "rm", "last", "--yes")
    assert refused.returncode == 1
    assert "for writing" in refused.stderr


def test_changes_that_cannot_be_taken_over_are_named(home: Path) -> None:
    killed_while_writing(home)
    os.unlink(home / "assay.db-shm")  # as in a copy of only the two others
    small_disks.make_read_only(home.parent)
    done = assay(home, "runs", "list")
    assert done.returncode == 1
    assert "assay.db-wal" in done.stderr
    assert "for reading" in done.stderr


def test_changes_in_the_log_are_seen(home: Path) -> None:
    from assay.store.sql.database import Database
    from assay.store.sql.home import SqlCache

    killed_while_writing(home)
    small_disks.make_read_only(home.parent)
    with closing(Database(home / "assay.db")) as database:
        assert SqlCache(database).recall("tide") == b"\x37"
