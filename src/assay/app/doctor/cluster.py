"""Checks many processes over one PostgreSQL database: whether they fit together, and whether anything is stuck.

The checks change nothing, apart from a small probe blob, which is deleted again.
"""

from __future__ import annotations

import importlib
import secrets
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from assay.app.doctor.program import Diagnosis, broken_diagnosis, note_diagnosis, ok_diagnosis
from assay.core.errors import ConfigError, StoreError
from assay.evidence.segment import SEGMENTER
from assay.run.releases import is_newer
from assay.settings import Settings
from assay.store.blobs import FolderBlobs, KeptBlobs
from assay.store.sql.tables import HEAD

if TYPE_CHECKING:
    from assay.store.sql.cluster import ClusterState, QueueState

LONG_WAIT = 60.0
"""Seconds in the queue from which a report is worthwhile."""
CLOCKS_APART = 2.0
"""Seconds by which clocks may differ: a report is dated by a worker's clock, leases follow the database's."""
FULL, NEARLY_FULL = 0.9, 0.7
"""Shares of the server's connections in use."""


def examine(settings: Settings) -> Iterator[Diagnosis]:
    """Do every check of a cluster; if something cannot be reached, the others are left out."""
    if settings.database is None:
        detail = "there is no PostgreSQL database: the settings name none"
        yield broken_diagnosis("database", detail, "set ASSAY_DATABASE to that of the cluster")
        return
    try:
        database = importlib.import_module("assay.store.sql.postgres").Postgres(settings.database.reveal())
        pooler, direct = database.detect_pooler()
        yield _pooler(pooler, direct=direct)
        if pooler == "transaction" and not direct:
            return
        prefix = importlib.import_module("assay.search.postgres.tables").prefix_of(SEGMENTER)
        state: ClusterState = importlib.import_module("assay.store.sql.cluster").read_state(database, prefix)
    except (ConfigError, StoreError) as error:
        yield broken_diagnosis("database", str(error), "start it, or correct ASSAY_DATABASE")
        return
    yield _schema(state)
    yield from _processes(state)
    yield _clocks(state)
    yield _connections(state)
    yield from _queue("runs", state.runs, state.holders)
    yield from _queue("jobs", state.jobs, 0)
    yield _deliveries(state)
    yield from _blobs(settings, state)
    yield _index(settings, state)


def _pooler(mode: str, *, direct: bool) -> Diagnosis:
    fix = "add ?direct=HOST:PORT of the server itself to ASSAY_DATABASE"
    if mode == "transaction" and not direct:
        detail = (
            "the database is reached through a pooler in transaction mode, which keeps no locks and no notifications"
        )
        return broken_diagnosis("pooler", detail, fix)
    if mode == "session" and not direct:
        return broken_diagnosis(
            "pooler", "the database is reached through a pooler in session mode", f"{fix}; it saves nothing"
        )
    if mode == "none" and direct:
        return note_diagnosis(
            "pooler", "there is no pooler, but ?direct= names one", "leave ?direct= out: it costs round trips"
        )
    if mode == "none":
        return ok_diagnosis("pooler", "none: connections are the server's own")
    return ok_diagnosis("pooler", f"a pooler in {mode} mode; locks and notifications go to the server itself")


def _schema(state: ClusterState) -> Diagnosis:
    if not state.schema:
        return note_diagnosis(
            "schema", "nothing is in the database yet", "the first process that needs it creates the tables"
        )
    if state.schema == HEAD:
        return ok_diagnosis("schema", f"{HEAD}, that of this release")
    if state.schema > HEAD:
        detail = f"{state.schema} of a later release; this one knows {HEAD}, and will not start"
        return broken_diagnosis("schema", detail, "update Assay here")
    detail = f"{state.schema} of an earlier release; this one's is {HEAD}"
    return note_diagnosis(
        "schema", detail, "the first process of this release brings it up to date: `assay db migrate`"
    )


def _processes(state: ClusterState) -> Iterator[Diagnosis]:
    """Connected processes, and their releases."""
    own_release = version("assay")
    releases: dict[str, set[tuple[str, int]]] = {}
    for session in state.sessions:
        if session.name is not None:
            releases.setdefault(session.name.release, set()).add((session.name.host, session.name.process))
    silent = sum(session.name is None for session in state.sessions)
    count = sum(map(len, releases.values()))
    detail = ", ".join(f"{len(processes)} of {release}" for release, processes in sorted(releases.items()))
    if not state.sessions:
        yield note_diagnosis("processes", "nobody is connected", "start workers: assay worker")
    elif silent:
        detail = f"{detail or 'nobody'}, and {silent} that do not state their release"
        yield note_diagnosis("processes", detail, f"they are older than {own_release}: replace them")
    elif set(releases) <= {own_release}:
        yield ok_diagnosis("processes", f"{count} connected, all of {own_release}")
    else:
        yield note_diagnosis(
            "processes", f"{count} connected: {detail}; this is {own_release}", "replace those of the older release"
        )
    for release, processes in releases.items():
        if is_newer(own_release, release) and state.schema == HEAD:
            hosts = ", ".join(sorted({host for host, _ in processes}))
            fix = "they continue until they are restarted; replace them now"
            yield note_diagnosis(
                "release", f"{release} on {hosts} did not make these tables, and may not start again", fix
            )


