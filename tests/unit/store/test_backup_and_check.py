"""Copies which are homes, and a check which finds what was broken."""

from __future__ import annotations

import asyncio
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from assay import Assay
from assay.app import databases
from assay.cli.main import main
from assay.core.errors import StoreError, UsageError
from assay.settings import Settings
from assay.store.blobs import FolderBlobs
from assay.store.sql.integrity import IntegrityReport
from assay.store.sql.integrity import check_library as check_all
from assay.store.sql.tables import HEAD

SETTINGS = Settings()


def check(home: Path, *, quick: bool = False) -> IntegrityReport:
    return check_all(home / "assay.db", FolderBlobs(home / "blobs"), quick=quick)


@pytest.fixture(scope="module")
def researched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home and the document its one run has read."""
    folder = tmp_path_factory.mktemp("researched")
    (folder / "harbor.md").write_text("# Harbor\n\nThe harbor was built in 1843.\n")

    async def research() -> None:
        async with Assay(home=folder / "home") as assay:
            await assay.start("When was the harbor built?", sources=folder / "harbor.md", depth="light").view()

    asyncio.run(research())
    return folder


@pytest.fixture
def home(researched: Path, tmp_path: Path) -> Path:
    shutil.copytree(researched, tmp_path, dirs_exist_ok=True)
    return tmp_path / "home"


def sql(home: Path, statement: str) -> None:
    with closing(sqlite3.connect(home / "assay.db")) as connection:
        assert connection.execute(statement).rowcount > 0
        connection.commit()


async def test_a_copy_of_all_is_a_home(home: Path, tmp_path: Path):
    (home / "schedules.json").write_text("[]")
    done = databases.backup(home, SETTINGS, tmp_path / "copy.zip")
    assert (done.blobs, done.needed, done.missing) == (1, 1, ())
    with zipfile.ZipFile(tmp_path / "copy.zip") as file:
        assert {name.partition("/")[0] for name in file.namelist()} == {"assay.db", "blobs", "schedules.json"}
        file.extractall(tmp_path / "restored")
    assert check(tmp_path / "restored").problems == ()
    async with Assay(home=home) as old, Assay(home=tmp_path / "restored") as new:
        assert await new.export("last", ".json") == await old.export("last", ".json")
        assert [hit.document.name for hit in await new.search("harbor", collection="unsorted")] == ["harbor.md"]


def test_a_small_copy_has_its_size_in_words(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["db", "backup", str(tmp_path / "copy.zip"), "--home", str(home)]) == 0
    assert re.match(r"[1-9]\d* kB; 1 blob in it$", capsys.readouterr().err, re.MULTILINE)


def test_the_database_alone_is_one_file(home: Path, tmp_path: Path):
    done = databases.backup(home, SETTINGS, tmp_path / "copy.db")
    assert (done.blobs, done.needed) == (0, 1)
    assert sorted(each.name for each in tmp_path.glob("copy*")) == ["copy.db"]
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (1,)


def test_nothing_is_overwritten_and_no_half_copy_is_left(home: Path, tmp_path: Path):
    (tmp_path / "mine.zip").write_text("mine")
    with pytest.raises(UsageError, match="already exists"):
        databases.backup(home, SETTINGS, tmp_path / "mine.zip")
    with pytest.raises(UsageError, match="does not exist"):
        databases.backup(home, SETTINGS, tmp_path / "none" / "copy.zip")
    with pytest.raises(StoreError, match="missing"):
        databases.backup(tmp_path, SETTINGS, tmp_path / "copy.zip")
    (home / "assay.db").write_bytes(b"no database " * 500)
    with pytest.raises(StoreError):
        databases.backup(home, SETTINGS, tmp_path / "copy.zip")
    assert (tmp_path / "mine.zip").read_text() == "mine"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["harbor.md", "home", "mine.zip"]


@pytest.fixture
def writing(home: Path) -> Iterator[None]:
    """Another connection which writes all the time."""
    stop = threading.Event()

    def write() -> None:
        with closing(sqlite3.connect(home / "assay.db", timeout=30)) as connection:
            number = 0
            while not stop.is_set():
                number += 1
                connection.execute("INSERT INTO memos VALUES (?, ?)", (f"k{number}", b"x" * 2_000))
                connection.commit()

    thread = threading.Thread(target=write)
    thread.start()
    yield
    stop.set()
    thread.join()


@pytest.mark.usefixtures("writing")
def test_a_home_is_copied_while_it_is_written(home: Path, tmp_path: Path):
    databases.backup(home, SETTINGS, tmp_path / "copy.zip")
    with zipfile.ZipFile(tmp_path / "copy.zip") as file:
        file.extractall(tmp_path / "restored")
    assert check(tmp_path / "restored").problems == ()


BROKEN = [
    ("DELETE FROM events WHERE seq = 3", "without a gap"),
    ("UPDATE runs SET last_seq = last_seq + 1", "without a gap"),
    ("UPDATE runs SET fence = 0, holder = 'x'", "never taken"),
    ("UPDATE runs SET status = 'cancelled'", "does not say so"),
    ("UPDATE events SET type = 'run.resumed', data = CAST('{\"fence\": 9}' AS BLOB) WHERE seq = 2", "its fence is 1"),
    ("INSERT INTO holds SELECT number, 'step', '0', '{}', 'held' FROM runs", "still held"),
    ("UPDATE members SET document = 99", "not there"),
    (
        "UPDATE events SET data = CAST(replace(data, '\"usd\":', '\"usd\";') AS BLOB) WHERE seq = 6",
        "event 6 (usage.updated)",
    ),
    (
        "UPDATE events SET data = CAST(replace(data, '1843', '1943') AS BLOB) WHERE type = 'report.revised'",
        "not what was verified",
    ),
    (
        "UPDATE events SET data = CAST(replace(data, '1843', '1943') AS BLOB) WHERE type = 'finding.added'",
        "not what was verified",
    ),
    ("UPDATE events SET path = replace(path, ']', '}') WHERE seq = 6", "cannot be read"),
    ("UPDATE documents SET sha256 = 'ab' || substr(sha256, 3)", "no blob"),
]


@pytest.mark.parametrize(("statement", "why"), BROKEN)
def test_what_no_write_may_break_is_found(home: Path, statement: str, why: str):
    assert check(home).problems == ()
    sql(home, statement)
    assert any(why in problem for problem in check(home).problems), check(home).problems


def test_a_damaged_blob_is_found_by_reading_it(home: Path):
    (blob,) = (home / "blobs").glob("??/*.zst")
    blob.write_bytes(blob.read_bytes()[:-3] + b"xxx")
    assert check(home, quick=True).problems == ()
    assert "damaged" in check(home).problems[0]
    blob.unlink()
    assert "no blob" in check(home, quick=True).problems[0]


def test_a_check_changes_nothing(home: Path):
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    check(home)
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before


def test_an_older_database_is_copied_before_it_is_migrated(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    script = (
        "import sys; from alembic import command; from sqlalchemy import create_engine; "
        "from assay.store import migrations\n"
        "settings = migrations.config(); engine = create_engine('sqlite:///' + sys.argv[1])\n"
        "with engine.begin() as connection:\n"
        "    settings.attributes['connection'] = connection; command.upgrade(settings, '0003')\n"
    )
    subprocess.run([sys.executable, "-c", script, str(home / "assay.db")], check=True)
    with pytest.raises(StoreError, match="assay db migrate"):
        databases.check_database(home, SETTINGS)
    done = databases.migrate(home, SETTINGS)
    assert (done.before, done.now, done.copy) == ("0003", HEAD, str(home / "assay.db.schema-0003"))
    with closing(sqlite3.connect(done.copy)) as connection:
        assert connection.execute("SELECT version_num FROM assay_schema").fetchone() == ("0003",)
    assert databases.check_database(home, SETTINGS).problems == ()
    again = databases.migrate(home, SETTINGS)
    assert (again.before, again.copy) == (HEAD, "")
