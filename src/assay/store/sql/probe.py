"""Examines a database without changing anything: not a byte of it, and no file beside it."""

from __future__ import annotations

import importlib
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import msgspec

from assay.store.sql.tables import HEAD, documents, files, runs, version

State = Literal["missing", "current", "older", "newer", "foreign", "damaged", "unreadable"]
MOST = 10_000
"""The most documents and files that are named; the latest ones."""
SECONDS = 3.0
"""Seconds for which a database is checked for damage."""


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """What a database is, its schema and this release's, how much is in it, and what is wrong.

    `stored` are hashes of blobs that documents need, `read` the files they came from; the latest of each.
    """

    state: State
    schema: str = ""
    head: str = HEAD
    problem: str = ""
    documents: int = 0
    runs: int = 0
    stored: tuple[tuple[str, str], ...] = ()
    read: tuple[bytes, ...] = ()

    @property
    def described(self) -> str:
        """Its state, with problems in brackets."""
        state = "not a database of Assay's" if self.state == "foreign" else self.state
        return f"{state} ({self.problem})" if self.problem else state


def probe(path: Path) -> Probe:
    """Examine the database file at `path`. Blocking, some seconds at most."""
    if not path.exists():
        return Probe(state="missing")
    try:
        with closing(connect(path)) as connection:
            return _looked_at(connection)
    except sqlite3.Error as error:
        damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
        return Probe(state="damaged" if damaged else "unreadable", problem=str(error))


def connect(path: Path) -> sqlite3.Connection:
    """A read-only connection. Without a log beside the file nobody is writing, so no locks are taken either."""
    log = path.with_name(f"{path.name}-wal")
    idle = not log.exists() or not log.stat().st_size
    mode = "mode=ro&immutable=1" if idle else "mode=ro"
    return sqlite3.connect(f"file:{quote(str(path.absolute()))}?{mode}", uri=True, timeout=2)


def _looked_at(connection: sqlite3.Connection) -> Probe:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if version.name not in tables:
        return Probe(state="foreign" if tables else "missing")
    row = connection.execute(f"SELECT version_num FROM {version.name}").fetchone()
    schema = str(row[0]) if row else ""
    if damage := _damage(connection):
        return Probe(state="damaged", schema=schema, problem=damage)
    found = Probe(
        state=_state(schema),
        schema=schema,
        documents=_count(connection, documents.name),
        runs=_count(connection, runs.name),
    )
    if found.state == "newer":
        return found
    stored = connection.execute(f"SELECT sha256, snapshot_sha256 FROM {documents.name} ORDER BY row DESC LIMIT {MOST}")
    read = connection.execute(f"SELECT path FROM {files.name} LIMIT {MOST}")
    return msgspec.structs.replace(found, stored=tuple(stored), read=tuple(path for (path,) in read))


def _state(schema: str) -> State:
    if schema == HEAD:
        return "current"
    # # Imported by name, and only here: Alembic is slow to start.
    known = importlib.import_module("assay.store.migrations").revisions()
    return "older" if schema in known else "newer"


def _count(connection: sqlite3.Connection, table: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(count)


def _damage(connection: sqlite3.Connection) -> str:
    """The damage that SQLite finds within `SECONDS`; empty if none."""
    connection.set_progress_handler(_until(time.monotonic() + SECONDS), 10_000)
    try:
        (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_INTERRUPT:
            raise
        return ""
    finally:
        connection.set_progress_handler(None, 0)
    return "" if result == "ok" else str(result)


def _until(end: float) -> Callable[[], bool]:
    return lambda: time.monotonic() > end
