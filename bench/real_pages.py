"""Whole runs over real documentation pages, all over HTTP on loopback: processor time, stalls, memory, profile.

apt-get install python3.11-doc
python bench/real_pages.py [--rounds 3] [--pages FOLDER] [--profile memory|sqlite]

The model answers at once, and the search speaks SearXNG's format (see `real_pages_server` and `web_server`); each is a
separate process. Every round is a new process with two runs over separate stores; nothing is imported before the first.
A call is a call of the model. Processes that read pages are counted separately. Homes are deleted after the last round:
where ext4 has just deleted many files, it takes up to 0.6 s longer to make the 500 of a run.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import gc
import os
import pstats
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import psutil
from corpus import machine
from real_pages_server import QUESTION
from simulated_server import Served
from stalls import watched
from web_server import MANUALS

from assay import Assay
from assay.settings import Settings, load
from assay.telemetry.watchdog import Watchdog

NO_DATA = 2
HERE = Path(__file__).parent
KINDS = ("memory", "sqlite")
SHOW = "--show"


class Run(msgspec.Struct, frozen=True):
    """One run: processor seconds here and in other processes, wall seconds, memory (MB), the worst stall (s)."""

    here: float
    elsewhere: float
    wall: float
    memory: float
    stall: float
    pages: int
    searches: int


class Round(msgspec.Struct, frozen=True):
    """What one process measured: its runs, and the calls its model answered in one of them."""

    runs: tuple[Run, ...]
    calls: int


def settings_for(model: int, web: int) -> Settings:
    """Everything is on loopback."""
    return load(
        services={"mine": {"url": f"http://127.0.0.1:{model}/v1"}},
        model="mine:m",
        catalogue={"mine:m": {"window": 128_000}},
        search={"providers": "searxng", "services": {"searxng": {"url": f"http://127.0.0.1:{web}", "pause": 0}}},
        web={"allow": "127.0.0.1"},
    )


async def research(settings: Settings, home: Path | None, gaps: list[float] | None) -> Run:
    """One run over a store of its own; `gaps` takes how late the loop was, at a cost."""
    begun, here, elsewhere = time.perf_counter(), time.process_time(), _elsewhere()
    async with Assay(settings, home=home) as assay:
        await assay.ready()

        async def whole() -> tuple[int, int]:
            handle = assay.start(QUESTION, web=True, mode="deep_research", depth="medium", strategy="orchestrated")
            report = await handle.report()
            return report.usage.pages, report.usage.searches

        if gaps is None:
            pages, searches = await whole()
        else:
            async with Watchdog(tell=lambda stall: print(stall, file=sys.stderr)), watched(gaps):
                pages, searches = await whole()
        memory = psutil.Process().memory_info().rss / 1e6
    return Run(
        here=time.process_time() - here,
        elsewhere=_elsewhere() - elsewhere,
        wall=time.perf_counter() - begun,
        memory=memory,
        stall=max(gaps, default=0.0) if gaps else 0.0,
        pages=pages,
        searches=searches,
    )


def _elsewhere() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def server(name: str, *arguments: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """A server of this folder: its port (0 where it has nothing to serve) and its process."""
    command = [sys.executable, str(HERE / name), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline() or 0), process
        finally:
            process.kill()


def one(kind: str, web: int, what: str, folder: str) -> None:
    """Two runs in this process, their homes below `folder`; the result is printed as JSON."""
    runs, homes = [], Path(tempfile.mkdtemp(dir=folder))
    with server("real_pages_server.py") as (port, model):
        for number in range(2):
            home = None if kind == "memory" else homes / str(number)
            gaps: list[float] | None = [] if what == "stalls" else None
            runs.append(asyncio.run(research(settings_for(port, web), home, gaps)))
            gc.collect()
        assert model.stdin is not None
        assert model.stdout is not None
        model.stdin.close()
        served = msgspec.json.decode(model.stdout.readline(), type=list[Served])
    print(msgspec.json.encode(Round(tuple(runs), len(served) // 2)).decode())


def profiled(kind: str, web: int, lines: int) -> None:
    """Print where the processor time of a run goes which finds everything imported, by function, over all threads.

    Threads which are not Python's, as those which write the index, are not seen.
    """
    profiles: list[cProfile.Profile] = []

    def begin(*_: object) -> None:
        profiles.append(cProfile.Profile(time.thread_time))
        profiles[-1].enable()

    with tempfile.TemporaryDirectory() as folder, server("real_pages_server.py") as (port, _):
        settings = settings_for(port, web)
        homes = [None if kind == "memory" else Path(folder) / str(number) for number in range(2)]
        asyncio.run(research(settings, homes[0], None))
        threading.setprofile(begin)
        begin()
        asyncio.run(research(settings, homes[1], None))
        profiles[0].disable()
        threading.setprofile(None)  # type: ignore[arg-type]
    stats = pstats.Stats(*profiles)
    for order in ("tottime", "cumulative"):
        stats.sort_stats(order).print_stats(lines)


def main() -> int:
    """Print the figures; 2 where there are no pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pages", type=Path, default=MANUALS["python"], help="a folder of HTML pages")
    parser.add_argument("--kind", choices=KINDS, help="only this store")
    parser.add_argument(SHOW, action="store_true", help="print what blocked the loop for more than 50 ms, and where")
    parser.add_argument("--profile", choices=KINDS)
    parser.add_argument("--lines", type=int, default=45)
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one[0], int(options.one[1]), *options.one[2:])
        return 0
    if not any(options.pages.rglob("*.html")):
        print(f"no pages in {options.pages}: install python3.11-doc, or give --pages")
        return NO_DATA
    with tempfile.TemporaryDirectory() as folder, server("web_server.py", str(options.pages)) as (web, _):
        if options.profile:
            profiled(options.profile, web, options.lines)
            return 0
        print(f"{machine()}, load {os.getloadavg()[0]:.1f}, {options.rounds} rounds")
        for kind in (options.kind,) if options.kind else KINDS:
            rounds = [_child(kind, web, "cpu", folder) for _ in range(options.rounds)]
            stalls = [_child(kind, web, "stalls", folder) for _ in range(options.rounds)]
            for number, name in enumerate(("first run", "next run")):
                _print_figures(f"{kind}, {name}", [(each.runs[number], each.calls) for each in rounds], stalls, number)
    return 0


def _child(kind: str, web: int, what: str, folder: str) -> Round:
    command = [sys.executable, __file__, "--one", kind, str(web), what, folder]
    quiet = None if SHOW in sys.argv else subprocess.DEVNULL
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=quiet, check=True)
    return msgspec.json.decode(done.stdout, type=Round)


def _print_figures(name: str, runs: Sequence[tuple[Run, int]], stalls: Sequence[Round], number: int) -> None:
    def middle(values: Sequence[float], form: str) -> str:
        return f"{statistics.median(values):{form}} ({min(values):{form}}-{max(values):{form}})"

    each = [run.here / calls * 1e3 for run, calls in runs]
    first = runs[0][0]
    print(
        f"{name}: CPU {middle([run.here for run, _ in runs], '.2f')} s here,"
        f" {middle([run.elsewhere for run, _ in runs], '.2f')} s in other processes;"
        f" {middle(each, '.1f')} ms a call of {runs[0][1]} calls, {first.searches} searches, {first.pages} pages;"
        f" {middle([run.memory for run, _ in runs], '.0f')} MB; wall {middle([run.wall for run, _ in runs], '.1f')} s;"
        f" worst stall {middle([each.runs[number].stall * 1e3 for each in stalls], '.0f')} ms",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
