"""Queued runs over worker processes on PostgreSQL: `python -m bench workers [--runs 200] [--workers 2] [--slots 50]`.

Each run makes some ten calls of a scripted model which takes `--delay` ms for each; the workers are `assay worker`
processes. Three users have seven, two and one tenth of the runs, queued in this order. Then a worker is killed (its
process is seen to be gone), and another one stopped (only its lease tells): how long until another has the run.
PostgreSQL is the one `DATABASE_URL` names, or one of our own on loopback which syncs each commit to the disk.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import os
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from datetime import datetime
from pathlib import Path

import psutil
import psycopg

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

import postgres
from fleet import QUESTION, Fleet

from assay.core.brief import ROLES

USERS = ("ann", "bob", "cid")
SHARES = (7, 9, 10)
TASKS = ("triage", "background", "plan", "orchestrate", "research", "find", "write")
SAMPLE_SECONDS = 0.5
IDLE_SECONDS = 20
SETTLE_SECONDS = 12
QUEUED = 30
CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'assay%'"


class Taken:
    """What each process took: most memory in bytes, seconds of CPU."""

    def __init__(self, pids: list[int]) -> None:
        self._processes = [psutil.Process(pid) for pid in pids]
        self.memory, self.cpu = [0] * len(pids), [0.0] * len(pids)

    def look(self) -> bool:
        """Note it; whether any of them lives."""
        alive = False
        for at, process in enumerate(self._processes):
            with contextlib.suppress(psutil.NoSuchProcess):
                if process.status() != psutil.STATUS_ZOMBIE:
                    self.memory[at] = max(self.memory[at], process.memory_info().rss)
                    self.cpu[at], alive = sum(process.cpu_times()[:2]), True
        return alive


def user_of(number: int, runs: int) -> str:
    """Of ten runs seven are the first user's, two the second's, one the third's; those of one before the next's."""
    return next(user for user, share in zip(USERS, SHARES, strict=True) if number < runs * share // 10 or share == 10)


async def queue_all(fleet: Fleet, runs: int) -> dict[str, str]:
    """Queue them; the user of each."""
    roles = dict.fromkeys(ROLES, (f"scripted:{fleet.folder / 'script.json'}",))
    made = {}
    async with fleet.assay() as assay:
        for number in range(runs):
            user = user_of(number, runs)
            run_id = await assay.create(QUESTION, sources=fleet.notes, models=roles, user=user)
            await assay.enqueue(run_id)
            made[run_id] = user
    return made


async def ends(fleet: Fleet) -> dict[str, tuple[str, float]]:
    """How and when each run ended."""
    async with fleet.assay() as assay:
        found = {}
        for row in await assay.runs(10_000):
            last = (await assay.events(row.run_id))[-1]
            found[row.run_id] = (last.type, datetime.fromisoformat(last.at).timestamp())
        return found


def many(fleet: Fleet, runs: int, workers: int, slots: int, delay: int) -> None:
    """Throughput, turns between users, memory."""
    fleet.slow(**dict.fromkeys(TASKS, delay))
    users = asyncio.run(queue_all(fleet, runs))
    start = time.time()
    taken = Taken([fleet.worker("--slots", slots, "--until-empty").popen.pid for _ in range(workers)])
    while taken.look():
        time.sleep(SAMPLE_SECONDS)
    ended = asyncio.run(ends(fleet))
    kinds = Counter(kind for kind, _ in ended.values())
    last = max(at for _, at in ended.values()) - start
    print(
        f"{runs} runs over {workers} workers with {slots} slots: {dict(kinds)} in {last:.1f} s,"
        f" {runs / last:.2f} a second"
    )
    print(
        f"  CPU {sum(taken.cpu) / runs:.2f} s a run;"
        f" memory {', '.join(f'{most / 1e6:.0f} MB' for most in taken.memory)}"
    )
    for user in USERS:
        waits = sorted(at - start for run_id, (_, at) in ended.items() if users[run_id] == user)
        print(f"  {user}: {len(waits)} runs, half after {statistics.median(waits):.1f} s, all after {waits[-1]:.1f} s")


def handed_on(fleet: Fleet, number: signal.Signals) -> float:
    """Seconds from the end of a worker until another has its run."""
    fleet.slow(find=60_000)
    run_id = fleet.queue()
    first = fleet.worker()
    fleet.wait(lambda: f"run {run_id}: started" in first.output())
    time.sleep(1)
    second = fleet.worker()
    fleet.wait(lambda: "at once" in second.output())
    time.sleep(1)
    fleet.slow()
    first.signal(number)
    took = fleet.wait(lambda: f"run {run_id}: taken up" in second.output())
    fleet.until_done([run_id])
    fleet.close()
    fleet.workers.clear()
    return took


def resumed(fleet: Fleet) -> float:
    """Seconds from the start of `assay runs resume`, Python's included, until the run of a killed process goes on."""
    fleet.slow(find=60_000)
    run_id = fleet.queue()
    first = fleet.worker()
    fleet.wait(lambda: ("find", 1) in fleet.calls())
    first.signal(signal.SIGKILL)
    first.end()
    fleet.slow()
    start = time.time()
    fleet.run("runs", "resume", run_id, "-q")
    (at,) = [event.at for event in fleet.events(run_id) if event.type == "run.resumed"]
    return datetime.fromisoformat(at).timestamp() - start


