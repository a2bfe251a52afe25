"""What is PostgreSQL's own: its URL, its schema, migrations, clock, and words for what goes wrong."""

from __future__ import annotations

import asyncio
import random
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import postgres as servers
import pytest
import small_disks
from hypothesis import given
from hypothesis import strategies as st
from journals import begin, commit_of, draft, seqs, step
from queues import put
from sqlalchemy import Connection, inspect
from sqlalchemy.exc import InternalError

from assay.core.errors import ConfigError, DiskFull, StoreAway, StoreError
from assay.core.ports import Commit, QueueLimits
from assay.store.sql import database as databases
from assay.store.sql import open_store
from assay.store.sql.database import Database
from assay.store.sql.schema import escape, unescape
from assay.store.sql.tables import HEAD, metadata, version

postgres = pytest.importorskip("assay.store.sql.postgres", exc_type=ConfigError)
psycopg = pytest.importorskip("psycopg")


@given(st.text(alphabet=st.sampled_from("a\0\x1b01\n")))
def test_text_with_nul_comes_back_as_it_was(text: str) -> None:
    assert "\0" not in escape(text)
    assert unescape(escape(text)) == text


@pytest.mark.parametrize(
    "url", ["", "mysql://host/a", "postgresql://host", "postgresql://host/a?schema=A-b", "x://[", "::"]
)
def test_what_is_no_url_of_a_database_is_refused_with_the_form_wanted(url: str) -> None:
    with pytest.raises(ConfigError, match="database: "):
        postgres.Postgres(url)


def test_a_password_is_never_shown() -> None:
    made = postgres.Postgres("postgresql://me:secret@127.0.0.1:1/name?schema=mine")
    assert "secret" not in made.place
    assert "127.0.0.1" in made.place
    assert made.schema == "mine"
    also = postgres.Postgres("postgresql://me@127.0.0.1/name?password=secret&sslmode=require")
    assert "secret" not in also.place


def test_a_server_which_is_not_there_is_said_to_be_away(tmp_path: Path) -> None:
    with pytest.raises(StoreAway, match="cannot be reached"):
        open_store(tmp_path, database="postgresql://me:secret@127.0.0.1:1/name")


def test_a_connection_whose_answers_are_out_of_step_is_away_and_a_fault_of_the_server_is_not() -> None:
    made = postgres.Postgres("postgresql://me@127.0.0.1:1/name")
    of_the_driver = psycopg.InternalError("received 2 results from command 'ROLLBACK'")
    of_the_server = psycopg.errors.InternalError_("cache lookup failed")  # XX000
    away, fault = (made.explain(InternalError("ROLLBACK", {}, each)) for each in (of_the_driver, of_the_server))
    assert isinstance(away, StoreAway)
    assert "received 2 results" in str(away)
    assert not isinstance(fault, StoreAway)


def columns(database: Database) -> dict[str, object]:
    with database.read() as connection:
        seen = inspect(connection)
        return {
            name: (
                [
                    (each["name"], str(each["type"]), each["nullable"], each["default"])
                    for each in seen.get_columns(name)
                ],
                seen.get_pk_constraint(name),
                sorted(seen.get_unique_constraints(name), key=str),
                sorted(seen.get_indexes(name), key=str),
                sorted((each["name"], each["constrained_columns"]) for each in seen.get_foreign_keys(name)),
            )
            for name in seen.get_table_names()
        }


def test_an_upgraded_database_equals_a_new_one(postgres_server: str) -> None:
    new, old = servers.with_schema(postgres_server), servers.with_schema(postgres_server)
    one = Database(postgres.Postgres(new))
    two = Database(postgres.Postgres(old))
    with two.write() as connection:
        metadata.drop_all(connection)
        version.create(connection)
    two.close()
    two = Database(postgres.Postgres(old))
    assert set(columns(one)) == {table.name for table in metadata.sorted_tables}
    assert columns(one) == columns(two)
    for database, url in ((one, new), (two, old)):
        database.close()
        servers.drop(url)


def test_a_newer_database_is_refused(tmp_path: Path, postgres_server: str) -> None:
    url = servers.with_schema(postgres_server)
    database = Database(postgres.Postgres(url))
    with database.write() as connection:
        connection.execute(version.update().values(version_num="9999"))
    database.close()
    with pytest.raises(StoreError, match=f"newer Assay .schema 9999, this release knows {HEAD}"):
        open_store(tmp_path, database=url)
    servers.drop(url)


def test_leases_go_by_the_servers_clock(tmp_path: Path, new_database: Callable[[], str], monkeypatch) -> None:
    store = open_store(tmp_path, database=new_database())
    monkeypatch.setattr(time, "time", lambda: 1.0)  # a machine whose clock is far behind

    async def check() -> None:
        lease = await begin(store.journal, ttl=30)
        assert (await store.journal.find("r1")).holder == lease.holder
        await store.close()

    asyncio.run(check())


