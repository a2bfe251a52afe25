"""What the model of a cluster rests on, measured: `python -m bench cluster_measure [--out FILE]`.

Queued runs over 1, 2 and 4 workers, with models slow enough that cores are not the limit; what a run leaves in the
database, and what it costs the server; and what single things take (`cluster_costs.py`). PostgreSQL is one of ours on
loopback which syncs each commit to the disk.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import msgspec
import psutil
import psycopg

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

import postgres
from cluster_costs import (
    START,
    claim_seconds,
    hearing_seconds,
    look_seconds,
    notified,
    queueing_seconds,
    renewal_seconds,
)
from fleet import Fleet
from sqlalchemy import make_url
from workers import TASKS, Taken, queue_all

SETTINGS = ((1, 4, 3.0), (2, 4, 3.0), (4, 4, 3.0), (4, 2, 1.5), (2, 4, 1.5))
"""Workers, slots, and seconds a call takes. The first is what the simulation is calibrated on, the others check it."""
WAVES = 3
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

    `looks` are seconds of a look into an empty queue, `queueing` of storing and queueing a run, `renewal` of renewing a
    lease, all of a core, here and at the server; `hearing` of a worker which hears of a commit. `looked` says whether
    workers already looked without the lock when the settings were measured.

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
    looks: float
    queueing: float
    renewal: float
    hearing: float
    cores: int
    looked: bool = True


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
        fleet.wait(lambda: "at once" in worker.output(), START)  # noqa: B023 - it is called in this round
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


@contextlib.contextmanager
def counting_news(url: str) -> Iterator[Callable[[], int]]:
    """Counts what is told of runs meanwhile; news of the queue (":queue") apart."""
    with psycopg.connect(postgres.bare(url), autocommit=True) as connection:
        connection.execute(f'LISTEN "assay_{make_url(url).query["schema"]}"')
        yield lambda: sum(not each.payload.startswith(":") for each in connection.notifies(timeout=2))


def idle(fleet: Fleet, seconds: float = 15.0) -> float:
    """Transactions a second of a worker which has nothing to do."""
    worker = fleet.worker("--slots", 4)
    fleet.wait(lambda: "at once" in worker.output(), START)
    time.sleep(12)  # servers count a connection's transactions when it has rested
    before = committed(fleet.database)
    time.sleep(seconds)
    rate = (committed(fleet.database) - before) / seconds
    fleet.close()
    fleet.workers.clear()
    return rate


def made_fleet(place: Path, server: postgres.Server) -> Fleet:
    place.mkdir()
    return Fleet(place, postgres.with_schema(server.url), lease=4.0)


def measured(settings: tuple[tuple[int, int, float], ...] = SETTINGS) -> Constants:
    """All of it."""
    found = postgres.binaries()
    assert found is not None
    server = postgres.new_server(found, "-c", "fsync=on")
    assert server.process is not None
    process, samples = psutil.Process(server.process.pid), []
    rows, size, transactions, telling, resting = {}, {}, 0.0, 0.0, 0.0
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            claims = asyncio.run(claim_seconds(postgres.with_schema(server.url), Path(folder) / "claims", process))
            looks = asyncio.run(look_seconds(postgres.with_schema(server.url), Path(folder) / "looks", process))
            queueing = queueing_seconds(made_fleet(Path(folder) / "queueing", server), process)
            renewal = asyncio.run(renewal_seconds(postgres.with_schema(server.url), Path(folder) / "renewal", process))
            hearing = hearing_seconds(made_fleet(Path(folder) / "hearing", server))
            notify = dict(notified(server.url))
            print(claims, notify, flush=True)
            for number, (workers, slots, delay) in enumerate(settings):
                fleet = made_fleet(Path(folder) / str(number), server)
                try:
                    resting = resting or idle(fleet)
                    before = committed(fleet.database)
                    with counting_news(fleet.database) as count:
                        samples.append(worked(fleet, process, workers, slots, delay))
                        telling = telling or count() / samples[0].runs
                finally:
                    fleet.close()
                print(samples[-1], flush=True)
                if not rows:
                    time.sleep(2)
                    transactions = (committed(fleet.database) - before) / samples[0].runs
                    rows, size = footprint(fleet.database, samples[0].runs)
                postgres.drop(fleet.database)
            return Constants(
                settings=tuple(samples),
                rows=rows,
                bytes=size,
                telling=telling,
                transactions=transactions,
                claims=claims,
                commits=notify,
                idle_transactions=resting,
                looks=looks,
                queueing=queueing,
                renewal=renewal,
                hearing=hearing,
                cores=psutil.cpu_count() or 1,
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
