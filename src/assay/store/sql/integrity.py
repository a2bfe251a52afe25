"""Examines a home without changing anything: what its database is, whether its rules hold, and every stored byte.

A database in a file is read without writing a byte of it, and no file beside it.
"""

from __future__ import annotations

import importlib
import sqlite3
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import msgspec

from assay.core.clean import error_words
from assay.core.errors import StoreError
from assay.core.events import Envelope
from assay.core.view import CHANGED, fold_events
from assay.store.blobs import READER_THREADS, KeptBlobs
from assay.store.sql.database import Database, DatabaseBackend
from assay.store.sql.sqlite import wal_path
from assay.store.sql.tables import HEAD, documents, files, runs, version

State = Literal["missing", "current", "older", "newer", "foreign", "damaged", "unreadable"]
MAX_NAMED_ROWS = 10_000
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
    def description(self) -> str:
        """Its state, with problems in brackets."""
        state = "not a database of Assay's" if self.state == "foreign" else self.state
        return f"{state} ({self.problem})" if self.problem else state


def probe(path: Path) -> Probe:
    """Examine the database file at `path`. Blocking, some seconds at most."""
    try:
        if not path.exists():
            return Probe(state="missing")
        with closing(connect(path)) as connection:
            return _probe_connection(connection)
    except sqlite3.Error as error:
        is_damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
        return Probe(state="damaged" if is_damaged else "unreadable", problem=str(error))
    except OSError as error:
        return Probe(state="unreadable", problem=error_words(error))


def connect(path: Path) -> sqlite3.Connection:
    """A read-only connection. Without a log beside the file nobody is writing, so no locks are taken either."""
    log = wal_path(path)
    idle = not log.exists() or not log.stat().st_size
    mode = "mode=ro&immutable=1" if idle else "mode=ro"
    return sqlite3.connect(f"file:{quote(str(path.absolute()))}?{mode}", uri=True, timeout=2)


def _probe_connection(connection: sqlite3.Connection) -> Probe:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if version.name not in tables:
        return Probe(state="foreign" if tables else "missing")
    row = connection.execute(f"SELECT version_num FROM {version.name}").fetchone()
    schema = str(row[0]) if row else ""
    if damage := _first_damage(connection):
        return Probe(state="damaged", schema=schema, problem=damage)
    result = Probe(
        state=_state(schema),
        schema=schema,
        documents=_count(connection, documents.name),
        runs=_count(connection, runs.name),
    )
    if result.state == "newer":
        return result
    hashes = connection.execute(
        f"SELECT sha256, snapshot_sha256 FROM {documents.name} ORDER BY row DESC LIMIT {MAX_NAMED_ROWS}"
    )
    path_rows = connection.execute(f"SELECT path FROM {files.name} LIMIT {MAX_NAMED_ROWS}")
    return msgspec.structs.replace(result, stored=tuple(hashes), read=tuple(path for (path,) in path_rows))


def _state(schema: str) -> State:
    if schema == HEAD:
        return "current"
    # Imported by name, and only here: Alembic is slow to start.
    revisions = importlib.import_module("assay.store.migrations").revisions()
    return "older" if schema in revisions else "newer"


