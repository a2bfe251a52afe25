"""What `assay doctor` says of a PostgreSQL database and of OpenSearch, and that it makes nothing there."""

from __future__ import annotations

from pathlib import Path

import postgres
import pytest
from object_store import S3Server
from opensearch_server import running
from sqlalchemy import inspect

from assay.app.doctor import home_check
from assay.app.doctor.program import Diagnosis
from assay.core.errors import ConfigError
from assay.settings import Settings, load
from assay.store.sql import open_store

pytest.importorskip("assay.store.sql.postgres", exc_type=ConfigError)


def looked(settings: Settings) -> dict[str, Diagnosis]:
    return {each.name: each for each in home_check.examine_database(settings)}


def test_without_a_database_nothing_is_said() -> None:
    assert looked(load(database="none")) == {}


def test_one_which_cannot_be_reached_is_said_with_the_fix() -> None:
    found = looked(load(database="postgresql://me:hidden@127.0.0.1:1/a"))["database"]
    assert found.state == "broken"
    assert "cannot be reached" in found.said
    assert "ASSAY_DATABASE" in found.fix
    assert "hidden" not in found.said + found.fix


async def test_a_look_makes_nothing_and_then_tells_the_schema(tmp_path: Path, postgres_server: str) -> None:
    url = postgres.with_schema(postgres_server)
    first = looked(load(database=url))
    assert first["database"].state == "ok"
    assert "nothing is there yet" in first["database"].said
    from assay.store.sql.postgres import Postgres

    engine = Postgres(url).engine()
    assert Postgres(url).schema not in inspect(engine).get_schema_names()
    engine.dispose()
    await open_store(tmp_path, database=url).close()
    second = looked(load(database=url, blobs=tmp_path))
    assert ", schema 0" in second["database"].said
    assert second["blobs"].state == "ok"
    assert looked(load(database=url))["blobs"].state == "note"
    postgres.drop(url)


def test_where_blobs_lie_is_looked_at(s3: S3Server) -> None:
    (found,) = looked(load(database="none", blobs=s3.place())).values()
    assert (found.name, found.state) == ("blobs", "ok")
    (found,) = looked(load(database="none", blobs="s3://nobodys/place")).values()
    assert found.state == "broken"
    assert "AWS_" in found.fix
    assert not any(each.startswith("PUT") for each in s3.asked)


def test_opensearch_is_looked_at() -> None:
    with running("ann:hidden") as server:
        (found,) = looked(in_opensearch(server.url)).values()
        assert (found.name, found.state) == ("search index", "ok")
        assert found.said == f"opensearch 2.19.0 at {server.url.partition('@')[2]}"
        (found,) = looked(in_opensearch(server.url.replace("ann", "bob"))).values()
        assert found.state == "broken"
        assert "refuses the login" in found.said
        assert "hidden" not in found.said + found.fix
    (found,) = looked(in_opensearch(server.url)).values()
    assert "cannot be reached" in found.said
    (found,) = looked(load(database="none", search={"index": "opensearch"})).values()
    assert (found.state, found.fix) == ("broken", "set ASSAY_SEARCH_OPENSEARCH")


def in_opensearch(address: str) -> Settings:
    return load(database="none", search={"index": "opensearch", "opensearch": address})
