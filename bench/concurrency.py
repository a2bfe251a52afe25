"""Many runs at once in one process: `python bench/concurrency.py [--runs 100] [--store memory|sqlite] [--profile]`.

With `--waiting 1000` so many runs wait for a person in this process, which is measured meanwhile.

The model answers within the process: the first token after 300 ms, then 100 tokens per second, each as a delta.
Searches take 400 ms, pages 300 ms. Wall time is compared with one run alone, memory with the time before the runs.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import os
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import psutil
import scenario
from simulated import Bench
from simulated_server import FIRST_TOKEN, TOKENS_A_SECOND

from assay.core.brief import Brief
from assay.core.messages import CallDone, Delta, Price, Profile, Reply, Request, TextDelta
from assay.core.ports import World
from assay.core.usage import Usage
from assay.run.engine import Engine, Outcome
from assay.run.process import SystemClock
from assay.run.run import Run
from assay.store.memory import memory_store
from assay.store.sql import open_store

PROFILE = Profile(name="vllm:m", price=Price(input=1.0, output=2.0), deterministic=True)
SAMPLE_SECONDS = 0.25
SETTLING_SECONDS, WAITING_SECONDS = 3.0, 10.0


class Paced:
    """A model which says what the scenario has it say, token by token."""

    def __init__(self) -> None:
        self.profile = PROFILE
        self.tokens = 0

    async def offered(self) -> tuple[str, ...]:
        """Itself."""
        return (PROFILE.name,)

    async def close(self) -> None:
        """There is nothing to let go of."""

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Answer at the pace of the clock: what comes late does not delay the rest."""
        clock = asyncio.get_running_loop().time
        start = clock() + FIRST_TOKEN
        reply = scenario.reply(request)
        count = 0
        for count, delta in enumerate(_tokens(reply), 1):
            due = start + (count - 1) / TOKENS_A_SECOND - clock()
            if due > 0:
                await asyncio.sleep(due)
            if delta is not None:
                yield delta
        self.tokens += count
        yield Reply(
            text=reply.text,
            calls=reply.calls,
            stop=reply.stop,
            model=PROFILE.name,
            usage=Usage(model_calls=1, input_tokens=1000, output_tokens=count),
        )


def _tokens(reply: Reply) -> Iterator[Delta | None]:
    """What each token brings: text, a whole call, or nothing yet."""
    for at in range(0, len(reply.text), scenario.SIGNS_A_TOKEN):
        yield TextDelta(reply.text[at : at + scenario.SIGNS_A_TOKEN])
    for place, call in enumerate(reply.calls):
        for _ in range(len(scenario.arguments_text(call.arguments)) // scenario.SIGNS_A_TOKEN):
            yield None
        yield CallDone(place, call)


async def together(bench: Bench, runs: int, spread: float = 0.0) -> tuple[float, float, int]:
    """Median wall seconds of `runs` runs at once, processor seconds of all, the most memory they took, in bytes.

    They start within `spread` seconds; with 0 all at the same moment.
    """
    took: list[float] = []

    async def one(number: int) -> None:
        await asyncio.sleep(spread * number / runs)
        begun = time.perf_counter()
        await bench.run("orchestrated")
        took.append(time.perf_counter() - begun)

    process = psutil.Process()
    before = most = process.memory_info().rss
    cpu = time.process_time()
    work = asyncio.gather(*map(one, range(runs)))
    while not work.done():
        await asyncio.wait([work], timeout=SAMPLE_SECONDS)
        most = max(most, process.memory_info().rss)
    await work
    return statistics.median(took), time.process_time() - cpu, most - before


async def waiting(kind: str, runs: int) -> None:
    """Print what so many runs cost that wait for a person, and how soon all have ended once they are answered."""

    async def pipeline(run: Run) -> Outcome:
        await run.receive("answer", str, leave=False)
        return Outcome()

    async def prepare() -> tuple[Brief, World]:
        world = World(models={}, searches=(), library=store.library, blobs=store.blobs, clock=SystemClock())
        return Brief(question="Which one?", date="2026-01-01"), world

    with tempfile.TemporaryDirectory() as home:
        store = memory_store() if kind == "memory" else open_store(Path(home))
        engine, process = Engine(store.journal, pipeline), psutil.Process()
        before = process.memory_info().rss
        handles = [engine.start(prepare) for _ in range(runs)]
        while not all(handle.created for handle in handles):
            await asyncio.sleep(SAMPLE_SECONDS)
        while not all(row.status == "waiting" for row in await store.journal.runs(runs)):  # some still begin
            await asyncio.sleep(SETTLING_SECONDS)
        await asyncio.sleep(SETTLING_SECONDS)
        cpu, wall, memory = time.process_time(), time.perf_counter(), process.memory_info().rss - before
        await asyncio.sleep(WAITING_SECONDS)
        share = (time.process_time() - cpu) / (time.perf_counter() - wall)
        answered = time.perf_counter()
        await asyncio.gather(*(handle.answer("answer", "this") for handle in handles))
        await asyncio.gather(*(handle.wait() for handle in handles))
        ended = time.perf_counter() - answered
        await store.close()
    print(
        f"{kind:6}: {runs} runs wait, {share:.1%} of a core, {memory / runs / 1e3:.0f} kB a run;"
        f" answered, all have ended after {ended:.1f} s; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


async def measure(kind: str, runs: int, spread: float) -> None:
    """Print the figures of one run alone, then of many."""
    with tempfile.TemporaryDirectory() as home:
        store = memory_store() if kind == "memory" else open_store(Path(home))
        model = Paced()
        bench = Bench(store, model)
        await bench.run("orchestrated")  # what is read and imported once is
        alone, cpu_alone, _ = await together(bench, 1)
        tokens = model.tokens
        wall, cpu, memory = await together(bench, runs, spread)
        tokens = (model.tokens - tokens) // runs
        await store.close()
    print(
        f"{kind:6}: one alone {alone:.2f} s, CPU {cpu_alone:.2f} s, {tokens} tokens; {runs} at once {wall:.2f} s,"
        f" started within {spread:.0f} s,"
        f" {wall / alone:.2f} times one alone; CPU {cpu:.1f} s, {cpu / runs:.2f} s a run;"
        f" memory {memory / runs / 1e6:.2f} MB a run; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--spread", type=float, default=0.0, help="seconds within which all start")
    parser.add_argument("--store", choices=["memory", "sqlite"])
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--waiting", type=int, default=0, help="only this: so many runs wait for a person")
    options = parser.parse_args()
    if options.store is None:  # each in a process of its own: memory given back by one would be taken by the other
        for kind in ("memory", "sqlite"):
            command = [
                sys.executable,
                __file__,
                "--store",
                kind,
                "--runs",
                str(options.runs),
                "--spread",
                str(options.spread),
                "--waiting",
                str(options.waiting),
            ]
            subprocess.run([*command, *(["--profile"] if options.profile else [])], check=True)
    elif options.waiting:
        asyncio.run(waiting(options.store, options.waiting))
    elif options.profile:
        profile = cProfile.Profile()
        profile.runcall(asyncio.run, measure(options.store, options.runs, options.spread))
        pstats.Stats(profile).sort_stats("tottime").print_stats(50)
    else:
        asyncio.run(measure(options.store, options.runs, options.spread))
