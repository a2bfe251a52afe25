"""Whether a home is as it should be: the file, the rules no write may break, and every stored byte."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from assay.core.errors import StoreError
from assay.store.blobs import FolderBlobs
from assay.store.sql.home import BLOBS, DATABASE
from assay.store.sql.probe import connect, probe

MOST = 100
"""Problems of one kind which are named."""

# Each gives sentences; none when all is well. `data` is text in a column of bytes.
_RULES = (
    """
    SELECT 'run ' || run_id || ': the log has ' || count(e.seq) || ' events up to ' || coalesce(max(e.seq), 0)
        || ', and should have ' || last_seq || ' without a gap'
    FROM runs r LEFT JOIN events e ON e.run = r.number GROUP BY r.number
    HAVING count(e.seq) <> last_seq OR coalesce(max(e.seq), 0) <> last_seq OR coalesce(min(e.seq), 1) <> 1
    """,
    """
    SELECT 'run ' || run_id || ': its fence is ' || fence || ', and ' || highest || ' has written to its log'
    FROM (SELECT r.run_id, r.fence, max(json_extract(CAST(e.data AS TEXT), '$.fence')) AS highest
        FROM runs r JOIN events e ON e.run = r.number WHERE e.type = 'run.resumed' GROUP BY r.number)
    WHERE highest > fence
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


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What was looked at, and what is wrong with it; `unreferenced` blobs are of no document, and no harm."""

    schema: str
    runs: int
    events: int
    documents: int
    blobs: int
    unreferenced: int
    problems: tuple[str, ...] = ()


def check(home: Path, blobs: Path | None = None, *, quick: bool = False) -> Checked:
    """Look at all of a home and change nothing. Blocking, for as long as reading every byte takes.

    Args:
        blobs: where they are, when not in the home.
        quick: blobs are looked for, not read.

    Raises:
        StoreError: there is no database which this release can read.
    """
    path = home / DATABASE
    found = probe(path)
    if found.state != "current":
        raise StoreError(f"{path} cannot be checked: it is {found.state} {found.problem}{_advice(found.state)}")
    try:
        with closing(connect(path)) as connection:
            problems = [*_damage(connection), *_broken(connection)]
            needed = _needed(connection)
            counts = [int(connection.execute(f"SELECT count(*) FROM {t}").fetchone()[0]) for t in _COUNTED]
    except sqlite3.Error as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    folder = blobs or home / BLOBS
    problems += _blobs(FolderBlobs(folder), needed, quick=quick)
    stored = {f"{each.parent.name}{each.stem}" for each in folder.glob("??/*.zst")}
    return Checked(
        schema=found.schema,
        runs=counts[0],
        events=counts[1],
        documents=counts[2],
        blobs=len(stored),
        unreferenced=len(stored - needed.keys()),
        problems=tuple(problems),
    )


_COUNTED = ("runs", "events", "documents")


def _advice(state: str) -> str:
    return "; `assay db migrate` brings it to this release's schema" if state == "older" else ""


def _damage(connection: sqlite3.Connection) -> Iterator[str]:
    for (said,) in connection.execute(f"PRAGMA integrity_check({MOST})"):
        if said != "ok":
            yield f"database: {said}"
    for table, row, other, _ in connection.execute("PRAGMA foreign_key_check").fetchmany(MOST):
        yield f"database: row {row} of {table} refers to a row of {other} which is not there"


def _broken(connection: sqlite3.Connection) -> Iterator[str]:
    """The rules of `core.ports.Journal`, as far as what is stored can tell."""
    for rule in _RULES:
        for (said,) in connection.execute(rule).fetchmany(MOST):
            yield str(said)


def _needed(connection: sqlite3.Connection) -> dict[str, str]:
    """The blobs which documents need, each with the name of one."""
    needed: dict[str, str] = {}
    for sha, snapshot, name in connection.execute("SELECT sha256, snapshot_sha256, name FROM documents ORDER BY row"):
        needed.setdefault(sha, name)
        needed.setdefault(snapshot, name)
    return needed


def _blobs(blobs: FolderBlobs, needed: dict[str, str], *, quick: bool) -> Iterator[str]:
    for sha, name in needed.items():
        if quick:
            if not blobs.has(sha):
                yield f"document {name!r}: no blob {sha}"
            continue
        try:
            blobs.get(sha)
        except StoreError as error:
            yield f"document {name!r}: {error}"