def test_several_processes_may_make_one_database(tmp_path: Path, postgres_server: str) -> None:
    url = servers.with_schema(postgres_server)

    async def all_at_once() -> None:
        opened = await asyncio.gather(*(asyncio.to_thread(open_store, tmp_path, database=url) for _ in range(4)))
        for store in opened:
            await store.close()

    asyncio.run(all_at_once())
    servers.drop(url)


@pytest.fixture(scope="module")
def server() -> Iterator[servers.Server]:
    """A server of this module's own, to be restarted."""
    found = servers.binaries()
    if servers.reason_to_skip() or found is None:
        pytest.skip(servers.MISSING)
    made = servers.new_server(found)
    yield made
    made.remove()


async def test_a_restart_loses_nothing_and_writes_nothing_twice(tmp_path: Path, server: servers.Server) -> None:
    store = open_store(tmp_path, database=servers.with_schema(server.url))
    journal = store.journal
    lease = await begin(journal)
    await journal.commit(lease, commit_of("a"))
    await asyncio.to_thread(server.stop)
    waiting = [journal.commit(lease, Commit(events=(draft(key),), steps=(step(key),))) for key in ("b", "c", "d")]
    reading = asyncio.ensure_future(journal.events("r1"))
    await asyncio.sleep(0.3)
    await asyncio.to_thread(server.start)
    written = [await each for each in waiting]
    assert [event.seq for events in written for event in events] == [3, 4, 5]
    assert len(await reading) >= 2
    assert (await journal.renew(lease, 30)).action == ""
    assert await seqs(journal) == [1, 2, 3, 4, 5]
    assert sorted((await journal.load("r1")).steps) == ["b", "c", "d"]
    assert await asyncio.to_thread(store.library.last_row) == 0
    await store.close()


async def test_what_stays_away_is_said_to_be(tmp_path: Path, server: servers.Server, monkeypatch) -> None:
    store = open_store(tmp_path, database=servers.with_schema(server.url))
    lease = await begin(store.journal)
    await asyncio.to_thread(server.stop)
    with monkeypatch.context() as patience:
        patience.setattr(databases, "PATIENCE_SECONDS", 0.3)
        patience.setattr("assay.store.sql.transactions.PATIENCE_SECONDS", 0.3)
        with pytest.raises(StoreAway, match="cannot be reached"):
            await store.journal.commit(lease, Commit(steps=(step("a"),)))
        with pytest.raises(StoreAway, match="cannot be reached"):
            await asyncio.to_thread(store.library.last_row)
    await asyncio.to_thread(server.start)
    await store.journal.commit(lease, Commit(steps=(step("b"),)))
    assert sorted((await store.journal.load("r1")).steps) == ["b"]
    await store.close()


async def test_who_is_stopped_inside_a_transaction_holds_nobody_up(
    tmp_path: Path, new_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a process to which SIGSTOP came while it claimed a run: the server lets go of its locks; woken, it goes on."""
    monkeypatch.setattr(postgres, "IDLE_SECONDS", 1)
    url = new_database()
    stopped, other = open_store(tmp_path / "one", database=url), open_store(tmp_path / "two", database=url)
    began, woken = threading.Event(), threading.Event()
    tries = []

    def claim(connection: Connection) -> str:
        tries.append(1)
        stopped.journal.transactions._database.backend.serialize_claims(connection)
        began.set()
        woken.wait(60)
        stopped.journal.transactions.time(connection)
        return "claimed"

    try:
        waiting = asyncio.ensure_future(stopped.journal.transactions.write(claim))
        await asyncio.to_thread(began.wait, 60)
        await put(other, "a")
        start = time.monotonic()
        lease = await other.queue.claim("worker 2", 4.0, QueueLimits())
        assert lease is not None
        assert lease.run_id == "a"
        assert time.monotonic() - start < 20  # it would wait 30 s for the lock, and fail
        woken.set()
        assert await asyncio.wait_for(waiting, 60) == "claimed"
        assert len(tries) >= 2
    finally:
        woken.set()
        await stopped.close()
        await other.close()


def test_a_full_disk_of_the_server_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = servers.binaries()
    if found is None:
        pytest.skip(servers.MISSING)
    place = Path(tempfile.mkdtemp(prefix="assay-disk-"))
    place.chmod(0o755)  # the server runs as another user
    try:
        with small_disks.small_disk(place / "disk", "120m") as disk:
            monkeypatch.setattr(tempfile, "tempdir", str(disk))
            server = servers.new_server(found)
            try:
                store = open_store(tmp_path, database=server.url)
                small_disks.fill(disk / "filler")
                with pytest.raises(DiskFull, match="No space left"):
                    store.cache.keep("tide", random.Random(7).randbytes(200_000))
                assert store.cache.recall("tide") is None
                asyncio.run(store.close())
            finally:
                server.remove()
    finally:
        shutil.rmtree(place)