def _count(connection: sqlite3.Connection, table: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(count)


def _first_damage(connection: sqlite3.Connection) -> str:
    """The damage that SQLite finds within `SECONDS`; empty if none."""
    end = time.monotonic() + SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > end, 10_000)
    try:
        (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_INTERRUPT:
            raise
        return ""
    finally:
        connection.set_progress_handler(None, 0)
    return "" if result == "ok" else str(result)


# The integrity of a home: the database, its rules, and every stored byte.

MAX_PROBLEMS = 100
"""Problems of one kind that are listed."""

# Each returns sentences, none if all is well. `data` is text in a column of bytes.
_RULES = (
    """
    SELECT 'run ' || run_id || ': the log has ' || count(e.seq) || ' events up to ' || coalesce(max(e.seq), 0)
        || ', and should have ' || last_seq || ' without a gap'
    FROM runs r LEFT JOIN events e ON e.run = r.number GROUP BY r.number
    HAVING count(e.seq) <> last_seq OR coalesce(max(e.seq), 0) <> last_seq OR coalesce(min(e.seq), 1) <> 1
    """,
    "SELECT 'run ' || run_id || ': it has a holder, and was never taken' FROM runs WHERE holder <> '' AND fence < 1",
    """
    SELECT 'run ' || run_id || ' is ' || status || ', and its log does not say so' FROM runs r
    WHERE status IN ('completed', 'failed', 'cancelled') AND NOT EXISTS (
        SELECT 1 FROM events e WHERE e.run = r.number AND e.type = 'run.' || r.status)
    """,
    """
    SELECT 'run ' || run_id || ' is ' || status || ', and ' || count(*) || ' calls are still held' FROM runs r
    JOIN holds h ON h.run = r.number WHERE status IN ('completed', 'cancelled') AND h.state = 'held' GROUP BY r.number
    """,
)

_FENCES = """
    SELECT 'run ' || run_id || ': its fence is ' || fence || ', and ' || highest || ' has written to its log'
    FROM (SELECT r.run_id, r.fence, max(FENCE) AS highest
        FROM runs r JOIN events e ON e.run = r.number WHERE e.type = 'run.resumed' GROUP BY r.number) written
    WHERE highest > fence
"""
_FENCE_SQLITE = "json_extract(CAST(e.data AS TEXT), '$.fence')"
_FENCE_POSTGRES = "(convert_from(e.data, 'UTF8')::json ->> 'fence')::bigint"


class IntegrityReport(msgspec.Struct, frozen=True, kw_only=True):
    """The checks made, and the problems; `unreferenced` blobs belong to no document, and do no harm."""

    schema: str
    runs: int
    events: int
    documents: int
    blobs: int
    unreferenced: int
    problems: tuple[str, ...] = ()


def check_library(location: Path | DatabaseBackend, blobs: KeptBlobs, *, quick: bool = False) -> IntegrityReport:
    """Check everything in a library and its runs, without changes. Blocking, as long as reading every byte takes.

    Args:
        location: the database's file, or how to connect to it.
        blobs: the blobs; remote ones are read remotely.
        quick: check that blobs exist, without reading them or what the logs say.

    Raises:
        StoreError: there is no database that this release can read, or the blobs cannot be reached.
    """
    if isinstance(location, Path):
        result = _check_file(location, quick=quick)
    else:
        result = _check_server(location, quick=quick)
    stored_blobs = {blob.name for blob in blobs.list_blobs() if blob.size}
    return msgspec.structs.replace(
        result.report,
        blobs=len(stored_blobs),
        unreferenced=len(stored_blobs - result.needed.keys()),
        problems=(*result.report.problems, *_check_blobs(blobs, result.needed, stored_blobs, quick=quick)),
    )


class _CheckResult(msgspec.Struct, frozen=True):
    """The problems in a database, and the blobs its documents need, each with the name of one document."""

    report: IntegrityReport
    needed: dict[str, str]


RunQuery = Callable[[str], Iterable[Sequence[Any]]]
"""Returns the rows of a statement."""


def _check_file(path: Path, *, quick: bool) -> _CheckResult:
    result = probe(path)
    if result.state != "current":
        advice = "; `assay db migrate` brings it to this release's schema" if result.state == "older" else ""
        raise StoreError(f"{path} cannot be checked: it is {result.description}{advice}")
    try:
        with closing(connect(path)) as connection:
            damage = _find_damage(connection)
            return _check_rows(connection.execute, result.schema, damage, _FENCE_SQLITE, quick=quick)
    except sqlite3.Error as error:
        raise StoreError(f"{path} cannot be read: {error}; restore a copy (assay db restore)") from error


def _check_server(backend: DatabaseBackend, *, quick: bool) -> _CheckResult:
    with closing(Database(backend)) as database, database.read() as connection:
        return _check_rows(connection.exec_driver_sql, HEAD, (), _FENCE_POSTGRES, quick=quick)


def _check_rows(ask: RunQuery, schema: str, damage: Iterable[str], fence: str, *, quick: bool) -> _CheckResult:
    log_problems = () if quick else islice(_log_problems(ask), MAX_PROBLEMS)
    problems = (*damage, *_broken_rules(ask, fence), *log_problems)
    counts = {table: int(next(iter(ask(f"SELECT count(*) FROM {table}")))[0]) for table in _COUNTED}
    report = IntegrityReport(schema=schema, **counts, blobs=0, unreferenced=0, problems=problems)
    return _CheckResult(report, _needed_blobs(ask))


_COUNTED = ("runs", "events", "documents")


def _find_damage(connection: sqlite3.Connection) -> Iterator[str]:
    for (line,) in connection.execute(f"PRAGMA integrity_check({MAX_PROBLEMS})"):
        if line != "ok":
            yield f"database: {line}"
    for table, row, other_table, _ in connection.execute("PRAGMA foreign_key_check").fetchmany(MAX_PROBLEMS):
        yield f"database: row {row} of {table} refers to a row of {other_table} which is not there"


def _broken_rules(ask: RunQuery, fence: str) -> Iterator[str]:
    """Violations of the rules of `core.ports.Journal`, as far as the stored data shows them."""
    for rule in (*_RULES, _FENCES.replace("FENCE", fence)):
        for (line,) in islice(ask(rule), MAX_PROBLEMS):
            yield str(line)


def _log_problems(ask: RunQuery) -> Iterator[str]:
    """The runs whose log cannot be read, or whose report is not the text that was verified."""
    for number, run_id in list(ask("SELECT number, run_id FROM runs ORDER BY number")):
        rows = ask(f"SELECT seq, at, path, type, data FROM events WHERE run = {int(number)} ORDER BY seq")
        try:
            view = fold_events(_envelope(run_id, *row) for row in rows)
        except (StoreError, msgspec.MsgspecError) as error:
            yield f"run {run_id}: its log cannot be read: {error}; restore a copy (assay db restore)"
            continue
        if view.gate is not None and CHANGED in view.gate.problems:
            yield f"run {run_id}: its report or a quote is not what was verified; restore a copy (assay db restore)"


def _envelope(run_id: str, seq: int, at: str, path: str | list[str], type: str, data: bytes) -> Envelope:
    """A row of the log, whose path SQLite returns as JSON."""
    names = msgspec.json.decode(path, type=list[str]) if isinstance(path, str) else path
    return Envelope(seq=seq, run_id=run_id, at=at, path=tuple(names), type=type, data=msgspec.Raw(data))


def _needed_blobs(ask: RunQuery) -> dict[str, str]:
    """The blobs that documents need, each with the name of one document."""
    needed: dict[str, str] = {}
    for sha, snapshot, name in ask("SELECT sha256, snapshot_sha256, name FROM documents ORDER BY row"):
        needed.setdefault(sha, name)
        needed.setdefault(snapshot, name)
    return needed


def _check_blobs(
    blobs: KeptBlobs, needed: dict[str, str], stored_blobs: Container[str], *, quick: bool
) -> Iterator[str]:
    present = []
    for sha, name in needed.items():
        if sha in stored_blobs:
            present.append(sha)
        else:
            yield f"document {name!r}: no blob {sha} in {blobs.place}: add the document again"
    if quick:
        return

    def find_problem(sha: str) -> str:
        try:
            blobs.read(sha)
        except StoreError as error:
            return f"document {needed[sha]!r}: {error}"
        return ""

    with ThreadPoolExecutor(READER_THREADS) as readers:
        yield from filter(None, readers.map(find_problem, present))
