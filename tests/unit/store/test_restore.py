"""One copy, wherever it was made and wherever it is put: a home, or PostgreSQL with blobs in an object store."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import postgres
import pytest
import zstandard
from object_store import S3Server

from assay import Assay
from assay.app import databases
from assay.core.errors import StoreError, UsageError
from assay.core.ports.models import Secret
from assay.core.sources import sha256
from assay.settings import Settings
from assay.settings.research import SearchSettings
from assay.store.blobs import blob_path
from assay.store.sql import restore, sweep

QUESTION = "When was the harbor built?"
HARBOR = "# Harbor\n\nThe harbor was built in 1843.\n"


@pytest.fixture
def harbor(tmp_path: Path) -> Path:
    (tmp_path / "harbor.md").write_text(HARBOR)
    return tmp_path / "harbor.md"


@pytest.fixture
def shared(new_database: Callable[[], str], s3: S3Server) -> Callable[[], Settings]:
    """Makes settings with an empty database and nothing where blobs go."""
    return lambda: Settings(database=Secret(new_database()), blobs=s3.place())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a document and a run of it, to be copied; and the document."""
    folder = tmp_path_factory.mktemp("filled")
    (folder / "harbor.md").write_text(HARBOR)
    asyncio.run(filled(folder / "home", Settings(), folder / "harbor.md"))
    return folder


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    """Such a home."""
    shutil.copytree(made / "home", tmp_path / "home")
    return tmp_path / "home"


async def filled(home: Path, settings: Settings, harbor: Path) -> None:
    async with Assay(settings, home=home) as assay:
        await assay.add([harbor])
        view = await assay.start(QUESTION, depth="light").view()
        assert view.status == "completed"


async def contents(home: Path, settings: Settings) -> tuple[bytes, str, list[str]]:
    async with Assay(settings, home=home) as assay:
        hits = await assay.search("harbor")
        text = await assay.text("harbor.md")
        return await assay.export("last", ".json"), text, [hit.document.name for hit in hits]


async def goes_on(home: Path, settings: Settings, tmp_path: Path) -> None:
    """New rows get new numbers, and are found."""
    (tmp_path / "mole.md").write_text("# Mole\n\nThe mole was built in 1851.\n")
    async with Assay(settings, home=home) as assay:
        await assay.add([tmp_path / "mole.md"], collection="new")
        assert (await assay.start("When was the mole built?", depth="light").view()).status == "completed"
        assert [hit.document.name for hit in await assay.search("mole", collection="new")] == ["mole.md"]
    assert databases.check_database(home, settings).problems == ()


async def test_what_is_shared_becomes_a_home(harbor: Path, shared: Callable[[], Settings], tmp_path: Path):
    settings = shared()
    await filled(tmp_path / "one", settings, harbor)
    before = await contents(tmp_path / "one", settings)
    assert databases.check_database(tmp_path / "one", settings).problems == ()
    done = databases.backup(tmp_path / "one", settings, tmp_path / "copy.zip")
    assert (done.blobs, done.needed, done.missing) == (1, 1, ())
    restored = databases.restore_backup(tmp_path / "home", Settings(), tmp_path / "copy.zip")
    assert (restored.runs, restored.documents, restored.blobs, restored.damaged) == (1, 1, 1, ())
    assert databases.check_database(tmp_path / "home", Settings()).problems == ()
    assert await contents(tmp_path / "home", Settings()) == before
    await goes_on(tmp_path / "home", Settings(), tmp_path)
    assert {each.name for each in (tmp_path / "home").iterdir()} <= {
        "assay.db", "assay.db-shm", "assay.db-wal", "assay.db.lock", "blobs", "index", "in-use.lock",
    }  # fmt: skip


async def test_a_home_becomes_what_is_shared(home: Path, shared: Callable[[], Settings], tmp_path: Path):
    before = await contents(home, Settings())
    databases.backup(home, Settings(), tmp_path / "copy.zip")
    settings = shared()
    databases.restore_backup(tmp_path / "one", settings, tmp_path / "copy.zip")
    assert await contents(tmp_path / "two", settings) == before  # on any machine
    await goes_on(tmp_path / "three", settings, tmp_path)
    with pytest.raises(StoreError, match="holds runs or documents already"):
        databases.restore_backup(tmp_path / "one", settings, tmp_path / "copy.zip")


async def test_an_index_of_other_documents_is_made_anew(home: Path, new_database: Callable[[], str], tmp_path: Path):
    import postgres

    url = new_database()
    settings = Settings(database=Secret(url), blobs=tmp_path / "blobs", search=SearchSettings(index="postgres"))
    databases.backup(home, Settings(), tmp_path / "copy.zip")
    try:
        for name in ("mole", "pier", "quay"):
            (tmp_path / f"{name}.md").write_text(f"# The {name}\n\nThe {name} was built in 1851.\n")
        async with Assay(settings, home=tmp_path / "one") as assay:
            await assay.add([tmp_path / f"{name}.md" for name in ("mole", "pier", "quay")])
            assert len(await assay.search("built 1851")) == 3
            postgres.empty(url)
            databases.restore_backup(tmp_path / "two", settings, tmp_path / "copy.zip")
            assert [hit.document.name for hit in await assay.search("harbor built 1851")] == ["harbor.md"]
        assert (await contents(tmp_path / "three", settings))[2] == ["harbor.md"]
    finally:
        postgres.drop(url)


