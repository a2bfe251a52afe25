"""CPU and wall time of a step with its event on memory, SQLite and PostgreSQL: `python -m bench.steps [--steps 2000]`.

PostgreSQL is measured if `DATABASE_URL` names a server, or if `tests/support/postgres.py` can start one (on loopback,
with its default durability: each commit is synced to the disk). The tables are in a schema of their own.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

import postgres

from assay.core.brief import Brief
from assay.core.events import Warned
from assay.core.ports import Journal, World
from assay.run.engine import Engine, Outcome
from assay.run.process import SystemClock
from assay.run.run import Branch, Run
from assay.run.steps import StepContext
from assay.store.memory import memory_store
from assay.store.sql import open_store


async def measure(journal: Journal, steps: int, at_once: int) -> tuple[float, float]:
    """Milliseconds of CPU and of wall time a step, `at_once` branches interleaving."""
    store = memory_store()
    world = World(models={}, searches=(), library=store.library, blobs=store.blobs, clock=SystemClock())

    async def work(step_context: StepContext) -> dict[str, str]:
        step_context.emit(Warned(message="one event"))
        return {"text": "a result of some hundred characters " * 10}

    async def branch(run: Run) -> None:
        for _ in range(steps // at_once):
            await run.step("work", work, returns=dict, input={"query": "the same"})

    async def pipeline(run: Run) -> Outcome:
        await run.gather(*(Branch(f"branch-{number}", branch) for number in range(at_once)))
        return Outcome()

    async def prepare() -> tuple[Brief, World]:
        return Brief(question="?", date="2026-01-01"), world

    handle = Engine(journal, pipeline).start(prepare)
    cpu, wall = time.process_time(), time.perf_counter()
    await handle.wait()
    return (time.process_time() - cpu) / steps * 1e3, (time.perf_counter() - wall) / steps * 1e3


async def main(steps: int, rounds: int) -> None:
    """Print the median of `rounds` for each store."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(postgres.running("-c", "fsync=on")) if not postgres.reason_to_skip() else ""
        for at_once in (1, 10):
            for kind in ("memory", "sqlite", *(["postgres"] if server else [])):
                figures = [await _round(kind, server, steps, at_once) for _ in range(rounds)]
                _tell(kind, at_once, figures)


async def _round(kind: str, server: str, steps: int, at_once: int) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as home:
        database = postgres.with_schema(server) if kind == "postgres" else ""
        store = memory_store() if kind == "memory" else open_store(Path(home), database=database)
        figures = await measure(store.journal, steps, at_once)
        await store.close()
        if database:
            postgres.drop(database)
    return figures


def _tell(kind: str, at_once: int, figures: list[tuple[float, float]]) -> None:
    cpu = statistics.median(figure[0] for figure in figures)
    wall = statistics.median(figure[1] for figure in figures)
    print(f"{kind:8} {at_once:3} at once: {cpu:.2f} ms CPU, {wall:.2f} ms wall a step (median of {len(figures)})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    asyncio.run(main(options.steps, options.rounds))
