"""Followers of runs over HTTP: `python -m bench serve [--followers 1000] [--runs 1] [--rate 20] [--seconds 10]`.

`--postgres` uses a PostgreSQL server that is started for the bench. `--open 10000` opens that many silent streams, and
as many again for which the server has no room.

The server is the real one over SQLite, in its own process, which also writes the events as its runs would. Followers
are connections of other processes that read the stream to its end. The bench measures the time from before the commit
of an event until a follower has it, the server's CPU per event and follower beyond that of the same events without
followers, and its memory per follower; finally, how many snapshots of a run it answers per second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import httpx
import psutil

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

import postgres
from journals import draft

from assay import Assay
from assay.core.events import ReportDelta, encode
from assay.core.ports import Commit, EventDraft, Lease
from assay.server import app as server_process
from assay.settings import Settings

TTL = 100.0
SNAPSHOTS = 500
READERS = 4
"""Processes the followers are spread over."""


def allow_files() -> None:
    """As many open connections as the system allows."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


# the server, and who writes


async def serve(home: Path, runs: int, database: str, most: int) -> None:
    """Serve; each line of stdin is `RATE SECONDS`: write so many events a second to each run, for so long."""
    bounds = {"streams": 100_000, "all_streams": most or 100_000}
    named = {"database": database, "blobs": home / "blobs"} if database else {}
    settings = Settings(home=home, server=bounds, **named)
    async with Assay(settings, home=home) as assay:
        journal = assay._context.store.journal
        leases = []
        for number in range(runs):
            await journal.create(f"run{number:07}", "How far?", b"{}", [draft(f"c{number}")])
            leases.append(await journal.acquire(f"run{number:07}", "", TTL))
        sock = server_process.bind_socket("127.0.0.1", 0)
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

        async def write(server: server_process.Server) -> None:
            number = 0
            while line := await reader.readline():
                rate, seconds = map(float, line.split())
                for _ in range(int(rate * seconds)):
                    number += 1
                    await asyncio.gather(*(journal.commit(lease, piece(lease, number)) for lease in leases))
                    await asyncio.sleep(1 / rate)
                print("written", flush=True)
            server.stop()

        tasks = []

        def begun(server: server_process.Server) -> None:
            print(server_process.url_of(sock), flush=True)
            tasks.append(asyncio.create_task(write(server)))

        await server_process.serve(assay, sock, begun)


def piece(lease: Lease, number: int) -> Commit:
    """One piece of a report; its text says when it was written."""
    data = encode(ReportDelta(text=f"{time.time():.6f} a few words of the report"))
    event = EventDraft(key=f"d{number}", path=("write",), type=ReportDelta.kind, data=data, at="")
    return Commit(events=(event,), status="running" if number == 1 else None)


# who reads


async def follow(url: str, runs: int, followers: int, after: int) -> None:
    """Follow from event `after` until the server ends; then how late each event came, in ms, as JSON on stdout."""
    host, port = url.removeprefix("http://").split(":")
    late: list[float] = []

    async def one(number: int) -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        path = f"/api/v1/runs/run{number % runs:07}/events?after={after}"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        open_now.release()
        while line := await reader.readline():
            if line.startswith(b"data: ") and (at := line.find(b'"text":"')) > 0:
                late.append((time.time() - float(line[at + 8 : at + 25])) * 1000)
        writer.close()

    open_now = asyncio.Semaphore(0)
    tasks = [asyncio.create_task(one(number)) for number in range(followers)]
    for _ in tasks:
        await open_now.acquire()
    print("open", flush=True)
    await asyncio.gather(*tasks, return_exceptions=True)
    print(json.dumps(late), flush=True)


# what is measured


