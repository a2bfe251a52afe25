"""Whole runs against simulated services: wall time against the critical path of their calls.

python bench/simulated.py [--rounds 3] [--strategy orchestrated|reflective] [--ahead [--after]]

The model is a server on loopback (see `simulated_server`), called through Assay's own adapter; a search takes 400 ms
and a page 300 ms. With `--ahead`, every second run begins the model calls that probably come next, and is compared with
the critical path of the run before it. With `--after`, the orchestrator sends all four agents in its first decision,
the last with the finding of the first, in place of two decisions. The bench also counts searches and pages that were
requested twice, since agents ask for the same ones.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec
import paths
import scenario
from simulated_server import Served

from assay.core.brief import ROLES, Brief, Speculation
from assay.core.messages import Price, Profile
from assay.core.ports import Access, Hit, Library, Model, Query, World
from assay.core.ports.models import Secret
from assay.core.ports.store import Store
from assay.core.sources import Document
from assay.core.usage import Usage
from assay.core.view import fold_events
from assay.evidence.documents import DocumentReader
from assay.evidence.ledger import Ledger
from assay.models import openai
from assay.models.script import Scripted
from assay.phases.orchestrator import orchestrate
from assay.phases.pipeline import PipelineParts, pipeline
from assay.phases.reflective import reflect
from assay.run.engine import Engine
from assay.run.process import SystemClock
from assay.run.protocols import DocumentPassages, Observation
from assay.run.run import Run
from assay.run.speculation import SPECULATION_ROLE
from assay.run.steps import StepContext
from assay.store.memory import memory_store
from assay.store.sql import open_store
from assay.tools import common
from assay.tools.arguments import define, read
from assay.tools.search import SearchTool

SEARCH_SECONDS, PAGE_SECONDS = 0.400, 0.300
HITS, SPANS = 6, 4
MODEL = "vllm:m"
ON, OFF = Speculation(calls=True, tasks=True), Speculation()


class SlowSearch:
    """A search service: some of the documents, chosen by the query's letters, after a while."""

    name = "slow"

    def __init__(self, library: Library, reader: DocumentReader, seconds: float = SEARCH_SECONDS) -> None:
        self._known, self._seconds = library.documents(["default"]), seconds
        self._spans = [reader.spans(each)[: HITS * SPANS] for each in self._known]
        self.served: list[Served] = []

    async def search(self, query: Query) -> list[Hit]:
        """Six documents with four passages each."""
        start = time.monotonic()
        if self._seconds:
            await asyncio.sleep(self._seconds)
        self.served.append(Served(f"search:{query.text}", start, time.monotonic()))
        first = sum(map(ord, query.text)) % len(self._known)
        chosen = [(first + place) % len(self._known) for place in range(HITS)]
        return [Hit(document=self._known[at], score=1.0, spans=self._spans[at][at : at + SPANS]) for at in chosen]


class FetchArguments(msgspec.Struct, frozen=True):
    """What `fetch` takes."""

    page: Annotated[str, msgspec.Meta(description="The name of a page.")]


class FetchTool:
    """Fetches pages, as a tool for the web would."""

    name = "fetch"
    definition = define("fetch", "Fetch a page and read it.", FetchArguments)

    def __init__(self, pages: Sequence[Document], reader: DocumentReader, seconds: float = PAGE_SECONDS) -> None:
        self._reader, self._seconds = reader, seconds
        self._pages = {document.name: document for document in pages}
        self.served: list[Served] = []

    async def run(self, run: Run, ledger: Ledger, arguments: Mapping[str, Any]) -> Observation:
        """Fetch."""
        page = read(self.definition, arguments, FetchArguments).page
        key = common.call_key("fetch", page)

        async def work() -> Observation:
            start = time.monotonic()
            if self._seconds:
                await asyncio.sleep(self._seconds)
            self.served.append(Served(f"fetch:{page}", start, time.monotonic()))
            document = self._pages[page]
            return Observation(
                summary=page, shown=(DocumentPassages(document=document, spans=self._reader.spans(document)[:30]),)
            )

        async def fetch(step_context: StepContext) -> Observation:
            found, known = await common.once(run, ledger, key, work)
            if not known:
                step_context.spend(Usage(pages=1))
            return found

        found = await run.step("fetch", fetch, returns=Observation, input=page, cost=Usage(pages=1))
        common.store_result(ledger, key, found)
        return found


