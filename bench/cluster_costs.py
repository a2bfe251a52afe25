"""What single things take which workers do to the database: a claim, a look, a renewal, hearing of a commit, queueing.

Mostly seconds of a core, here and at the server: by the clock it is more, and on a machine which others use much more.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import postgres
import psutil
import psycopg
from fleet import Fleet
from journals import draft
from sqlalchemy import make_url
from workers import queue_all

from assay.core.ports import QueueLimits
from assay.store.sql import open_store

START = 300.0
"""Seconds a worker may take to start: the machine may be much used."""
DEPTHS = (10, 1_000, 10_000, 50_000)
LISTENERS = (0, 20, 60, 120)
COMMITS, LOOKS, RENEWALS, TOLD = 400, 30, 100, 300
PAUSE = 0.02
"""Seconds between two looks at a lease, and between two commits of which a worker hears."""
IN_A_LEASE = 16
"""How often a worker looks at a lease while it lasts."""
SETTLE = 6.0
"""Seconds until a worker which was just started has nothing to do."""
FEW, MORE = 10, 40
"""Runs queued in two rounds, of which the difference is what queueing one takes."""

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


async def look_seconds(url: str, folder: Path, server: psutil.Process) -> float:
    """What a look for the next run takes of a core, here and at the server, while none is queued."""
    store, took = open_store(folder, database=url), []
    for _ in range(LOOKS):
        began = on_cores(server)
        assert await store.queue.claim("bench", 30.0, QueueLimits()) is None
        took.append(on_cores(server) - began)
    await store.close()
    return statistics.median(took)


def queueing_seconds(fleet: Fleet, server: psutil.Process) -> float:
    """What storing and queueing a run takes of a core, here and at the server: that of more runs less that of few."""
    took = []
    for runs in (FEW, FEW, MORE):  # the first time modules are loaded
        began = on_cores(server)
        asyncio.run(queue_all(fleet, runs))
        took.append(on_cores(server) - began)
    return (took[2] - took[1]) / (MORE - FEW)


async def renewal_seconds(url: str, folder: Path, server: psutil.Process) -> float:
    """What a look at a lease takes of a core, here and at the server; it is renewed when an eighth has passed."""
    store = open_store(folder, database=url)
    await store.journal.create("renewed", "question", b"{}", [draft("created")])
    lasts = IN_A_LEASE * PAUSE
    leases = [await store.journal.acquire("renewed", "bench", lasts)]
    await store.journal.renew_all(leases, lasts)
    began = on_cores(server)
    for _ in range(RENEWALS):
        await store.journal.renew_all(leases, lasts)
        await asyncio.sleep(PAUSE)
    took = (on_cores(server) - began) / RENEWALS
    await store.close()
    return took


def hearing_seconds(fleet: Fleet) -> float:
    """What a worker with nothing to do takes of a core to hear of one commit of another process."""
    worker = fleet.worker("--slots", 4)
    fleet.wait(lambda: "at once" in worker.output(), START)
    time.sleep(SETTLE)
    pid, channel = worker.popen.pid, f"assay_{make_url(fleet.database).query['schema']}"
    took = []
    with psycopg.connect(postgres.bare(fleet.database), autocommit=True) as connection:
        for told in (False, True):
            began = of_threads(pid)
            for number in range(TOLD):
                if told:
                    connection.execute("SELECT pg_notify(%s, %s)", [channel, f"run{number}"])
                time.sleep(PAUSE)
            took.append(of_threads(pid) - began)
    fleet.close()
    fleet.workers.clear()
    return max(took[1] - took[0], 0.0) / TOLD


def of_threads(pid: int) -> float:
    """Seconds which a process's threads have been on a core (Linux)."""
    return sum(int(each.read_text().split()[0]) for each in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


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
