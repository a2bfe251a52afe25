"""Checks a home, and what the settings name instead of it, without creating or changing anything in it."""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from assay.app.doctor.program import Diagnosis, broken_diagnosis, note_diagnosis, ok_diagnosis
from assay.core.clean import error_words
from assay.core.errors import ConfigError, SearchError, StoreError
from assay.core.milestones import pluralize
from assay.search.local.index import document_count
from assay.services.home_paths import index_folder
from assay.settings import Settings
from assay.store.blobs import FolderBlobs
from assay.store.sql.home import BLOBS_FOLDER, DATABASE_FILE
from assay.store.sql.integrity import MAX_NAMED_ROWS, Probe, probe

# The PostgreSQL database and the OpenSearch in the settings: whether they can be reached, and their contents.

_OTHER_DATABASE = "set ASSAY_DATABASE to where it is, or to none for the file in the home"


def examine_database(settings: Settings) -> Iterator[Diagnosis]:
    """Check the database and the place of the blobs, but not the contents of the home."""
    if settings.database is not None:
        yield from _check_database(settings.database.reveal())
        if settings.blobs is None:
            detail = "blobs are in this machine's home"
            yield note_diagnosis(
                "blobs", detail, "for workers on others, set blobs to a shared folder or an object store"
            )
    yield from _blobs(settings.blobs)
    if settings.search.index == "opensearch":
        yield _opensearch(settings)


def _opensearch(settings: Settings) -> Diagnosis:
    if settings.search.opensearch is None:
        return broken_diagnosis(
            "search index", "search.index is opensearch, and no address is set", "set ASSAY_SEARCH_OPENSEARCH"
        )
    client_class = importlib.import_module("assay.search.opensearch.client").OpenSearchClient
    try:
        client = client_class(settings.search.opensearch.reveal(), attempts=1)
        version_info = client.call("GET", "/").get("version", {})
    except (ConfigError, SearchError) as error:
        return broken_diagnosis("search index", str(error), "start it, or set search.index to local")
    client.close()
    return ok_diagnosis(
        "search index", f"{version_info.get('distribution', '?')} {version_info.get('number', '?')} at {client.host}"
    )


def _check_database(url: str) -> Iterator[Diagnosis]:
    try:
        backend = importlib.import_module("assay.store.sql.postgres").Postgres(url)
        schema, head = backend.schema_version(), importlib.import_module("assay.store.sql.tables").HEAD
    except ConfigError as error:
        yield broken_diagnosis("database", str(error), _OTHER_DATABASE)
        return
    except StoreError as error:
        yield broken_diagnosis("database", str(error), f"start it, or {_OTHER_DATABASE}")
        return
    yield ok_diagnosis("database", f"{backend.place}, {_schema_state(schema, head)}")


def _blobs(location: Path | str | None) -> Iterator[Diagnosis]:
    """Check that the place of the blobs can be reached, if it is not the home. Writes nothing."""
    if location is None:
        return
    if isinstance(location, Path):
        yield ok_diagnosis("blobs", f"blobs are in {location}")
        return
    try:
        next(
            iter(importlib.import_module("assay.store.objects").ObjectBlobs(location, retry_seconds=1).list_blobs()),
            None,
        )
    except (ConfigError, StoreError) as error:
        yield broken_diagnosis(
            "blobs", str(error), "look at the keys, the region and the endpoint in the environment (AWS_…)"
        )
        return
    yield ok_diagnosis("blobs", f"blobs are in {location}, which can be reached")


def _schema_state(schema: str, head: str) -> str:
    if not schema:
        return "nothing is there yet; the first command that needs it creates the tables"
    return f"schema {schema}" if schema == head else f"schema {schema}, this release's is {head}"


# The home itself.

_ELSEWHERE = "or name another home with --home or ASSAY_HOME"
_LITTLE, _TOO_LITTLE = 500_000_000, 50_000_000
"""Free bytes: below the first a note; below the second nothing works for long."""


def examine_home(home: Path, blobs: Path | str | None = None, *, elsewhere: bool = False) -> Iterator[Diagnosis]:
    """Check the folder, the free space, the database, the index, and the stored documents.

    `blobs` is their place, if not in the home; remote ones are not checked one by one. `elsewhere` says that the
    database is not the file in the home.
    """
    try:
        if not home.exists():
            yield _missing_home(home)
            yield _space(home)
            return
        unusable = _folder(home)
        if unusable is not None:
            yield unusable
            return
    except OSError as error:
        yield broken_diagnosis(
            "home", f"{home} cannot be looked at: {error.strerror}", f"check its permissions, {_ELSEWHERE}"
        )
        return
    yield ok_diagnosis("home", f"{home} can be read and written")
    yield _space(home)
    if elsewhere:
        return
    database = probe(home / DATABASE_FILE)
    yield _database(home / DATABASE_FILE, database)
    if database.state in ("current", "older"):
        yield _index(home, database)
        yield from _documents(None if isinstance(blobs, str) else blobs or home / BLOBS_FOLDER, database)


