"""A home, looked at without making or changing anything in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from assay.app.doctor.program import (
    Diagnosis,
    broken,
    fine,
    note,
)
from assay.search.local.index import extent
from assay.services.home_paths import index_folder
from assay.store.blobs import FolderBlobs
from assay.store.sql.home import BLOBS, DATABASE
from assay.store.sql.probe import MOST, Probe, probe

_ELSEWHERE = "or name another home with --home or ASSAY_HOME"
_LITTLE, _TOO_LITTLE = 500_000_000, 50_000_000
"""Bytes free: below the first a note, below the second nothing works for long."""


def examine(home: Path, blobs: Path | str | None = None, *, elsewhere: bool = False) -> Iterator[Diagnosis]:
    """The folder, the space left, the database, the index, and what is stored of the documents.

    `blobs` is where that lies, when not in the home; what lies far away is not asked for here, one by one. `elsewhere`
    says that the database is not the file in the home.
    """
    try:
        if not home.exists():
            yield _not_made(home)
            yield _space(home)
            return
        unusable = _folder(home)
        if unusable is not None:
            yield unusable
            return
    except OSError as error:
        yield broken("home", f"{home} cannot be looked at: {error.strerror}", f"check its permissions, {_ELSEWHERE}")
        return
    yield fine("home", f"{home} can be read and written")
    yield _space(home)
    if elsewhere:
        return
    found = probe(home / DATABASE)
    yield _database(home / DATABASE, found)
    if found.state in ("current", "older"):
        yield _index(home, found)
        yield from _documents(None if isinstance(blobs, str) else blobs or home / BLOBS, found)


def _not_made(home: Path) -> Diagnosis:
    above = next((folder for folder in home.parents if folder.exists()), home.parent)
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        return broken("home", f"{home} is not there and cannot be made in {above}", f"make it, {_ELSEWHERE}")
    return fine("home", f"{home} is not there yet; the first command that needs it makes it")


def _folder(home: Path) -> Diagnosis | None:
    """What keeps the folder from being a home, None when nothing does."""
    if not home.is_dir():
        return broken("home", f"{home} is not a folder", f"move it away, {_ELSEWHERE}")
    if not os.access(home, os.R_OK | os.X_OK):
        return broken("home", f"{home} cannot be read", f"check its permissions and its owner, {_ELSEWHERE}")
    if not os.access(home, os.W_OK):
        return broken("home", f"{home} cannot be written", f"check its permissions and its owner, {_ELSEWHERE}")
    return None


def _space(home: Path) -> Diagnosis:
    folder = next(each for each in (home, *home.parents) if each.exists())
    free = shutil.disk_usage(folder).free
    said = f"{free / 1e9:,.1f} GB free in {folder}" if free >= 1e9 else f"{free / 1e6:,.0f} MB free in {folder}"
    if free < _TOO_LITTLE:
        return broken("space", said, f"free some space, {_ELSEWHERE}")
    return (
        note("space", said, "snapshots and the index need about twice the size of what is added")
        if (free < _LITTLE)
        else fine("space", said)
    )


def _database(path: Path, found: Probe) -> Diagnosis:
    match found.state:
        case "missing":
            return fine("database", "there is none yet")
        case "current":
            return fine(
                "database",
                f"schema {found.schema}, {_counted(found.documents, 'document')}, {_counted(found.runs, 'run')}",
            )
        case "older":
            said = f"schema {found.schema} of an earlier release: it is brought to {found.head} when it is next opened"
            return note("database", said, f"keep a copy of {path} to be able to go back")
        case "newer":
            said = f"schema {found.schema} of a later release; this one knows {found.head}"
            return broken("database", said, f"update Assay, {_ELSEWHERE}")
        case "foreign":
            return broken("database", f"{path} is not Assay's", f"move it away, {_ELSEWHERE}")
        case "damaged":
            return broken("database", f"{path} is damaged: {found.problem}", f"restore a copy, {_ELSEWHERE}")
        case "unreadable":
            return broken("database", f"{path}: {found.problem}", f"check its permissions, {_ELSEWHERE}")


def _index(home: Path, found: Probe) -> Diagnosis:
    folder = index_folder(home)
    try:
        indexed = extent(folder)
    except (ValueError, OSError) as error:
        return note("index", f"it cannot be read ({error})", "nothing to do: the next search makes it anew")
    if indexed is None and not found.documents:
        return fine("index", "there is none yet")
    if (indexed or 0) < found.documents:
        said = f"it has {indexed or 0:,} of {found.documents:,} documents"
        return note("index", said, "nothing to do: the next search brings it up to date")
    return fine("index", f"in step with the library: {_counted(indexed or 0, 'document')}")


def _documents(folder: Path | None, found: Probe) -> Iterator[Diagnosis]:
    """Whether the stored texts are there, and the files they were read from."""
    lost = [] if folder is None else _lost(FolderBlobs(folder), found)
    of = f"the latest {MOST:,}" if found.documents > MOST else "all"
    if lost:
        said = f"of {of} documents, {len(lost):,} have no stored text or snapshot any more (first: {lost[0][:12]})"
        yield broken("documents", said, f"restore {folder} from a copy, or add their files again")
    elif found.documents and folder is not None:
        yield fine("documents", f"the texts and snapshots of {of} are there")
    gone = [path for path in found.read if not os.access(path, os.R_OK)]
    if gone:
        first = os.fsdecode(gone[0])
        said = f"of the files which were added, {len(gone):,} can no longer be read (first: {first})"
        yield note("files", said, "nothing to do: what was read is kept")


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _lost(blobs: FolderBlobs, found: Probe) -> list[str]:
    return [document for document, snapshot in found.stored if not (blobs.has(document) and blobs.has(snapshot))]