class Bench:
    """An engine over a store with the documents of the scenario, and services which take their time."""

    def __init__(self, store: Store, model: Model, *, search: float = SEARCH_SECONDS, page: float = PAGE_SECONDS):
        scenario.fill(store)
        reader = DocumentReader(store.blobs)
        self.search = SlowSearch(store.library, reader, search)
        self.fetch = FetchTool(store.library.documents(["default"]), reader, page)
        strategies = {"orchestrated": orchestrate, "reflective": reflect}
        parts = PipelineParts(tools=(SearchTool(), self.fetch), reader=reader, strategies=strategies)
        self._engine = Engine(store.journal, lambda run: pipeline(run, parts))
        self.store, self._model = store, model

    def _world(self) -> World:
        return World(
            models={MODEL: self._model},
            searches=(self.search,),
            library=self.store.library,
            blobs=self.store.blobs,
            clock=SystemClock(),
        )

    async def run(self, strategy: str, **fixed: Any) -> str:
        """A whole run; its id. `fixed` are further fields of its brief."""
        brief = Brief(
            question=scenario.QUESTION,
            date="2026-01-01",
            strategy=strategy,
            depth="medium",
            assess=True,
            tools=("search", "fetch"),
            models=dict.fromkeys(ROLES, (MODEL,)),
            **fixed,
        )

        async def prepare() -> tuple[Brief, World]:
            return brief, self._world()

        handle = self._engine.start(prepare)
        await handle.wait()
        return handle.run_id


class Measured(msgspec.Struct, frozen=True):
    """One run: wall and processor time, the two paths, the calls, what was asked for twice, and what for nothing."""

    wall: float
    cpu: float
    path: float
    calls: tuple[Served, ...]
    twice: tuple[str, ...]
    unasked: Usage
    chain: float = 0.0
    chain_calls: tuple[str, ...] = ()


@asynccontextmanager
async def served_model(*options: str) -> AsyncIterator[tuple[Model, list[Served]]]:
    """A model on a server of its own; the list has what it answered once the block is left."""
    command = [sys.executable, str(Path(__file__).with_name("simulated_server.py")), *options]
    answered: list[Served] = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        model = openai.create(MODEL, Access(url=url, key=Secret("none")))
        yield model, answered
        await model.close()
        server.stdin.close()
        answered += msgspec.json.decode(server.stdout.readline(), type=list[Served])


async def measure(strategy: str, store: Store) -> Measured:
    """One run against a server of its own."""
    measured = await _timed(strategy, store)
    chain, on_it = paths.longest(measured.calls, scenario.needs(strategy))
    return msgspec.structs.replace(measured, chain=chain, chain_calls=tuple(on_it))


async def _timed(strategy: str, store: Store, *options: str, **fixed: Any) -> Measured:
    """One run; `options` are the server's, `fixed` further fields of its brief."""
    async with served_model(*options) as (model, answered):
        bench = Bench(store, model)
        wall, cpu = time.perf_counter(), time.process_time()
        run_id = await bench.run(strategy, **fixed)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    calls = (*answered, *bench.search.served, *bench.fetch.served)
    counted = Counter(call.key for call in calls)
    twice = tuple(key for key, count in counted.items() if count > 1)
    unasked = fold_events(await store.journal.events(run_id)).usage.by_role.get(SPECULATION_ROLE, Usage())
    return Measured(wall, cpu, paths.seconds(paths.critical_path(calls)), calls, twice, unasked)


