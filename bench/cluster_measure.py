"""What the model of a cluster rests on, measured: `python -m bench cluster_measure [--out FILE]`.

Queued runs over 1, 2 and 4 workers, with models slow enough that cores are not the limit; what a run leaves in the
database, and what it costs the server; how long a claim takes by the length of the queue; and how much slower commits
become the more processes listen. PostgreSQL is one of ours on loopback which syncs each commit to the disk.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import msgspec
import psutil
import psycopg

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

import postgres
from fleet import Fleet
from sqlalchemy import make_url
from workers import TASKS, Taken, queue_all

from assay.core.ports import QueueLimits
from assay.store.sql import open_store

SETTINGS = ((1, 4, 3.0), (2, 4, 3.0), (4, 4, 3.0), (4, 2, 1.5), (2, 4, 1.5))
"""Workers, slots, and seconds a call takes. The first is what the simulation is calibrated on, the others check it."""
WAVES = 3
START = 300.0
"""Seconds a worker may take to start: the machine may be much used."""
DEPTHS = (10, 1_000, 10_000, 50_000)
LISTENERS = (0, 20, 60, 120)
COMMITS, LOOKS = 400, 30
TABLES = ("events", "steps", "holds", "ledger", "runs", "inbox", "queue", "memos", "threads")


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """One setting: `span` from the first start to the last end, `duration` of a run (the mean), in seconds.

    `cpu` and `server_cpu` are seconds of a run, `load` the machine's while it was measured.
    """

    workers: int
    slots: int
    delay: float
    runs: int
    calls: float
    span: float
    duration: float
    cpu: float
    server_cpu: float
    load: float


class Constants(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured; `rows` and `bytes` are a run's, by table; `claims` and `commits` seconds, by what stands.

    `telling` are a run's commits of which other processes hear, `transactions` all which the server counted, reads and
    renewals of leases included.
    """

    settings: tuple[Measured, ...]
    rows: dict[str, float]
    bytes: dict[str, float]
    telling: float
    transactions: float
    claims: dict[str, float]
    commits: dict[str, float]
    idle_transactions: float


def server_cpu(process: psutil.Process) -> float:
    """Seconds of processor time the server's processes have taken which are there, or were and ended."""
    total = sum(process.cpu_times()[:4])
    for child in process.children(recursive=True):
        try:
            total += sum(child.cpu_times()[:2])
        except psutil.NoSuchProcess:
            continue
    return total


def worked(fleet: Fleet, server: psutil.Process, workers: int, slots: int, delay: float) -> Measured:
    """Queued runs, executed by workers which were started before."""
    runs = workers * slots * WAVES
    fleet.slow(**dict.fromkeys(TASKS, int(delay * 1000)))
    started = [fleet.worker("--slots", slots) for _ in range(workers)]
    for worker in started:
        fleet.wait(lambda: "at once" in worker.said(), START)  # noqa: B023 - it is called in this round
    taken, before = Taken([each.popen.pid for each in started]), server_cpu(server)
    taken.look()
    idle = list(taken.cpu)
    asyncio.run(queue_all(fleet, runs))
    loads = list[float]()
    while ended(fleet.database) < runs:
        taken.look()
        loads.append(os.getloadavg()[0])
        time.sleep(0.5)
    taken.look()
    spans = asyncio.run(spans_of(fleet))
    calls = len(fleet.calls_log.read_text().splitlines())
    return Measured(
        workers=workers,
        slots=slots,
        delay=delay,
        runs=runs,
        calls=calls / runs,
        span=max(end for _, end in spans) - min(start for start, _ in spans),
        duration=statistics.fmean(end - start for start, end in spans),
        cpu=(sum(taken.cpu) - sum(idle)) / runs,
        server_cpu=(server_cpu(server) - before) / runs,
        load=statistics.fmean(loads),
    )


def ended(url: str) -> int:
    """How many runs have: asked of the server alone, for whoever measures should not be what takes the time."""
    with psycopg.connect(postgres.bare(url), autocommit=True) as connection:
        row = connection.execute(
            f"SELECT count(*) FROM {make_url(url).query['schema']}.runs WHERE status = 'completed'"
        ).fetchone()
    return int(row[0]) if row else 0


async def spans_of(fleet: Fleet) -> list[tuple[float, float]]:
    """When each run which has ended was started, and ended."""
    async with fleet.assay() as assay:
        found = []
        for row in await assay.runs(10_000):
            if row.status == "completed":
                events = await assay.events(row.run_id)
                start = next(event.at for event in events if event.type == "run.started")
                found.append((seconds(start), seconds(events[-1].at)))
        return found


def seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()


def footprint(url: str, runs: int) -> tuple[dict[str, float], dict[str, float]]:
    """Rows and bytes of a run, by table."""
    schema = make_url(url).query["schema"]
    rows, size = {}, {}
    with psycopg.connect(postgres.bare(url), autocommit=True) as connection:
        for table in TABLES:
            name = f"{schema}.{table}"
            rows[table] = connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] / runs
            size[table] = connection.execute("SELECT pg_total_relation_size(%s)", [name]).fetchone()[0] / runs
    return rows, size


def committed(url: str) -> int:
    with psycopg.connect(postgres.bare(url), autocommit=True) as connection:
        return int(
            connection.execute(
                "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
            ).fetchone()[0]
        )


_FILL = """WITH made AS (
    INSERT INTO runs (run_id, question, brief, created_at, status, holder, lease_until, fence, control,
        active_seconds, last_seq)
    SELECT 'q' || n, 'q', '{}', '2026-01-01T00:00:00+00:00', 'created', '', 0, 0, '', 0, 0
    FROM generate_series(%s::int, %s::int) AS n RETURNING number)
INSERT INTO queue (run, owner, priority, ready, taken) SELECT number, 'u' || number %% 50, 0, 1, 0 FROM made"""


