"""Opening a home: made, upgraded, or refused with a reason."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Select, event, inspect, select

from assay.core.errors import StoreError
from assay.store import migrations
from assay.store.sql import open_store, sqlite
from assay.store.sql.database import Database
from assay.store.sql.tables import HEAD, metadata, version


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def schema(path: Path) -> dict[str, object]:
    """Every table: columns, keys, constraints, and what SQLite knows beside them."""
    engine = sqlite.create_sqlite_engine(path)
    found = inspect(engine)
    tables = {
        table: (
            [(column["name"], str(column["type"]), column["nullable"]) for column in found.get_columns(table)],
            found.get_pk_constraint(table),
            sorted(map(str, found.get_foreign_keys(table))),
            sorted(map(str, found.get_unique_constraints(table))),
            sorted(map(str, found.get_indexes(table))),
        )
        for table in found.get_table_names()
    }
    engine.dispose()
    with closing(sqlite3.connect(path)) as connection:
        declared = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
    return {
        table: (parts, "WITHOUT ROWID" in declared[table], "AUTOINCREMENT" in declared[table])
        for table, parts in tables.items()
    }


def empty_of_version(path: Path) -> None:
    """A database to which no migration has been applied."""
    engine = sqlite.create_sqlite_engine(path)
    with engine.begin() as connection:
        metadata.create_all(connection, tables=[version])
    engine.dispose()


def test_a_new_home_is_made_for_its_owner(tmp_path):
    store = open_store(tmp_path / "deep" / "home")
    asyncio.run(store.close())
    assert (tmp_path / "deep" / "home" / "assay.db").exists()
    if sys.platform != "win32":
        assert (tmp_path / "deep" / "home").stat().st_mode & 0o077 == 0


def test_connections_are_set_up_for_several_processes(tmp_path):
    database = Database(tmp_path / "a.db")
    with database.read() as connection:
        asked = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "busy_timeout", "foreign_keys", "synchronous")
        ]
    database.close()
    assert asked == ["wal", 30_000, 1, 1]


def test_an_upgraded_database_equals_a_new_one(tmp_path):
    Database(tmp_path / "new.db").close()
    empty_of_version(tmp_path / "old.db")
    Database(tmp_path / "old.db").close()

    new, old = schema(tmp_path / "new.db"), schema(tmp_path / "old.db")
    assert set(new) == set(old)
    for name, declared in new.items():
        assert declared == old[name], name
    with closing(sqlite3.connect(tmp_path / "old.db")) as connection:
        assert connection.execute("SELECT version_num FROM assay_schema").fetchall() == [(HEAD,)]


def test_the_head_is_the_last_migration(tmp_path):
    scripts = migrations.ScriptDirectory.from_config(migrations.config())
    assert scripts.get_heads() == [HEAD]
    assert HEAD in migrations.revisions()


def test_a_failing_migration_leaves_the_database_as_it_was(tmp_path):
    path = tmp_path / "old.db"
    empty_of_version(path)
    execute(path, "CREATE TABLE members (a INTEGER)")  # in the way of the last table
    before = schema(path)
    with pytest.raises(StoreError, match="members"):
        Database(path)
    assert schema(path) == before


def test_a_newer_database_is_refused_with_the_fix(tmp_path):
    asyncio.run(open_store(tmp_path).close())
    execute(tmp_path / "assay.db", "UPDATE assay_schema SET version_num = '9999'")
    with pytest.raises(StoreError, match=rf"newer Assay \(schema 9999, this release knows {HEAD}\): update Assay"):
        open_store(tmp_path)
    with closing(sqlite3.connect(tmp_path / "assay.db")) as connection:
        assert connection.execute("SELECT version_num FROM assay_schema").fetchall() == [("9999",)]


def test_a_foreign_database_is_refused_and_left_alone(tmp_path):
    execute(tmp_path / "assay.db", "CREATE TABLE other (a INTEGER)")
    before = (tmp_path / "assay.db").read_bytes()
    with pytest.raises(StoreError, match="is not an Assay database"):
        open_store(tmp_path)
    assert (tmp_path / "assay.db").read_bytes() == before


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "assay.db").write_bytes(b"plain text, long enough to look at" * 100)
    with pytest.raises(StoreError, match="damaged or not a database"):
        open_store(tmp_path)


@pytest.mark.parametrize("replaced", [True, False], ids=["replaced", "removed"])
def test_a_file_that_is_taken_away_while_it_is_open_gets_nothing_more(tmp_path, replaced):
    home, away = tmp_path / "home", tmp_path / "away"
    store = open_store(home)
    home.rename(away)
    if replaced:
        asyncio.run(open_store(home).close())
    for call in (lambda: store.library.mark("lost", private=True), store.library.collections):
        with pytest.raises(StoreError, match="removed or replaced"):
            call()
    if replaced:
        shutil.rmtree(home)
    away.rename(home)
    store.library.mark("kept", private=True)
    assert [row.name for row in store.library.collections()] == ["kept"]
    asyncio.run(store.close())


def test_a_damaged_database_is_refused(tmp_path):
    asyncio.run(open_store(tmp_path).close())
    path = tmp_path / "assay.db"
    data = bytearray(path.read_bytes())
    data[100:4096] = b"\xff" * 3996  # the schema's page
    path.write_bytes(bytes(data))
    with pytest.raises(StoreError, match="damaged or not a database"):
        open_store(tmp_path)


def test_a_home_that_cannot_be_made_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be a home: Not a directory"):
        open_store(tmp_path / "file" / "home")


def test_an_interrupted_creation_is_finished(tmp_path):
    (tmp_path / "assay.db").write_bytes(b"")  # killed before the first write
    asyncio.run(open_store(tmp_path).close())
    assert "runs" in schema(tmp_path / "assay.db")


def test_several_may_open_a_new_home_at_once(tmp_path):
    stores, errors = [], []

    def work() -> None:
        try:
            stores.append(open_store(tmp_path))
        except StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for store in stores:
        asyncio.run(store.close())
    assert errors == []
    assert len(stores) == 8


def test_opening_a_current_home_does_not_load_alembic(tmp_path):
    code = (
        "import asyncio, pathlib, sys\n"
        "from assay.store.sql import open_store\n"
        f"for _ in range(2): asyncio.run(open_store(pathlib.Path({str(tmp_path)!r})).close())\n"
        "print('alembic' in sys.modules, 'mako' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=_env())
    assert (done.stdout.strip(), done.stderr) == ("False False", "")


def test_the_memory_store_does_not_load_sqlalchemy():
    code = "import sys; import assay.store.memory; print('sqlalchemy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=_env())
    assert (done.stdout.strip(), done.stderr) == ("False", "")


def test_a_writer_that_waited_too_long_names_the_reason(tmp_path):
    database = Database(tmp_path / "a.db")

    def hurry(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA busy_timeout = 50")

    engine = sqlite.create_sqlite_engine(tmp_path / "a.db")
    event.listen(engine, "connect", hurry)
    with database.write(), engine.connect() as second:
        with pytest.raises(sqlite3.Error) as error:
            second.execution_options(**sqlite.WRITE_OPTION).begin()
        backend = sqlite.Sqlite(tmp_path / "a.db")
        assert backend.is_busy(error.value)
        assert "another process has been writing" in str(backend.explain(error.value))
        with database.read() as reader:  # readers do not wait
            assert reader.exec_driver_sql("SELECT count(*) FROM runs").scalar() == 0
    engine.dispose()
    database.close()


def _env() -> dict[str, str]:
    source = Path(sqlite.__file__).parents[3]
    return {"PYTHONPATH": str(source), "PATH": "/usr/bin:/bin"}


def test_one_statement_begins_no_transaction_and_several_see_one_state(tmp_path):
    made = Database(tmp_path / "assay.db")
    lines: list[str] = []
    event.listen(made._engine, "checkout", lambda driver, *_: driver.set_trace_callback(lines.append))
    chosen = select(version.c.version_num)
    assert [row.version_num for row in made.rows(chosen)] == [HEAD]
    assert [each.split()[0] for each in lines] == ["SELECT"]
    with made.read() as connection:
        before = connection.execute(chosen).scalar()
        with made.write() as writing:
            writing.execute(version.update().values(version_num="r0000"))
        assert connection.execute(chosen).scalar() == before == HEAD
        assert [row.version_num for row in made.rows(chosen)] == ["r0000"]
    made.close()
    with pytest.raises(StoreError, match="not a database"):
        _damaged_rows(tmp_path, chosen)


def _damaged_rows(folder: Path, chosen: Select[str]) -> None:
    made = Database(folder / "damaged.db")
    made._engine.dispose()
    (folder / "damaged.db").write_bytes(b"no database" * 1_000)
    for each in folder.glob("damaged.db-*"):
        each.unlink()
    made.rows(chosen)
