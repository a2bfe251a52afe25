"""Processor time of the engine for each call, with a scripted model: `python bench/engine.py [--runs 20] [--profile]`.

Whole runs in memory and on SQLite, in which the model, searches and pages answer at once. A call is a call of the
model, a search or a page. Replies come in one piece. The cost of streaming is measured separately, per token: the same
runs with their texts cut into tokens, minus the runs before.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import os
import pstats
import statistics
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import scenario
from simulated import Bench

from assay.core.messages import Price, Profile, Reply, Request
from assay.models.script import Scripted
from assay.store.memory import memory_store
from assay.store.sql import open_store

WHOLE = 10**9
PROFILE = Profile(name="vllm:m", price=Price(input=1.0, output=2.0), deterministic=True)


class Spent(NamedTuple):
    """What some runs took: processor seconds, calls of model and services, tokens of text."""

    cpu: float
    calls: int
    tokens: int


async def spent(kind: str, strategy: str, runs: int, chunk: int) -> Spent:
    """`runs` runs one after another."""
    lines: list[str] = []

    def reply(request: Request) -> Reply:
        made = scenario.reply(request)
        lines.append(made.text)
        return made

    model = Scripted(reply, profile=PROFILE, chunk=chunk)
    with tempfile.TemporaryDirectory() as home:
        store = memory_store() if kind == "memory" else open_store(Path(home))
        bench = Bench(store, model, search=0.0, page=0.0)
        await bench.run(strategy)  # what is read once is read
        before = len(lines) + len(bench.search.served) + len(bench.fetch.served)
        texts = len(lines)
        cpu = time.process_time()
        for _ in range(runs):
            await bench.run(strategy)
        cpu = time.process_time() - cpu
        calls = len(lines) + len(bench.search.served) + len(bench.fetch.served) - before
        await store.close()
    return Spent(cpu, calls, sum(-(-len(text) // scenario.SIGNS_A_TOKEN) for text in lines[texts:]))


async def main(runs: int, rounds: int) -> None:
    """Print the medians."""
    for kind in ("memory", "sqlite"):
        for strategy in ("orchestrated", "reflective"):
            whole = [await spent(kind, strategy, runs, WHOLE) for _ in range(rounds)]
            each = [one.cpu / one.calls * 1e3 for one in whole]
            streamed = [await spent(kind, strategy, runs, scenario.SIGNS_A_TOKEN) for _ in range(rounds)]
            more = [(one.cpu - two.cpu) / one.tokens * 1e6 for one, two in zip(streamed, whole, strict=True)]
            print(
                f"{kind:6} {strategy:12}: {statistics.median(each):.2f} ms CPU a call"
                f" ({min(each):.2f}-{max(each):.2f});"
                f" {statistics.median(more):.0f} µs more a streamed token ({min(more):.0f}-{max(more):.0f});"
                f" {rounds} rounds of {runs} runs, {whole[0].calls // runs} calls and {whole[0].tokens // runs} tokens"
                f" a run, load {os.getloadavg()[0]:.1f}",
                flush=True,
            )


def profiled(kind: str, strategy: str, runs: int, lines: int) -> None:
    """Print where the time goes."""
    profile = cProfile.Profile()
    profile.runcall(asyncio.run, spent(kind, strategy, runs, WHOLE))
    pstats.Stats(profile).sort_stats("tottime").print_stats(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", choices=["memory", "sqlite"])
    options = parser.parse_args()
    if options.profile:
        profiled(options.profile, "orchestrated", options.runs, 45)
    else:
        asyncio.run(main(options.runs, options.rounds))