async def test_nothing_is_written_over(home: Path, tmp_path: Path):
    databases.backup(home, Settings(), tmp_path / "copy.zip")
    with pytest.raises(StoreError, match="exists already"):
        databases.restore_backup(home, Settings(), tmp_path / "copy.zip")
    with pytest.raises(UsageError, match="no file"):
        databases.restore_backup(tmp_path / "new", Settings(), tmp_path / "none.zip")


async def test_what_is_damaged_in_a_copy_is_left_out_and_named(home: Path, tmp_path: Path):
    done = databases.backup(home, Settings(), tmp_path / "copy.zip")
    with zipfile.ZipFile(tmp_path / "copy.zip") as file:
        members = {name: file.read(name) for name in file.namelist()}
    (blob,) = [name for name in members if name.startswith("blobs/")]
    other = "0" * 64
    members |= {
        blob: b"not what it was",
        f"blobs/{blob_path(other)}": members[blob],
        "../../outside": b"x",
        "x/y": b"x",
    }
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as file:
        for name, data in members.items():
            file.writestr(name, data)
    restored = databases.restore_backup(tmp_path / "new", Settings(), tmp_path / "bad.zip")
    assert (restored.blobs, len(restored.damaged)) == (0, 2)
    assert not (tmp_path / "outside").exists()
    assert {each.name for each in (tmp_path / "new").iterdir()} <= {"assay.db", "assay.db.lock"}
    assert "no blob" in databases.check_database(tmp_path / "new", Settings()).problems[0]
    assert done.blobs == 1


