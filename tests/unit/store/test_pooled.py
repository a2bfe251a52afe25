"""A database behind pgbouncer in transaction mode: what a session would hold is held by the server itself."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import LiteralString

import pgbouncer
import postgres as servers
import psycopg
import pytest
from inner_pytest import environment
from journals import begin, commit_of, draft, seqs, step
from sqlalchemy import NullPool, make_url
from waiting import until

from assay.core.errors import ConfigError, StoreError
from assay.core.ports import Commit, QueueLimits
from assay.store.sql import open_store
from assay.store.sql.sessions import new_session_name, parse_session_name

postgres = pytest.importorskip("assay.store.sql.postgres", exc_type=ConfigError)
ROOT = Path(__file__).parents[3]
SUITES = ("journal", "journal_runs", "journal_control", "queue", "jobs", "feeds", "permits", "library", "buckets")


@pytest.fixture(scope="module")
def pooler(postgres_server: str) -> Iterator[pgbouncer.Pgbouncer]:
    """A pooler of this module's own, to be restarted; it has few sessions, so that clients have to share them."""
    if not pgbouncer.program():
        pytest.skip(pgbouncer.MISSING)
    with pgbouncer.running(postgres_server, size=3) as made:
        yield made


@pytest.fixture
def url(pooler: pgbouncer.Pgbouncer) -> Iterator[str]:
    made = servers.with_schema(pooler.url)
    yield made
    servers.drop(made)


def test_who_only_locks_keeps_no_connection() -> None:
    made = postgres.Postgres("postgresql://h/a")
    shared = made.engine(present=False)
    assert made.session_lock_engine(shared) is shared
    assert isinstance(made.direct_engine().pool, NullPool)
    assert isinstance(postgres.Postgres("postgresql://h/a?direct=b").session_lock_engine(shared).pool, NullPool)


@pytest.mark.parametrize("at", ["", "/name", "user@host", "host:port", "host:1/a/b"])
def test_what_names_no_server_is_refused_with_the_form_wanted(at: str) -> None:
    if not at:
        assert postgres.Postgres("postgresql://h/a?direct=")._direct is None
        return
    with pytest.raises(ConfigError, match="direct=HOST:PORT"):
        postgres.Postgres(f"postgresql://h/a?direct={at}")


def test_the_server_is_the_poolers_database_elsewhere() -> None:
    made = postgres.Postgres("postgresql://me:secret@pool:6432/assay?direct=db.corp&schema=mine&sslmode=require")
    server = made._direct.render_as_string(hide_password=False)
    assert server == "postgresql+psycopg://me:secret@db.corp:5432/assay?sslmode=require"
    other = postgres.Postgres("postgresql://me@pool:6432/pooled?direct=[::1]:5433/assay")
    assert (other._direct.host, other._direct.port, other._direct.database) == ("::1", 5433, "assay")
    assert "secret" not in made.place


async def test_more_processes_than_sessions_work_side_by_side(tmp_path: Path, url: str) -> None:
    stores = [open_store(tmp_path / str(number), database=url) for number in range(6)]
    for number, store in enumerate(stores):
        lease = await begin(store.journal, f"r{number}")
        written = [
            store.journal.commit(lease, Commit(events=(draft(str(key)),), steps=(step(str(key)),))) for key in range(20)
        ]
        await asyncio.gather(*written)
    assert [await seqs(store.journal, f"r{number}") for number, store in enumerate(stores)] == [
        list(range(1, 22)) for _ in stores
    ]
    for store in stores:
        await store.close()


async def test_other_processes_hear_through_the_server_itself(tmp_path: Path, url: str) -> None:
    one, two = open_store(tmp_path / "one", database=url), open_store(tmp_path / "two", database=url)
    heard = asyncio.Event()
    loop = asyncio.get_running_loop()
    stop = two.journal.listen(lambda _: loop.call_soon_threadsafe(heard.set))
    lease = await begin(one.journal)
    async with asyncio.timeout(60):
        for number in count():
            if heard.is_set():
                break
            await one.journal.commit(lease, commit_of(f"{number}"))  # what is written while it connects is not heard
            await asyncio.sleep(0.1)
    stop()
    await one.close()
    await two.close()


def alone(store: object) -> bool:
    database = store.journal.transactions._database  # type: ignore[attr-defined]
    with database.writer() as connection, database.backend.exclusive(connection) as free:
        return bool(free)


async def test_who_cleans_up_knows_whether_others_work(tmp_path: Path, url: str) -> None:
    one = open_store(tmp_path / "one", database=url)
    await begin(one.journal)
    assert alone(one)
    two = open_store(tmp_path / "two", database=url)
    assert not alone(one)
    await two.close()
    await until(lambda: alone(one))  # a server ends a session in a moment of its own
    await one.close()


