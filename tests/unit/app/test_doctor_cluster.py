"""What `assay doctor --cluster` says of a real PostgreSQL database and those who work with it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import pgbouncer
import postgres
import psycopg
import pytest
from click.testing import CliRunner
from journals import begin
from sqlalchemy import make_url

from assay.app.doctor import cluster
from assay.app.doctor.program import Diagnosis
from assay.cli.main import cli
from assay.core.errors import ConfigError
from assay.core.ports import QueueLimits
from assay.settings import Settings, load
from assay.store.sql import open_store

pytest.importorskip("assay.store.sql.postgres", exc_type=ConfigError)


def looked(settings: Settings) -> dict[str, Diagnosis]:
    return {each.name: each for each in cluster.examine(settings)}


def execute(url: str, statement: str) -> None:
    with psycopg.connect(postgres.bare(url), autocommit=True) as connection:
        connection.execute(f"SET search_path = {make_url(url).query['schema']}")
        connection.execute(statement)


@pytest.fixture
def configured(tmp_path: Path, new_database: Callable[[], str]) -> Settings:
    return load(database=new_database(), blobs=tmp_path / "blobs")


def url_of(settings: Settings) -> str:
    assert settings.database is not None
    return settings.database.reveal()


def test_without_a_database_there_is_no_cluster() -> None:
    (found,) = looked(load(database="none")).values()
    assert (found.name, found.state) == ("database", "broken")


def test_one_which_cannot_be_reached_ends_the_look() -> None:
    (found,) = looked(load(database="postgresql://me:hidden@127.0.0.1:1/a")).values()
    assert found.state == "broken"
    assert "hidden" not in found.said + found.fix


async def test_one_in_order_is_fine_throughout(tmp_path: Path, configured: Settings) -> None:
    store = open_store(tmp_path, database=url_of(configured), blobs=tmp_path / "blobs")
    await begin(store.journal)
    found = looked(configured)
    assert {name: each.said for name, each in found.items() if each.state != "ok"} == {}
    assert list(found) == [
        *("pooler", "schema", "processes", "clocks", "connections", "runs", "jobs", "webhooks", "blobs", "index"),
    ]
    assert "1 connected, all of " in found["processes"].said
    assert found["schema"].said.endswith("that of this release")
    assert list((tmp_path / "blobs").rglob("*.zst")) == []  # the probe is gone again
    await store.close()


async def test_runs_which_nobody_takes_up_are_told(tmp_path: Path, configured: Settings) -> None:
    store = open_store(tmp_path, database=url_of(configured), blobs=tmp_path / "blobs")
    for run_id in ("r1", "r2", "r3"):
        lease = await begin(store.journal, run_id)
        await store.journal.release(lease)
        await store.queue.enqueue(run_id)
    execute(url_of(configured), "UPDATE runs SET created_at = now()::text")
    assert looked(configured)["runs"].state == "ok"
    execute(url_of(configured), "UPDATE runs SET created_at = '2020-01-01T00:00:00+00:00'")
    found = looked(configured)["runs"]
    assert (found.state, found.said.split(";")[0]) == ("broken", "3 waiting, 0 executed")
    assert "assay worker" in found.fix
    await store.queue.claim("process 1 on elsewhere since 1", 30.0, QueueLimits())
    found = looked(configured)["runs"]
    assert (found.state, found.said.split(";")[0]) == ("note", "2 waiting, 1 executed by 1 processes")
    execute(url_of(configured), "UPDATE runs SET lease_until = 1 WHERE holder <> ''")
    assert looked(configured)["runs left"].said.startswith("1 were left")
    execute(url_of(configured), "UPDATE queue SET taken = 20")
    dead = looked(configured)["runs dead"]
    assert (dead.state, dead.said.split()[0]) == ("broken", "3")
    await store.close()


async def test_other_releases_and_clocks_are_told(tmp_path: Path, configured: Settings) -> None:
    store = open_store(tmp_path, database=url_of(configured), blobs=tmp_path / "blobs")
    plain = postgres.bare(url_of(configured))
    schema = make_url(url_of(configured)).query["schema"]
    names = ("assay 0.0.1 oldhost 77 1000000000.0", "assay")
    with contextlib.ExitStack() as others:
        for name in names:
            other = others.enter_context(psycopg.connect(plain, application_name=name, autocommit=True))
            other.execute("SELECT pg_advisory_lock_shared(%s, hashtext(%s))", [0x61737364, schema])
        found = looked(configured)
    assert "1 that do not state their release" in found["processes"].said
    assert "1 of 0.0.1" in found["processes"].said
    assert "oldhost" in found["release"].said
    assert found["clocks"].state == "note"
    assert "oldhost by -" in found["clocks"].said
    execute(url_of(configured), "UPDATE assay_schema SET version_num = '0001'")
    assert looked(configured)["schema"].state == "note"
    execute(url_of(configured), "UPDATE assay_schema SET version_num = '9999'")
    assert looked(configured)["schema"].state == "broken"
    execute(url_of(configured), f"UPDATE assay_schema SET version_num = '{cluster.HEAD}'")
    await store.close()


def test_blobs_which_are_not_shared_are_told(tmp_path: Path, configured: Settings) -> None:
    store = open_store(tmp_path, database=url_of(configured), blobs=tmp_path / "blobs")
    assert looked(load(database=url_of(configured)))["blobs"].state == "broken"
    insert = (
        "INSERT INTO snapshots (sha256, url, media_type, size, fetched_at, headers, owner)"
        " VALUES (repeat('b', 64), '', '', 1, '', '{}', '');"
        "INSERT INTO documents (sha256, snapshot_sha256, extractor, url, title, name, media_type, syntax, size,"
        " fetched_at, author, published, language, metadata, lookup)"
        " VALUES (repeat('a', 64), repeat('b', 64), '', '', '', '', '', '', 1, '', '', '', '', '{}', '')"
    )
    execute(url_of(configured), insert)
    found = looked(configured)["blobs"]
    assert found.state == "broken"
    assert "of the latest 1 documents, 1 have no bytes" in found.said
    assert "ASSAY_BLOBS" in found.fix
    shared = looked(load(database=url_of(configured), blobs=tmp_path / "blobs", search={"index": "postgres"}))
    assert shared["index"].state == "note"
    import asyncio

    asyncio.run(store.close())


def test_a_pooler_is_told_by_its_mode(tmp_path: Path, postgres_server: str) -> None:
    if not pgbouncer.program():
        pytest.skip(pgbouncer.MISSING)
    with pgbouncer.running(postgres.bare(postgres_server)) as pooler:
        url = postgres.with_schema(pooler.url)
        found = looked(load(database=url, blobs=tmp_path / "blobs"))
        assert (found["pooler"].state, found["schema"].state) == ("ok", "note")
        (message,) = looked(load(database=pooler.undirected, blobs=tmp_path / "blobs")).values()
        assert (message.name, message.state) == ("pooler", "broken")
        assert "?direct=" in message.fix


def test_the_command_gives_json_and_the_code_of_what_is_broken(
    tmp_path: Path, configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DATABASE", url_of(configured))
    done = CliRunner().invoke(cli, ["doctor", "--cluster", "--json"], standalone_mode=False)
    found = {each["name"]: each for each in json.loads(done.stdout)}
    assert done.return_value == 1
    assert found["blobs"]["state"] == "broken"
    assert all(each["fix"] for each in found.values() if each["state"] != "ok")
    monkeypatch.setenv("ASSAY_BLOBS", str(tmp_path / "blobs"))
    done = CliRunner().invoke(cli, ["doctor", "--cluster"], standalone_mode=False)
    assert done.return_value == 0, done.stdout
