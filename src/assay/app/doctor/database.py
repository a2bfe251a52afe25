"""The PostgreSQL database the settings name: whether it can be reached, and what is in it. Nothing is made."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

from assay.app.doctor.finding import Finding, broken, fine, note
from assay.core.errors import ConfigError, StoreError
from assay.settings import Settings

_ELSEWHERE = "set ASSAY_DATABASE to where it is, or to none for the file in the home"


def examine(settings: Settings) -> Iterator[Finding]:
    """The database and the folder of blobs beside it; nothing where none is named."""
    if settings.database is None:
        return
    try:
        backend = importlib.import_module("assay.store.sql.postgres").Postgres(settings.database.get_secret_value())
        schema, head = backend.schema_version(), importlib.import_module("assay.store.sql.tables").HEAD
    except ConfigError as error:
        yield broken("database", str(error), _ELSEWHERE)
        return
    except StoreError as error:
        yield broken("database", str(error), f"start it, or {_ELSEWHERE}")
        return
    yield fine("database", f"{backend.place}, {_said(schema, head)}")
    yield _blobs(settings.blobs)


def _said(schema: str, head: str) -> str:
    if not schema:
        return "where nothing is yet; the first command that needs it makes the tables"
    return f"schema {schema}" if schema == head else f"schema {schema}, this release's is {head}"


def _blobs(folder: Path | None) -> Finding:
    """Workers on other machines find what was read only in a folder they share."""
    if folder is None:
        return note(
            "blobs", "what was read lies in this machine's home", "for workers on others, set blobs to a shared folder"
        )
    return fine("blobs", f"what was read lies in {folder}")