async def started(fleet: Fleet, count: int) -> list[float]:
    """Seconds from queueing a run until an idle worker has begun it, each."""
    roles = dict.fromkeys(ROLES, (f"scripted:{fleet.folder / 'script.json'}",))
    took = []
    async with fleet.assay() as assay:
        for _ in range(count):
            run_id = await assay.create(QUESTION, sources=fleet.notes, models=roles)
            queued = time.time()
            await assay.enqueue(run_id)
            while (await assay.find(run_id)).status != "completed":
                await asyncio.sleep(0.05)
            begun = next(event for event in await assay.events(run_id) if event.type == "run.started")
            took.append(datetime.fromisoformat(begun.at).timestamp() - queued)
    return took


def waiting(fleet: Fleet, url: str, count: int) -> None:
    """How fast idle workers begin what is queued, and what they cost while nothing is."""
    fleet.slow()
    workers = [fleet.worker("--slots", 10) for _ in range(2)]
    for worker in workers:
        fleet.wait(lambda: "at once" in worker.output())  # noqa: B023 - it is called in this round
    took = asyncio.run(started(fleet, count))
    print(
        f"an idle worker begins a run {statistics.median(took) * 1000:.0f} ms after it was queued"
        f" ({min(took) * 1000:.0f} to {max(took) * 1000:.0f}), {count} runs"
    )
    processes = [psutil.Process(worker.popen.pid) for worker in workers]
    time.sleep(SETTLE_SECONDS)  # servers count transactions of a connection when it has rested
    with psycopg.connect(url) as connection:
        before, cpu = commits(connection), [sum(each.cpu_times()[:2]) for each in processes]
        time.sleep(IDLE_SECONDS)
        rate = (commits(connection) - before) / IDLE_SECONDS / len(workers)
        busy = [sum(each.cpu_times()[:2]) - was for each, was in zip(processes, cpu, strict=True)]
        connections = connection.execute(CONNECTIONS).fetchone()
    print(
        f"an idle worker: {100 * sum(busy) / IDLE_SECONDS / len(workers):.1f} % of a core,"
        f" {rate:.1f} transactions a second, {(connections[0] if connections else 0) / len(workers):.1f} connections"
    )
    fleet.close()
    fleet.workers.clear()


def commits(connection: psycopg.Connection[tuple[int, ...]]) -> int:
    """Transactions of the server's databases by now."""
    row = connection.execute("SELECT sum(xact_commit + xact_rollback)::bigint FROM pg_stat_database").fetchone()
    connection.rollback()
    return row[0] if row else 0


def main(runs: int, workers: int, slots: int, delay: int, rounds: int) -> None:
    """Print the figures."""
    with postgres.running("-c", "fsync=on") as url, tempfile.TemporaryDirectory() as folder:
        names = itertools.count()

        def fleet() -> Fleet:
            made = Path(folder) / str(next(names))
            made.mkdir()
            return Fleet(made, postgres.with_schema(url), lease=4.0)

        waiting(fleet(), url, QUEUED)
        if runs:
            many(fleet(), runs, workers, slots, delay)
        for name, number in (("killed, seen to be gone", signal.SIGKILL), ("stopped, lease of 4 s", signal.SIGSTOP)):
            took = [handed_on(fleet(), number) for _ in range(rounds)]
            line = f"{statistics.median(took):.1f} s ({min(took):.1f} to {max(took):.1f})"
            print(f"a worker {name}: its run is another's after {line}, {rounds} rounds")
        took = [resumed(fleet()) for _ in range(rounds)]
        line = f"{statistics.median(took):.2f} s ({min(took):.2f} to {max(took):.2f})"
        print(f"assay runs resume: the run goes on {line} after the command was started, {rounds} rounds")
        print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--slots", type=int, default=50)
    parser.add_argument("--delay", type=int, default=300, help="milliseconds of each call")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if missing := postgres.reason_to_skip():
        sys.exit(missing)
    main(options.runs, options.workers, options.slots, options.delay, options.rounds)
