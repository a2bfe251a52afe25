"""A home of the release before owners: all in it is the local user's afterwards, and nothing of it is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Connection, text

from assay.core.ports.store import Store
from assay.store import migrations
from assay.store.sql import open_store
from assay.store.sql.database import Database
from assay.store.sql.home import locate_database
from assay.store.sql.tables import metadata, version

SHA, RAW = "a" * 64, "b" * 64
OLD = (
    (
        "INSERT INTO runs (run_id, question, brief, created_at, status, holder, lease_until, fence, control,"
        " active_seconds, last_seq, thread) VALUES"
        " ('r1', 'q', '{\"labels\": {\"team\": \"sea\"}}', '2026-01-01', 'completed', '', 0, 1, '', 1.0, 0, ''),"
        " ('r2', 'q', '{}', '2026-01-02', 'completed', '', 0, 1, '', 1.0, 0, 'harbor'),"
        " ('r3', 'q', '{}', '2026-01-03', 'completed', '', 0, 1, '', 1.0, 0, 'harbor')"
    ),
    (
        "INSERT INTO snapshots (sha256, url, media_type, size, fetched_at, headers, redirects, status)"
        f" VALUES ('{RAW}', 'u', 'text/plain', 3, '2026-01-01', '{{}}', '[\"v\"]', 200)"
    ),
    (
        'INSERT INTO documents ("row", sha256, snapshot_sha256, extractor, url, title, name, media_type, syntax, size,'
        " fetched_at, author, published, language, metadata, lookup)"
        f" VALUES (7, '{SHA}', '{RAW}', 'text/1', 'u', 'Tides', 'tides.txt', 'text/plain', 'plain', 3, '2026-01-01',"
        " '', '', 'en', '{}', 'tides')"
    ),
    "INSERT INTO collections (number, name, private) VALUES (3, 'papers', 1)",
    "INSERT INTO members (collection, document) VALUES (3, 7)",
)


def older(connection: Connection, place: bytes) -> None:
    """The tables of the release before, with something in each."""
    metadata.drop_all(connection)
    version.create(connection)
    settings = migrations.config()
    settings.attributes["connection"] = connection
    command.upgrade(settings, "0008")
    for statement in OLD:
        connection.exec_driver_sql(statement)
    connection.execute(
        text(
            "INSERT INTO origins (collection, place, kind, options, documents, left_out, synced_at)"
            " VALUES (3, :place, 'files', '{}', '[]', '[]', '')"
        ),
        {"place": place},
    )
    connection.execute(
        text(
            "INSERT INTO files (path, size, mtime_ns, documents, extractor, warnings)"
            " VALUES (:place, 3, 1, '[]', 'text/1', '[]')"
        ),
        {"place": place},
    )


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    url = "" if request.param == "sqlite" else request.getfixturevalue("new_database")()
    opened = Database(locate_database(tmp_path, url))
    with opened.write() as connection:
        older(connection, b"/papers")
        if request.param == "sqlite":  # rows up to 40 were given, and their documents are gone
            connection.exec_driver_sql("UPDATE sqlite_sequence SET seq = 40 WHERE name = 'documents'")
        else:
            connection.exec_driver_sql("SELECT setval(pg_get_serial_sequence('documents', 'row'), 40)")
    opened.close()
    return open_store(tmp_path, database=url)


async def test_runs_have_the_labels_they_were_begun_with(store: Store) -> None:
    rows = {row.run_id: row.labels for row in await store.journal.runs(9)}
    assert rows == {"r1": {"team": "sea"}, "r2": {}, "r3": {}}
    await store.close()


def test_all_is_the_local_user_s(store: Store, request: pytest.FixtureRequest):
    async def check() -> None:
        local, ana = store.owned_by(""), store.owned_by("ana")
        assert [row.run_id for row in await local.journal.runs()] == ["r3", "r2", "r1"]
        assert await ana.journal.runs() == []
        (row,) = local.library.collections()
        assert (row.name, row.private, row.documents, row.origins) == ("papers", True, 1, 1)
        document = local.library.document(SHA)
        assert document is not None
        assert document.title == "Tides"
        snapshot = local.library.snapshot(RAW)
        assert snapshot is not None
        assert snapshot.redirects == ("v",)
        assert local.library.stamps(["/papers"]).get("/papers") is not None
        assert ana.library.document(SHA) is None
        # a row number is never given twice
        new = type(document)(**{**_fields(document), "sha256": "c" * 64})
        local.library.add([(snapshot, new)], "papers")
        assert local.library.members(["papers"]) == {7, 41}
        await store.close()

    asyncio.run(check())


def test_no_reference_is_broken(store: Store, tmp_path: Path, request: pytest.FixtureRequest):
    asyncio.run(store.close())
    if not (tmp_path / "assay.db").exists():
        pytest.skip("PostgreSQL checks references when a constraint is made")
    opened = Database(tmp_path / "assay.db")
    with opened.read() as connection:
        assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
        threads = connection.exec_driver_sql("SELECT name, title, owner FROM threads").all()
    opened.close()
    assert threads == [("harbor", "", "")]


def _fields(document: object) -> dict[str, object]:
    return {name: getattr(document, name) for name in document.__struct_fields__}  # type: ignore[attr-defined]
