"""A page of a good database is overwritten: the check names it, commands say it, and none makes it worse."""

from __future__ import annotations

import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import warm

PAGE = 4096
TABLES = ("documents", "runs", "events", "steps", "collections")
NAMED = "damaged or not a database: move it away, or name another home with --home"


def assay(place: Path, *words: str) -> tuple[int, str]:
    environment = {
        "PATH": os.environ["PATH"],
        "ASSAY_HOME": str(place / "home"),
        "ASSAY_CONFIG": str(place / "no.toml"),
    }
    ended = warm.run(*words, cwd=place, env=environment)
    assert "Traceback" not in ended.stderr
    return ended.returncode, ended.stderr


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with documents and a run."""
    place = tmp_path_factory.mktemp("good")
    (place / "tides.md").write_text("# Tides\n\nThe tide rises twice a day at the harbour of Vlissingen.\n")
    code, done = assay(place, "When does the tide rise at the harbour?", "--in", "tides.md", "--offline", "-q")
    assert code == 0, done
    assert assay(place, "db", "backup", "kept.zip")[0] == 0
    return place


@pytest.mark.parametrize("table", TABLES)
def test_a_damaged_page_is_named_and_nothing_is_written_over_it(good: Path, table: str) -> None:
    path, kept = good / "home" / "assay.db", (good / "kept.zip").read_bytes()
    whole = path.read_bytes()
    with closing(sqlite3.connect(path)) as database:
        found = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        page: int = found[0]
    broken = random.Random(table).randbytes(PAGE)
    path.write_bytes(whole[: (page - 1) * PAGE] + broken + whole[page * PAGE :])
    try:
        code, done = assay(good, "db", "check")
        assert (code, len(done.splitlines())) == (1, 1)
        assert f"Page {page}:" in done
        code, done = assay(good, "db", "backup", "kept.zip")
        assert code != 0
        assert (good / "kept.zip").read_bytes() == kept
        code, done = assay(good, "How often does the tide rise?", "--in", "tides.md", "--offline", "-q")
        assert (code, len(done.splitlines())) == (1, 1)
        assert NAMED in done
        assert assay(good, "runs", "list")[0] in (0, 1)
        assert path.read_bytes()[(page - 1) * PAGE : page * PAGE] == broken
    finally:
        for beside in path.parent.glob("assay.db-*"):
            beside.unlink()
        path.write_bytes(whole)
    assert assay(good, "db", "check")[0] == 0