async def test_the_lock_of_who_works_is_taken_again_when_the_server_has_ended_its_session(
    tmp_path: Path, url: str
) -> None:
    one, two = open_store(tmp_path / "one", database=url), open_store(tmp_path / "two", database=url)
    await begin(one.journal)
    with psycopg.connect(servers.bare(url), autocommit=True) as connection:
        schema = make_url(url).query["schema"]

        def locks(what: LiteralString) -> int:
            of = "WHERE locktype = 'advisory' AND objsubid = 2 AND objid = (hashtext(%s)::bigint & 4294967295)"
            return len(connection.execute(f"SELECT {what} FROM pg_locks {of}", [schema]).fetchall())

        assert locks("pg_terminate_backend(pid)")
        await until(lambda: not locks("pid"))
    for store in (one, two):
        await asyncio.to_thread(store.library.last_row)  # a connection is used: the lock is there again
    assert not alone(one)
    await one.close()
    await two.close()


async def test_a_restart_of_the_pooler_loses_nothing_and_writes_nothing_twice(
    tmp_path: Path, url: str, pooler: pgbouncer.Pgbouncer
) -> None:
    store = open_store(tmp_path, database=url)
    journal = store.journal
    lease = await begin(journal)
    for number in range(3):
        pooler.stop()
        waiting = [
            journal.commit(lease, Commit(events=(draft(key),), steps=(step(key),)))
            for key in (f"{number}a", f"{number}b")
        ]
        reading = asyncio.ensure_future(journal.events("r1"))
        await asyncio.sleep(0.3)
        await asyncio.to_thread(pooler.start)
        for each in waiting:
            await each
        await reading
    assert (await journal.renew(lease, 30)).action == ""
    assert await seqs(journal) == list(range(1, 8))
    assert len((await journal.load("r1")).steps) == 6
    assert await store.queue.claim("worker", 4.0, QueueLimits()) is None
    await store.close()


def test_a_pooler_of_which_the_url_says_nothing_is_refused_with_what_mends_it(
    tmp_path: Path, pooler: pgbouncer.Pgbouncer
) -> None:
    began = time.monotonic()
    with pytest.raises(StoreError, match=r"a pooler: add to its URL \?direct=HOST:PORT"):
        open_store(tmp_path, database=servers.with_schema(pooler.undirected))
    assert time.monotonic() - began < 25  # it does not wait for what will not pass


def test_one_that_leaves_the_schema_out_is_refused_too(tmp_path: Path, postgres_server: str) -> None:
    if not pgbouncer.program():
        pytest.skip(pgbouncer.MISSING)
    with pgbouncer.running(postgres_server) as made:
        settings = made.folder / "pgbouncer.ini"
        settings.write_text(settings.read_text() + "ignore_startup_parameters = options\n")
        made.stop()
        made.start()
        with pytest.raises(StoreError, match="drops `options`"):
            open_store(tmp_path, database=servers.with_schema(made.undirected))


def test_what_stands_before_a_server_is_told(postgres_server: str, pooler: pgbouncer.Pgbouncer) -> None:
    behind = servers.bare(postgres_server).split("://")[1].split("@")[1].split("/")[0]
    assert postgres.Postgres(servers.bare(postgres_server)).detect_pooler() == ("none", False)
    assert postgres.Postgres(f"{pooler.undirected}?direct={behind}").detect_pooler() == ("transaction", True)
    with pgbouncer.running(servers.bare(postgres_server), mode="session") as sessions:
        assert postgres.Postgres(sessions.undirected).detect_pooler() == ("session", False)


def test_a_sessions_name_fits_and_is_read_back() -> None:
    name = new_session_name()
    assert len(name) <= 63
    read = parse_session_name(name)
    assert read is not None
    assert (read.process, abs(read.clock - time.time()) < 60) == (os.getpid(), True)
    assert parse_session_name("assay") is None
    assert parse_session_name("assay 1 host x y") is None


@pytest.mark.campaign
def test_the_contract_suites_hold_through_the_pooler(postgres_server: str) -> None:
    if not pgbouncer.program():
        pytest.skip(pgbouncer.MISSING)
    suites = [f"tests/contracts/test_{name}_contract.py" for name in SUITES]
    line = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-k", "postgres", "-p", "no:cacheprovider", *suites]
    place = {servers.NAMED: servers.bare(postgres_server), pgbouncer.THROUGH: "1"}
    done = subprocess.run(line, cwd=ROOT, env=environment(**place), capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout[-4000:]