def _missing_home(home: Path) -> Diagnosis:
    above = next((folder for folder in home.parents if folder.exists()), home.parent)
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        return broken_diagnosis(
            "home", f"{home} does not exist and cannot be created in {above}", f"create it, {_ELSEWHERE}"
        )
    return ok_diagnosis("home", f"{home} does not exist yet; the first command that needs it creates it")


def _folder(home: Path) -> Diagnosis | None:
    """Why the folder cannot be a home, None if it can."""
    if not home.is_dir():
        return broken_diagnosis("home", f"{home} is not a folder", f"move it away, {_ELSEWHERE}")
    if not os.access(home, os.R_OK | os.X_OK):
        return broken_diagnosis("home", f"{home} cannot be read", f"check its permissions and its owner, {_ELSEWHERE}")
    if not os.access(home, os.W_OK):
        return broken_diagnosis(
            "home", f"{home} cannot be written", f"check its permissions and its owner, {_ELSEWHERE}"
        )
    return None


def _space(home: Path) -> Diagnosis:
    folder = next(candidate for candidate in (home, *home.parents) if candidate.exists())
    free = shutil.disk_usage(folder).free
    detail = f"{free / 1e9:,.1f} GB free in {folder}" if free >= 1e9 else f"{free / 1e6:,.0f} MB free in {folder}"
    if free < _TOO_LITTLE:
        return broken_diagnosis("space", detail, f"free some space, {_ELSEWHERE}")
    return (
        note_diagnosis("space", detail, "snapshots and the index need about twice the size of what is added")
        if (free < _LITTLE)
        else ok_diagnosis("space", detail)
    )


def _database(path: Path, database: Probe) -> Diagnosis:
    match database.state:
        case "missing":
            return ok_diagnosis("database", "there is none yet")
        case "current":
            return ok_diagnosis(
                "database",
                f"schema {database.schema}, {pluralize(database.documents, 'document')}, "
                f"{pluralize(database.runs, 'run')}",
            )
        case "older":
            detail = (
                f"schema {database.schema} of an earlier release: it is brought to {database.head} "
                "when it is next opened"
            )
            return note_diagnosis("database", detail, f"keep a copy of {path} to be able to go back")
        case "newer":
            detail = f"schema {database.schema} of a later release; this one knows {database.head}"
            return broken_diagnosis("database", detail, f"update Assay, {_ELSEWHERE}")
        case "foreign":
            return broken_diagnosis("database", f"{path} is not Assay's", f"move it away, {_ELSEWHERE}")
        case "damaged":
            return broken_diagnosis(
                "database", f"{path} is damaged: {database.problem}", f"restore a copy, {_ELSEWHERE}"
            )
        case "unreadable":
            return broken_diagnosis("database", f"{path}: {database.problem}", f"check its permissions, {_ELSEWHERE}")


def _index(home: Path, database: Probe) -> Diagnosis:
    folder = index_folder(home)
    try:
        indexed_count = document_count(folder)
    except (ValueError, OSError) as error:
        return note_diagnosis(
            "index", f"it cannot be read ({error_words(error)})", "nothing to do: the next search rebuilds it"
        )
    if indexed_count is None and not database.documents:
        return ok_diagnosis("index", "there is none yet")
    if (indexed_count or 0) < database.documents:
        detail = f"it has {indexed_count or 0:,} of {database.documents:,} documents"
        return note_diagnosis("index", detail, "nothing to do: the next search brings it up to date")
    return ok_diagnosis("index", f"in step with the library: {pluralize(indexed_count or 0, 'document')}")


def _documents(folder: Path | None, database: Probe) -> Iterator[Diagnosis]:
    """Check that the stored texts exist, and the files they were read from."""
    lost = [] if folder is None else _lost_documents(FolderBlobs(folder), database)
    scope = f"the latest {MAX_NAMED_ROWS:,}" if database.documents > MAX_NAMED_ROWS else "all"
    if lost:
        detail = f"of {scope} documents, {len(lost):,} have no stored text or snapshot any more (first: {lost[0][:12]})"
        yield broken_diagnosis("documents", detail, f"restore {folder} from a copy, or add their files again")
    elif database.documents and folder is not None:
        yield ok_diagnosis("documents", f"the texts and snapshots of {scope} are there")
    missing = [path for path in database.read if not os.access(path, os.R_OK)]
    if missing:
        first = os.fsdecode(missing[0])
        detail = f"of the files that were added, {len(missing):,} can no longer be read (first: {first})"
        yield note_diagnosis("files", detail, "nothing to do: what was read is kept")


def _lost_documents(blobs: FolderBlobs, database: Probe) -> list[str]:
    return [document for document, snapshot in database.stored if not (blobs.has(document) and blobs.has(snapshot))]