def on_cores(server: psutil.Process) -> float:
    """Seconds which this process and the server's have been on a core, to the nanosecond (Linux)."""
    total = time.process_time()
    for each in (server, *server.children()):
        with contextlib.suppress(OSError):  # it has ended
            total += int(Path(f"/proc/{each.pid}/schedstat").read_text().split()[0]) / 1e9
    return total


async def claim_seconds(url: str, folder: Path, server: psutil.Process) -> dict[str, float]:
    """What a look for the next run takes of a core, here and at the server, by how many are queued.

    By the clock it is more, and on a machine which others use much more: this is what it takes at least.
    """
    store, found, before = open_store(folder, database=url), {}, 0
    for depth in DEPTHS:
        with psycopg.connect(postgres.bare(url), autocommit=True) as connection:
            connection.execute(f"SET search_path = {make_url(url).query['schema']}")
            connection.execute(_FILL, [before + 1, depth])
            connection.execute("ANALYZE runs, queue")
        before, took = depth, []
        for _ in range(LOOKS):
            began = on_cores(server)
            lease = await store.queue.claim("bench", 30.0, QueueLimits())
            took.append(on_cores(server) - began)
            assert lease is not None
            await store.journal.release(lease)
        found[str(depth)] = statistics.median(took)
    await store.close()
    return found


def fastest(took: list[float]) -> float:
    """The value which a tenth stay below."""
    return statistics.quantiles(took, n=10)[0]


_TELL = "WITH a AS (INSERT INTO bench_notified VALUES (1)) SELECT pg_notify('bench', %s)"


def notified(url: str) -> Iterator[tuple[str, float]]:
    """Seconds of a commit which tells others, by how many listen."""
    listening: list[psycopg.Connection] = []
    for count in LISTENERS:
        while len(listening) < count:
            listening.append(psycopg.connect(postgres.bare(url), autocommit=True))
            listening[-1].execute("LISTEN bench")
        stop = threading.Event()
        drain = threading.Thread(target=drained, args=(listening, stop))
        drain.start()
        with psycopg.connect(postgres.bare(url), autocommit=True) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS bench_notified (n int)")
            took = []
            for number in range(COMMITS):
                began = time.perf_counter()
                connection.execute(_TELL, [str(number)])
                took.append(time.perf_counter() - began)
            yield str(count), fastest(took)
        stop.set()
        drain.join()
    for each in listening:
        each.close()


def drained(listening: list[psycopg.Connection], stop: threading.Event) -> None:
    while not stop.is_set():
        for each in listening:
            each.pgconn.consume_input()
            while each.pgconn.notifies() is not None:
                continue
        time.sleep(0.01)


@contextlib.contextmanager
def heard(url: str) -> Iterator[Callable[[], int]]:
    """Counts what is told of runs meanwhile; news of the queue (":queue") apart."""
    with psycopg.connect(postgres.bare(url), autocommit=True) as connection:
        connection.execute(f'LISTEN "assay_{make_url(url).query["schema"]}"')
        yield lambda: sum(not each.payload.startswith(":") for each in connection.notifies(timeout=2))


def idle(fleet: Fleet, seconds: float = 15.0) -> float:
    """Transactions a second of a worker which has nothing to do."""
    worker = fleet.worker("--slots", 4)
    fleet.wait(lambda: "at once" in worker.said(), START)
    time.sleep(12)  # servers count a connection's transactions when it has rested
    before = committed(fleet.database)
    time.sleep(seconds)
    rate = (committed(fleet.database) - before) / seconds
    fleet.close()
    fleet.workers.clear()
    return rate


def measured(settings: tuple[tuple[int, int, float], ...] = SETTINGS) -> Constants:
    """All of it."""
    found = postgres.binaries()
    assert found is not None
    server = postgres.made(found, "-c", "fsync=on")
    assert server.process is not None
    process, told = psutil.Process(server.process.pid), []
    rows, size, transactions, telling, resting = {}, {}, 0.0, 0.0, 0.0
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            claims = asyncio.run(claim_seconds(postgres.with_schema(server.url), Path(folder) / "claims", process))
            notify = dict(notified(server.url))
            print(claims, notify, flush=True)
            for number, (workers, slots, delay) in enumerate(settings):
                (place := Path(folder) / str(number)).mkdir()
                fleet = Fleet(place, postgres.with_schema(server.url), lease=4.0)
                try:
                    resting = resting or idle(fleet)
                    before = committed(fleet.database)
                    with heard(fleet.database) as count:
                        told.append(worked(fleet, process, workers, slots, delay))
                        telling = telling or count() / told[0].runs
                finally:
                    fleet.close()
                print(told[-1], flush=True)
                if not rows:
                    time.sleep(2)
                    transactions = (committed(fleet.database) - before) / told[0].runs
                    rows, size = footprint(fleet.database, told[0].runs)
                postgres.drop(fleet.database)
            return Constants(
                settings=tuple(told),
                rows=rows,
                bytes=size,
                telling=telling,
                transactions=transactions,
                claims=claims,
                commits=notify,
                idle_transactions=resting,
            )
    finally:
        server.remove()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("cluster_constants.json"))
    options = parser.parse_args()
    if not postgres.binaries():
        sys.exit(postgres.MISSING)
    constants = measured()
    options.out.write_bytes(msgspec.json.format(msgspec.json.encode(constants)) + b"\n")
    print(msgspec.json.format(msgspec.json.encode(constants)).decode())
