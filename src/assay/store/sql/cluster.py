"""The state of a PostgreSQL database with many processes, for its operators; read-only."""

from __future__ import annotations

import time
from typing import Any

import msgspec
from sqlalchemy import Connection, inspect, select, text

from assay.core.ports import MAX_LEASE_SECONDS
from assay.core.ports.jobs import MAX_JOB_TRIES, MAX_RUN_CLAIMS
from assay.store.sql.postgres import Postgres
from assay.store.sql.sessions import SessionName, parse_session_name
from assay.store.sql.tables import version

SAMPLE = 20
"""Documents whose bytes are checked: the latest, which any machine may have stored."""


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A session of the server; `began` is by the server's clock. Its name is None if another program opened it."""

    name: SessionName | None
    began: float


class QueueState(msgspec.Struct, frozen=True, kw_only=True):
    """The queue of runs, or the jobs: how many wait, for how many seconds the oldest has, and which are stuck.

    `expired` are taken, but their lease was not renewed; `dead` are offered to no worker any more.
    """

    waiting: int = 0
    oldest: float = 0.0
    executed: int = 0
    expired: int = 0
    dead: int = 0


class ClusterState(msgspec.Struct, frozen=True, kw_only=True):
    """A database and its users. Times are seconds; `skew` is this machine's clock minus the server's."""

    schema: str
    skew: float
    journey: float
    sessions: tuple[Session, ...]
    connections: int
    most_connections: int
    runs: QueueState = QueueState()
    jobs: QueueState = QueueState()
    holders: int = 0
    failed_deliveries: int = 0
    last_row: int = 0
    index_row: int | None = None
    documents: tuple[tuple[str, str], ...] = ()


def read_state(database: Postgres, index: str) -> ClusterState:
    """Read the state; `index` is the beginning of the names of the search index's tables.

    Raises:
        StoreError: the database cannot be reached or read.
    """
    engine = database.engine(present=False)
    try:
        with engine.begin() as connection:
            return _read_state(connection, database, index)
    except database.all_faults as error:
        raise database.explain(error) from error
    finally:
        engine.dispose()


def _read_state(connection: Connection, database: Postgres, index: str) -> ClusterState:
    before = time.time()
    now = database.now(connection)
    journey = time.time() - before
    tables = set(inspect(connection).get_table_names())
    has_schema = version.name in tables
    state = ClusterState(
        schema=(connection.execute(select(version.c.version_num)).scalar() or "") if has_schema else "",
        skew=before + journey / 2 - now,
        journey=journey,
        # those of this library: a server may have others
        sessions=tuple(
            Session(name=parse_session_name(name), began=float(began))
            for name, began in connection.execute(_SESSIONS, {"held": database.working_sessions(connection)})
        ),
        connections=int(connection.execute(_CONNECTIONS).scalar_one()),
        most_connections=int(connection.execute(_MOST).scalar_one()),
    )
    if not has_schema:
        return state
    details: dict[str, Any] = dict(connection.execute(_REST).one()._mapping)
    if f"{index}_state" in tables:
        details["index_row"] = int(connection.execute(text(f"SELECT row FROM {index}_state")).scalar_one())
    return msgspec.structs.replace(
        state,
        runs=_queue_state(connection, _RUNS, now),
        jobs=_queue_state(connection, _JOBS, now) if "jobs" in tables else QueueState(),
        documents=tuple((row[0], row[1]) for row in connection.execute(_DOCUMENTS, {"most": SAMPLE})),
        **details,
    )


def _queue_state(connection: Connection, query: Any, now: float) -> QueueState:
    values = {"now": now, "longest": now + MAX_LEASE_SECONDS, "taken": MAX_RUN_CLAIMS, "tried": MAX_JOB_TRIES}
    return QueueState(**connection.execute(query, values).one()._mapping)


_SESSIONS = text(
    "SELECT application_name, extract(epoch FROM backend_start) FROM pg_stat_activity WHERE pid = ANY(:held)"
)
_CONNECTIONS = text("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
_MOST = text("SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int")
_RUNS = text(
    """
    SELECT count(*) FILTER (WHERE offered AND NOT held AND NOT gone) AS waiting,
        coalesce(:now - min(extract(epoch FROM since)) FILTER (WHERE offered AND NOT held AND NOT gone), 0)::float8
            AS oldest,
        count(*) FILTER (WHERE held) AS executed,
        count(*) FILTER (WHERE offered AND gone) AS expired,
        count(*) FILTER (WHERE dead) AS dead
    FROM (
        SELECT r.created_at::timestamptz AS since,
            q.ready = 1 AND q.taken < :taken AND r.status IN ('created', 'running', 'waiting') AS offered,
            q.ready = 1 AND q.taken >= :taken AND r.status IN ('created', 'running', 'waiting')
                AND (r.holder = '' OR r.lease_until <= :now) AS dead,
            r.holder <> '' AND r.lease_until > :now AND r.lease_until <= :longest AS held,
            r.holder <> '' AND r.lease_until <= :now AS gone
        FROM queue q JOIN runs r ON r.number = q.run
    ) AS queued
    """
)
_JOBS = text(
    """
    SELECT count(*) FILTER (WHERE state = 'waiting' AND due <= :now) AS waiting,
        coalesce(:now - min(due) FILTER (WHERE state = 'waiting' AND due <= :now), 0)::float8 AS oldest,
        count(*) FILTER (WHERE state = 'running' AND lease_until > :now AND lease_until <= :longest) AS executed,
        count(*) FILTER (WHERE state = 'running' AND lease_until <= :now) AS expired,
        count(*) FILTER (WHERE state = 'failed' AND tries >= :tried) AS dead
    FROM jobs
    """
)
_REST = text(
    """
    SELECT (SELECT count(DISTINCT holder) FROM runs
            WHERE holder <> '' AND lease_until > extract(epoch FROM clock_timestamp())) AS holders,
        (SELECT count(*) FROM deliveries WHERE state = 'failed') AS failed_deliveries,
        (SELECT coalesce(max(row), 0) FROM documents) AS last_row
    """
)
_DOCUMENTS = text("SELECT sha256, snapshot_sha256 FROM documents ORDER BY row DESC LIMIT :most")