def print_calls(measured: Measured) -> None:
    """Where the time between the calls of the critical path went."""
    path = paths.critical_path(measured.calls)
    first = min(call.start for call in measured.calls)
    for before, after in zip([None, *path], path, strict=False):
        gap = after.start - before.end if before else 0.0
        took = (after.end - after.start) * 1e3
        print(f"  {after.start - first:7.3f} {took:6.0f} ms after {gap * 1e3:5.1f}  {after.key}")
    print(f"  longest chain: {' > '.join(measured.chain_calls)}")


async def warm() -> None:
    """A run whose services answer at once: a process that serves runs has loaded what they need before the first."""
    store = memory_store()
    profile = Profile(name=MODEL, price=Price(input=1.0, output=2.0), deterministic=True)
    await Bench(store, Scripted(scenario.reply, profile=profile), search=0.0, page=0.0).run("orchestrated")
    await store.close()


async def main(strategies: Sequence[str], rounds: int, verbose: bool) -> None:
    """Print the figures."""
    await warm()
    for strategy in strategies:
        for kind in ("memory", "sqlite"):
            runs = []
            for _ in range(rounds):
                with tempfile.TemporaryDirectory() as home:
                    store = memory_store() if kind == "memory" else open_store(Path(home))
                    runs.append(await measure(strategy, store))
                    await store.close()
            print(_summary_line(strategy, kind, runs), flush=True)
            if verbose:
                print_calls(runs[-1])


async def compare(strategies: Sequence[str], rounds: int, verbose: bool, *options: str) -> None:
    """Print what beginning model calls ahead gains, by pairs of runs. `options` are the server's."""
    await warm()
    for strategy in strategies:
        for kind in ("memory", "sqlite"):
            pairs = [
                (await _once(strategy, kind, OFF, *options), await _once(strategy, kind, ON, *options))
                for _ in range(rounds)
            ]
            print(_pairs_line(strategy, kind, pairs), flush=True)
            if verbose:
                print_calls(pairs[-1][1])


async def _once(strategy: str, kind: str, speculation: Speculation, *options: str) -> Measured:
    with tempfile.TemporaryDirectory() as home:
        store = memory_store() if kind == "memory" else open_store(Path(home))
        measured = await _timed(strategy, store, *options, speculation=speculation)
        await store.close()
    return measured


def _pairs_line(strategy: str, kind: str, pairs: Sequence[Sequence[Measured]]) -> str:
    walls = [statistics.median(pair[place].wall for pair in pairs) for place in (0, 1)]
    ratios = [_middle([pair[place].wall / pair[0].path for pair in pairs]) for place in (0, 1)]
    calls = len(pairs[0][0].calls)
    unasked = [pair[1].unasked.model_calls for pair in pairs]
    return (
        f"{strategy:12} {kind:6}: wall {walls[0]:.2f} s, with calls ahead {walls[1]:.2f} s;"
        f" by the critical path without {ratios[0]} and {ratios[1]}; {calls} calls, for nothing {unasked};"
        f" {len(pairs)} rounds, load {os.getloadavg()[0]:.1f}"
    )


def _middle(values: list[float]) -> str:
    return f"{statistics.median(values):.3f} ({min(values):.3f}-{max(values):.3f})"


def _summary_line(strategy: str, kind: str, runs: Sequence[Measured]) -> str:
    return (
        f"{strategy:12} {kind:6}: wall {statistics.median(run.wall for run in runs):.2f} s,"
        f" {len(runs[0].calls)} calls, CPU {statistics.median(run.cpu for run in runs):.2f} s;"
        f" wall / critical path of the calls {_middle([run.wall / run.path for run in runs])};"
        f" wall / longest chain {_middle([run.wall / run.chain for run in runs])};"
        f" asked for twice: {sum(len(run.twice) for run in runs)}; {len(runs)} rounds, load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--strategy", choices=["orchestrated", "reflective"])
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--ahead", action="store_true")
    parser.add_argument("--after", action="store_true")
    options = parser.parse_args()
    wanted = [options.strategy] if options.strategy else ["orchestrated", "reflective"]
    if options.ahead:
        served = ["--after"] if options.after else []
        asyncio.run(compare(wanted, options.rounds, options.verbose, *served))
    else:
        asyncio.run(main(wanted, options.rounds, options.verbose))