def write(server: subprocess.Popen[str], process: psutil.Process, rate: float, seconds: float) -> float:
    """Seconds of CPU the server takes while it writes."""
    before = sum(process.cpu_times()[:2])
    server.stdin.write(f"{rate} {seconds}\n")  # type: ignore[union-attr]
    server.stdin.flush()  # type: ignore[union-attr]
    assert server.stdout.readline() == "written\n"  # type: ignore[union-attr]
    time.sleep(1)
    return sum(process.cpu_times()[:2]) - before


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--followers", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--rate", type=float, default=20)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--open", type=int, default=0, help="open this many silent streams, and as many again")
    parser.add_argument("--postgres", action="store_true", help="over a PostgreSQL that is started for the bench")
    parser.add_argument("--database", default="", help=argparse.SUPPRESS)
    parser.add_argument("--as", dest="role", default="", help=argparse.SUPPRESS)
    parser.add_argument("--at", default="", help=argparse.SUPPRESS)
    parser.add_argument("--after", type=int, default=0, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    allow_files()
    if asked.role == "server":
        asyncio.run(serve(Path(asked.at), asked.runs, asked.database, asked.open))
    elif asked.role == "follower":
        asyncio.run(follow(asked.at, asked.runs, asked.followers, asked.after))
    elif asked.role == "opener":
        asyncio.run(hold(asked.at, asked.followers))
    else:
        with postgres.running() if asked.postgres else nullcontext("") as url:
            asked.database = postgres.with_schema(url) if url else ""
            (flood if asked.open else measure)(asked)


# who only holds streams open


async def hold(url: str, count: int) -> None:
    """Open streams one after another, as fast as they are answered; what was answered, as JSON; then hold them."""
    host, port = url.removeprefix("http://").split(":")
    held, statuses, late = [], Counter[str](), []
    for _ in range(count):
        began = time.perf_counter()
        try:
            reader, writer = await asyncio.wait_for(asyncio.open_connection(host, int(port)), 30)
            writer.write(b"GET /api/v1/runs/run0000000/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
            statuses[head.split(b" ", 2)[1].decode()] += 1
            held.append(writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            statuses[type(error).__name__] += 1
        late.append(time.perf_counter() - began)
    print(json.dumps({"statuses": statuses, "late": late}), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)


def flood(asked: argparse.Namespace) -> None:
    """More streams than the server has room for, and how it does meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        server = started_server(asked, f"{folder}/home")
        url, process = server.stdout.readline().strip(), psutil.Process(server.pid)  # type: ignore[union-attr]
        await_answers(url)
        before, calm = process.memory_info().rss, snapshots(url, 50)
        ways = ("--as", "opener", "--at", url, "--followers", 2 * asked.open // READERS)
        openers = [started(*ways) for _ in range(READERS)]
        opened = [json.loads(opener.stdout.readline()) for opener in openers]  # type: ignore[union-attr]
        statuses = sum((Counter(each["statuses"]) for each in opened), Counter[str]())
        late = sorted(seconds * 1000 for each in opened for seconds in each["late"])
        held, busy = process.memory_info().rss - before, snapshots(url, 50)
        for opener in openers:
            opener.stdin.close()  # type: ignore[union-attr]
            opener.wait(timeout=60)
        began = time.perf_counter()
        server.stdin.close()  # type: ignore[union-attr]
        server.wait(timeout=60)
    print(f"{len(late)} streams asked for, answered: {dict(statuses)}")
    print(f"an answer took, ms: median {statistics.median(late):.0f}, p95 {late[int(len(late) * 0.95)]:.0f}")
    print(
        f"memory a stream: {held / max(statuses['200'], 1) / 1000:.0f} kB; snapshots a second: {busy:.0f} ({calm:.0f})"
    )
    print(f"the server stopped after {time.perf_counter() - began:.1f} s")


def started(*arguments: object) -> subprocess.Popen[str]:
    """Another process of this bench."""
    command = [sys.executable, __file__, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def started_server(asked: argparse.Namespace, home: str) -> subprocess.Popen[str]:
    """The server of this bench."""
    place = ("--database", asked.database) if asked.database else ()
    return started("--as", "server", "--at", home, "--runs", asked.runs, "--open", asked.open, *place)


def await_answers(url: str) -> None:
    """Wait until a server which said its address answers there: on a busy machine that takes a moment."""
    end = time.monotonic() + 30
    with httpx.Client(base_url=url, trust_env=False) as client:
        while True:
            try:
                client.get("/livez").raise_for_status()
                return
            except httpx.HTTPError:
                assert time.monotonic() < end, "the server did not come up"
                time.sleep(0.05)


def measure(asked: argparse.Namespace) -> None:
    """One server, its followers, and the figures."""
    with tempfile.TemporaryDirectory() as folder:
        server = started_server(asked, f"{folder}/home")
        url, process = server.stdout.readline().strip(), psutil.Process(server.pid)  # type: ignore[union-attr]
        await_answers(url)
        snapshots(url, 20)
        alone, memory = write(server, process, asked.rate, asked.seconds), process.memory_info().rss
        each, written = asked.followers // READERS, int(asked.rate * asked.seconds)
        ways = ("--as", "follower", "--at", url, "--runs", asked.runs, "--followers", each, "--after", written + 1)
        readers = [started(*ways) for _ in range(READERS)]
        assert all(reader.stdout.readline() == "open\n" for reader in readers)  # type: ignore[union-attr]
        time.sleep(3)
        held = process.memory_info().rss - memory
        cpu = write(server, process, asked.rate, asked.seconds)
        a_second = snapshots(url, SNAPSHOTS)
        server.stdin.close()  # type: ignore[union-attr]
        late = [ms for reader in readers for ms in json.loads(reader.stdout.readline())]  # type: ignore[union-attr]
        server.wait(timeout=60)
    events = written * each * READERS
    assert len(late) == events, f"{len(late)} of {events} events were delivered"
    print(
        f"{each * READERS} followers of {asked.runs} runs, {asked.rate:g} events a second each, for {asked.seconds:g} s"
    )
    print(f"delivered {events / asked.seconds:,.0f} a second; from commit to client, ms: ", end="")
    print(f"median {statistics.median(late):.0f}, p95 {statistics.quantiles(late, n=20)[-1]:.0f}")
    print(f"CPU an event and follower: {(cpu - alone) / events * 1e6:.0f} µs (without followers {alone:.2f} s)")
    print(f"memory a follower: {held / (each * READERS) / 1000:.0f} kB; snapshots a second: {a_second:.0f}")


def snapshots(url: str, count: int) -> float:
    """Snapshots of a run answered a second, one after another over one connection."""
    with httpx.Client(base_url=url, trust_env=False, timeout=60) as client:
        begun = time.perf_counter()
        for _ in range(count):
            client.get("/api/v1/runs/run0000000").raise_for_status()
        return count / (time.perf_counter() - begun)


if __name__ == "__main__":
    main()