@pytest.mark.parametrize("content", ["nothing", "no database", "cut", "empty zip", "encrypted"])
async def test_what_is_no_copy_leaves_nothing_behind(home: Path, tmp_path: Path, content: str):
    databases.backup(home, Settings(), tmp_path / "copy.zip")
    data = (tmp_path / "copy.zip").read_bytes()
    bad = tmp_path / "bad.zip"
    if content == "empty zip":
        with zipfile.ZipFile(bad, "w") as file:
            file.writestr("readme.txt", "hello")
    elif content == "encrypted":
        flagged = bytearray(data)
        for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            flagged[data.index(mark) + at] |= 1
        bad.write_bytes(flagged)
    else:
        bad.write_bytes({"nothing": b"", "no database": b"hello" * 99, "cut": data[: len(data) // 2]}[content])
    with pytest.raises(StoreError, match=r"bad\.zip"):
        databases.restore_backup(tmp_path / "new", Settings(), bad)
    assert list((tmp_path / "new").iterdir()) == []


def with_member(copy: Path, bad: Path, name: str, data: bytes) -> None:
    """A copy with another member, in the place of the one of its name."""
    with zipfile.ZipFile(copy) as file, zipfile.ZipFile(bad, "w", zipfile.ZIP_DEFLATED) as changed:
        for each in file.namelist():
            if each != name:
                changed.writestr(each, file.read(each))
        changed.writestr(name, data)


async def test_what_unpacks_to_too_much_is_left_out(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(restore, "MAX_BLOB_BYTES", 1_000_000)
    monkeypatch.setattr(restore, "MAX_EXTRA_BYTES", 1_000)
    databases.backup(home, Settings(), tmp_path / "copy.zip")
    zeros = bytes(1_000_001)
    bombs = (sha256(zeros), zstandard.compress(zeros)), ("0" * 64, zeros)
    for number, (name, packed) in enumerate(bombs):
        bad = tmp_path / f"bad{number}.zip"
        with_member(tmp_path / "copy.zip", bad, f"blobs/{blob_path(name)}", packed)
        with_member(bad, tmp_path / "worse.zip", "schedules.json", bytes(1_001))
        restored = databases.restore_backup(tmp_path / f"new{number}", Settings(), tmp_path / "worse.zip")
        assert (restored.blobs, restored.damaged) == (1, (name,))
        assert not (tmp_path / f"new{number}" / "schedules.json").exists()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER later AFTER INSERT ON runs BEGIN DELETE FROM documents; END",
        "CREATE VIEW other AS SELECT 1",
        "CREATE VIRTUAL TABLE found USING fts5(text)",
    ],
)
async def test_a_database_with_more_than_tables_is_refused(home: Path, tmp_path: Path, statement: str):
    databases.backup(home, Settings(), tmp_path / "copy.db")
    databases.backup(home, Settings(), tmp_path / "copy.zip")
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
        connection.execute(statement)
        connection.commit()
    with_member(tmp_path / "copy.zip", tmp_path / "bad.zip", "assay.db", (tmp_path / "copy.db").read_bytes())
    for bad in ("copy.db", "bad.zip"):
        with pytest.raises(StoreError, match="more than Assay's tables"):
            databases.restore_backup(tmp_path / "new", Settings(), tmp_path / bad)
        assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize("copy", ["copy.zip", "copy.db"])
async def test_the_library_it_was_copied_from_leaves_the_restored_ones_bytes(
    harbor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copy: str
):
    monkeypatch.setattr(sweep, "SHARED_SECONDS", -1)
    settings = Settings(blobs=tmp_path / "shared")
    async with Assay(settings, home=tmp_path / "one") as one:
        view = await one.start(QUESTION, sources=harbor, depth="light").view()
        databases.backup(tmp_path / "one", settings, tmp_path / copy)
        databases.restore_backup(tmp_path / "two", settings, tmp_path / copy)
        await one.delete(view.run_id)
        swept = await one.tidy()
        assert swept is not None
        assert (len(swept.rows), swept.blobs, swept.apart) == (1, 0, True)
    assert databases.check_database(tmp_path / "two", settings).problems == ()


async def test_the_database_alone_can_be_put_in_place(home: Path, tmp_path: Path):
    databases.backup(home, Settings(), tmp_path / "copy.db")
    restored = databases.restore_backup(tmp_path / "new", Settings(), tmp_path / "copy.db")
    assert (restored.runs, restored.documents, restored.blobs) == (1, 1, 0)


BROKEN = [
    ("DELETE FROM {0}.events WHERE seq = 3", "without a gap"),
    ("UPDATE {0}.runs SET status = 'cancelled'", "does not say so"),
    ("UPDATE {0}.events SET type = 'run.resumed', data = '{{\"fence\": 9}}' WHERE seq = 2", "its fence is 1"),
    ("INSERT INTO {0}.holds SELECT number, 'step', '0', '{{}}', 'held' FROM {0}.runs", "still held"),
]


@pytest.mark.parametrize(("statement", "why"), BROKEN)
async def test_what_no_write_may_break_is_found_in_postgres(
    harbor: Path, new_database: Callable[[], str], tmp_path: Path, statement: str, why: str
):
    import psycopg
    from sqlalchemy import make_url

    url = new_database()
    settings = Settings(database=Secret(url))
    await filled(tmp_path / "home", settings, harbor)
    found = databases.check_database(tmp_path / "home", settings)
    assert (found.problems, found.runs, found.documents, found.blobs) == ((), 1, 1, 1)
    read = make_url(url)
    with psycopg.connect(postgres.bare(url), autocommit=True) as connection:
        assert connection.execute(statement.format(read.query["schema"])).rowcount > 0
    problems = databases.check_database(tmp_path / "home", settings).problems
    assert any(why in problem for problem in problems), problems


async def test_what_is_missing_or_torn_far_away_is_found(harbor: Path, shared: Callable[[], Settings], tmp_path: Path):
    import obstore
    from obstore.store import from_url

    settings = shared()
    await filled(tmp_path / "one", settings, harbor)
    bare = from_url(str(settings.blobs), client_options={"allow_http": True})
    (entry,) = [each for each in next(iter(obstore.list(bare))) if each["path"].endswith(".zst")]
    obstore.put(bare, entry["path"], b"torn")
    assert databases.check_database(tmp_path / "one", settings, quick=True).problems == ()
    assert "is damaged" in databases.check_database(tmp_path / "one", settings).problems[0]
    assert databases.backup(tmp_path / "one", settings, tmp_path / "copy.zip").missing
    obstore.delete(bare, entry["path"])
    assert "no blob" in databases.check_database(tmp_path / "one", settings, quick=True).problems[0]


async def test_a_database_of_a_server_is_migrated_where_there_is_one(new_database: Callable[[], str], tmp_path: Path):
    url = new_database()
    with pytest.raises(UsageError, match="no Assay tables"):
        databases.migrate(tmp_path, Settings(database=Secret(postgres.with_schema(postgres.bare(url)))))
    async with Assay(Settings(database=Secret(url)), home=tmp_path / "home"):
        pass
    done = databases.migrate(tmp_path, Settings(database=Secret(url)))
    assert done.before == done.now


def test_a_copy_of_a_newer_release_is_refused(tmp_path: Path):
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
        connection.execute("CREATE TABLE assay_schema (version_num TEXT PRIMARY KEY)")
        connection.execute("INSERT INTO assay_schema VALUES ('9999')")
        for table in ("documents", "runs", "files"):
            connection.execute(f"CREATE TABLE {table} (row INTEGER)")
        connection.commit()
    with pytest.raises(StoreError, match="newer"):
        databases.restore_backup(tmp_path / "new", Settings(), tmp_path / "copy.db")


async def test_a_file_which_is_no_database_is_named_so(tmp_path: Path):
    (tmp_path / "rows.jsonl").write_text("{}\n" * 200)
    with pytest.raises(StoreError, match=r"rows\.jsonl cannot be copied: it is damaged \(file is not a database\)"):
        databases.restore_backup(tmp_path / "new", Settings(), tmp_path / "rows.jsonl")
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE birds (name TEXT)")
    with pytest.raises(StoreError, match=r"it is not a database of Assay's; `assay doctor`"):
        databases.restore_backup(tmp_path / "new", Settings(), tmp_path / "other.db")