def _clocks(state: ClusterState) -> Diagnosis:
    """This machine's clock and those of all connected processes, compared with the server's."""
    apart = {"here": state.skew}
    for session in state.sessions:
        if session.name is not None:
            skew = session.name.clock - session.began
            host = session.name.host
            apart[host] = min(apart.get(host, skew), skew, key=abs)
    wrong = {host: skew for host, skew in apart.items() if abs(skew) > CLOCKS_APART}
    if wrong:
        detail = ", ".join(f"{host} by {skew:+.1f} s" for host, skew in sorted(wrong.items()))
        fix = "set the clocks (NTP), which date events and reports; leases go by the server's clock"
        return note_diagnosis("clocks", f"not the server's: {detail}", fix)
    largest = max(map(abs, apart.values()))
    return ok_diagnosis("clocks", f"{len(apart)} within {largest:.1f} s of the server's")


def _connections(state: ClusterState) -> Diagnosis:
    detail = f"{state.connections} of {state.most_connections}, {len(state.sessions)} of them Assay's"
    part = state.connections / max(state.most_connections, 1)
    fix = "put pgbouncer in front (docs/deploy.md), or raise max_connections"
    if part >= FULL:
        return broken_diagnosis("connections", detail, fix)
    return note_diagnosis("connections", detail, fix) if part >= NEARLY_FULL else ok_diagnosis("connections", detail)


def _queue(name: str, queue: QueueState, holders: int) -> Iterator[Diagnosis]:
    holders_text = f" by {holders} processes" if holders else ""
    detail = f"{queue.waiting:,} waiting, {queue.executed:,} executed{holders_text}"
    if queue.waiting and queue.oldest > LONG_WAIT:
        detail += f"; the oldest for {queue.oldest:,.0f} s"
        fix = "start more workers, or look at workers.running and workers.per_user"
        if not queue.executed:
            yield broken_diagnosis(name, f"{detail}, and nobody takes them up", "start workers: assay worker")
        else:
            yield note_diagnosis(name, detail, fix)
    else:
        yield ok_diagnosis(name, detail)
    if queue.expired:
        detail = f"{queue.expired:,} were left by workers that died or froze, and no worker has taken them up yet"
        yield note_diagnosis(f"{name} left", detail, "wait for the lease (workers.lease); if they stay, start workers")
    if queue.dead:
        command = "assay runs list, then assay runs resume ID" if name == "runs" else "assay jobs list --state failed"
        detail = f"{queue.dead:,} were taken up too often without an end, and no worker gets them any more"
        yield broken_diagnosis(f"{name} dead", detail, f"run each where you can watch it: {command}")


def _deliveries(state: ClusterState) -> Diagnosis:
    if state.failed_deliveries:
        detail = f"{state.failed_deliveries:,} messages could not be delivered"
        return note_diagnosis("webhooks", detail, "check the addresses in the settings of the page")
    return ok_diagnosis("webhooks", "no message was given up")


def _blobs(settings: Settings, state: ClusterState) -> Iterator[Diagnosis]:
    """Check that blobs can be written and read here, and those of other machines are there."""
    if settings.blobs is None:
        detail = "blobs are in this machine's home, where others cannot read them"
        yield broken_diagnosis("blobs", detail, "set ASSAY_BLOBS to the same shared folder or object store everywhere")
        return
    try:
        blobs = _remote_blobs(settings.blobs)
        probe = blobs.put(b"assay doctor --cluster " + secrets.token_hex(16).encode())
        try:
            blobs.read(probe)
        finally:
            blobs.remove(probe)
        missing = [text for text, file in state.documents if not (blobs.has(text) and blobs.has(file))]
    except (ConfigError, StoreError, OSError) as error:
        yield broken_diagnosis("blobs", str(error), "look at the folder's permissions, or keys and endpoint (AWS_…)")
        return
    if missing:
        detail = f"of the latest {len(state.documents)} documents, {len(missing)} have no bytes in {blobs.place}"
        yield broken_diagnosis(
            "blobs", f"{detail} (first: {missing[0][:12]})", "name the same ASSAY_BLOBS on every machine"
        )
        return
    yield ok_diagnosis(
        "blobs", f"{blobs.place} can be written and read; the latest {len(state.documents)} documents are there"
    )


def _remote_blobs(location: Path | str) -> KeptBlobs:
    """The remote place itself, without the local cache."""
    if isinstance(location, Path):
        return FolderBlobs(location)
    blobs: KeptBlobs = importlib.import_module("assay.store.objects").ObjectBlobs(location, retry_seconds=1)
    return blobs


def _index(settings: Settings, state: ClusterState) -> Diagnosis:
    where: str = settings.search.index
    if where == "local":
        detail = "each home has its own, made from the database"
        return ok_diagnosis("index", f"{detail}; for a large library search.index can be shared")
    if where != "postgres":
        return ok_diagnosis("index", f"{where}, shared by all")
    if state.index_row is None:
        return note_diagnosis("index", "shared in the database, and not made yet", "the next search makes it")
    behind = state.last_row - state.index_row
    if behind > 0:
        return note_diagnosis(
            "index", f"shared in the database, {behind:,} documents behind", "the next search brings it up to date"
        )
    return ok_diagnosis("index", "shared in the database, up to date with the library")
