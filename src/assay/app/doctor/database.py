"""The PostgreSQL database and the OpenSearch the settings name: whether they can be reached, and what is in them.

Nothing is made.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

from assay.app.doctor.program import (
    Diagnosis,
    broken,
    fine,
    note,
)
from assay.core.errors import ConfigError, SearchError, StoreError
from assay.settings import Settings

_ELSEWHERE = "set ASSAY_DATABASE to where it is, or to none for the file in the home"


def examine(settings: Settings) -> Iterator[Diagnosis]:
    """The database, and where blobs lie; nothing of what is in the home."""
    if settings.database is not None:
        yield from _database(settings.database.get_secret_value())
        if settings.blobs is None:
            said = "what was read lies in this machine's home"
            yield note("blobs", said, "for workers on others, set blobs to a shared folder or an object store")
    yield from _blobs(settings.blobs)
    if settings.search.index == "opensearch":
        yield _opensearch(settings)


def _opensearch(settings: Settings) -> Diagnosis:
    if settings.search.opensearch is None:
        return broken(
            "search index", "search.index is opensearch, and no address is set", "set ASSAY_SEARCH_OPENSEARCH"
        )
    made = importlib.import_module("assay.search.opensearch.client").OpenSearchClient
    try:
        client = made(settings.search.opensearch.get_secret_value(), attempts=1)
        about = client.call("GET", "/").get("version", {})
    except (ConfigError, SearchError) as error:
        return broken("search index", str(error), "start it, or set search.index to local")
    client.close()
    return fine("search index", f"{about.get('distribution', '?')} {about.get('number', '?')} at {client.place}")


def _database(url: str) -> Iterator[Diagnosis]:
    try:
        backend = importlib.import_module("assay.store.sql.postgres").Postgres(url)
        schema, head = backend.schema_version(), importlib.import_module("assay.store.sql.tables").HEAD
    except ConfigError as error:
        yield broken("database", str(error), _ELSEWHERE)
        return
    except StoreError as error:
        yield broken("database", str(error), f"start it, or {_ELSEWHERE}")
        return
    yield fine("database", f"{backend.place}, {_said(schema, head)}")


def _blobs(at: Path | str | None) -> Iterator[Diagnosis]:
    """Where blobs lie, when that is not the home: whether it can be reached. Nothing is written."""
    if at is None:
        return
    if isinstance(at, Path):
        yield fine("blobs", f"what was read lies in {at}")
        return
    try:
        next(iter(importlib.import_module("assay.store.objects").ObjectBlobs(at, retry_seconds=1).stored()), None)
    except (ConfigError, StoreError) as error:
        yield broken("blobs", str(error), "look at the keys, the region and the endpoint in the environment (AWS_…)")
        return
    yield fine("blobs", f"what was read lies in {at}, which can be reached")


def _said(schema: str, head: str) -> str:
    if not schema:
        return "where nothing is yet; the first command that needs it makes the tables"
    return f"schema {schema}" if schema == head else f"schema {schema}, this release's is {head}"
