"""The run of `simulated` over a web, with and without work ahead of need: wall time, and the work that was never used.

python bench/simulated_web.py [--rounds 3] [--strategy orchestrated|reflective] [--kind memory|sqlite]

A search engine gives snippets after 400 ms, and opening a found page takes 300 ms. Of the pages an agent opens, the
first is the best result of its search, the second the third best. The two runs of a round follow each other.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import paths
import scenario
from simulated import HITS, PAGE_SECONDS, SEARCH_SECONDS, Bench, FetchArguments, served_model
from simulated_server import Served

from assay.core.brief import Scope, Speculation
from assay.core.ports import Hit, Library, Model, Query, World
from assay.core.ports.store import Store
from assay.core.sources import SNIPPET, UNSORTED, Document, PassageSpan, Snapshot
from assay.core.usage import Usage
from assay.core.view import fold_events
from assay.core.web_addresses import ANYTHING, WebRules
from assay.evidence.documents import DocumentReader
from assay.evidence.ledger import Ledger
from assay.phases.orchestrator import orchestrate
from assay.phases.pipeline import PipelineParts, pipeline
from assay.phases.reflective import reflect
from assay.run.engine import Engine
from assay.run.protocols import DocumentPassages, Observation
from assay.run.run import Run
from assay.run.speculation import SPECULATION_ROLE
from assay.run.steps import StepContext
from assay.store.memory import memory_store
from assay.store.sql import open_store
from assay.tools import common
from assay.tools.arguments import define, read
from assay.tools.search import SearchTool

ON = Speculation(question=True, names=True, pages=True, calls=True)
OFF = Speculation()
SCOPE = Scope(web=True)
WHEN = "2026-01-01T00:00:00.000Z"


class SlowEngine:
    """A free search engine: six pages after a while, those of the subject the query is about before others."""

    name = "engine"
    ahead: Literal["free", "paid", "never"] = "free"

    def __init__(self, store: Store, seconds: float = SEARCH_SECONDS) -> None:
        self._store, self._seconds = store, seconds
        self.served: list[Served] = []

    async def search(self, query: Query) -> list[Hit]:
        """Six snippets."""
        start = time.monotonic()
        await asyncio.sleep(self._seconds)
        self.served.append(Served(f"search:{query.text}", start, time.monotonic()))
        return [self._hit(page) for page in ranked(query.text)[:HITS]]

    def _hit(self, page: str) -> Hit:
        text = f"What the tide gauges of Europe say, by {page}."
        data, url = text.encode(), address(page)
        hashed = self._store.blobs.put(data)
        snapshot = Snapshot(sha256=hashed, url=url, media_type=SNIPPET, size=len(data), fetched_at=WHEN)
        document = Document(
            sha256=hashed,
            snapshot_sha256=hashed,
            extractor="snippet/1",
            url=url,
            title=page,
            name=url,
            media_type=SNIPPET,
            syntax="plain",
            size=len(data),
            fetched_at=WHEN,
        )
        self._store.library.add([(snapshot, document)], UNSORTED)
        return Hit(document=document, score=1.0, spans=(PassageSpan(ordinal=1, start=0, end=len(data), text=text),))


def ranked(query: str) -> list[str]:
    """The pages, those first which the agent of the query's subject opens, the others by the query's letters."""
    own = [
        argument
        for subject in scenario.SUBJECTS
        if any(("search", query) in turn for turn in subject.turns)
        for turn in subject.turns
        for tool, argument in turn
        if tool == "fetch"
    ]
    first = sum(map(ord, query))
    others = [f"page-{(first + place) % 10}" for place in range(10)]
    return list(dict.fromkeys([*own[:1], *others[:1], *own[1:], *others]))


def address(page: str) -> str:
    """Where a page is."""
    return f"https://tides.example/{page}"


class SlowPages:
    """Pages which take a while."""

    def __init__(self, library: Library, seconds: float = PAGE_SECONDS) -> None:
        self._pages = {document.url: document for document in library.documents(["default"])}
        self._seconds = seconds
        self.served: list[Served] = []

    async def read(self, url: str, rules: WebRules = ANYTHING, parts: int | None = None) -> tuple[Document, ...]:
        """The page at `url`."""
        start = time.monotonic()
        await asyncio.sleep(self._seconds)
        self.served.append(Served(f"fetch:{url.rpartition('/')[2]}", start, time.monotonic()))
        return (self._pages[url],)


class WebFetchTool:
    """Opens pages by their names, as `open` does by their addresses."""

    name = "fetch"
    definition = define("fetch", "Fetch a page and read it.", FetchArguments)

    def __init__(self, reader: DocumentReader) -> None:
        self._reader = reader

    async def run(self, run: Run, ledger: Ledger, arguments: Mapping[str, Any]) -> Observation:
        """Open."""
        page = read(self.definition, arguments, FetchArguments).page

        async def fetch(step_context: StepContext) -> Observation:
            (document,) = await common.read_page(run, ledger, step_context, address(page))
            step_context.spend(Usage(pages=1))
            shown = DocumentPassages(document=document, spans=self._reader.spans(document)[:30])
            return Observation(summary=page, shown=(shown,))

        return await run.step("fetch", fetch, returns=Observation, input=page, cost=Usage(pages=1))


class WebBench(Bench):
    """The same engine, whose runs search and read a web."""

    def __init__(self, store: Store, model: Model) -> None:
        super().__init__(store, model)
        self.web, self.pages = SlowEngine(store), SlowPages(store.library)
        parts = PipelineParts(
            tools=(SearchTool(), WebFetchTool(DocumentReader(store.blobs))),
            reader=DocumentReader(store.blobs),
            strategies={"orchestrated": orchestrate, "reflective": reflect},
        )
        self._engine = Engine(store.journal, lambda run: pipeline(run, parts))

    def _world(self) -> World:
        return msgspec.structs.replace(super()._world(), searches=(self.web,), pages=self.pages)


class Measured(msgspec.Struct, frozen=True):
    """A run: wall and processor seconds, the critical path of its calls, what services answered, what for nothing."""

    wall: float
    cpu: float
    path: float
    searches: int
    pages: int
    unasked: Usage


async def measure(strategy: str, kind: str, speculation: Speculation) -> Measured:
    """One run, against a model and a store of its own."""
    with tempfile.TemporaryDirectory() as home:
        store = memory_store() if kind == "memory" else open_store(Path(home))
        async with served_model() as (model, answered):
            bench = WebBench(store, model)
            wall, cpu = time.perf_counter(), time.process_time()
            run_id = await bench.run(strategy, speculation=speculation, scope=SCOPE, verify=False)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        view = fold_events(await store.journal.events(run_id))
        await store.close()
    searches, pages = bench.web.served, bench.pages.served
    return Measured(
        wall=wall,
        cpu=cpu,
        path=paths.seconds(paths.critical_path((*answered, *searches, *pages))),
        searches=len(searches),
        pages=len(pages),
        unasked=view.usage.by_role.get(SPECULATION_ROLE, Usage()),
    )


async def main(strategies: Sequence[str], kinds: Sequence[str], rounds: int) -> None:
    """Print the figures, the runs without and with by turns."""
    for strategy in strategies:
        for kind in kinds:
            pairs = [(await measure(strategy, kind, OFF), await measure(strategy, kind, ON)) for _ in range(rounds)]
            print(_summary_line(strategy, kind, pairs), flush=True)


def _summary_line(strategy: str, kind: str, pairs: Sequence[tuple[Measured, Measured]]) -> str:
    def middle(values: list[float]) -> str:
        return f"{statistics.median(values):.3f} ({min(values):.3f}-{max(values):.3f})"

    off, on = pairs[0]
    return (
        f"{strategy:12} {kind:6}: wall {middle([one.wall for one, _ in pairs])} s without,"
        f" {middle([other.wall for _, other in pairs])} s with; by the critical path without it:"
        f" {middle([one.wall / one.path for one, _ in pairs])} and"
        f" {middle([other.wall / one.path for one, other in pairs])};"
        f" CPU {middle([one.cpu for one, _ in pairs])} and {middle([other.cpu for _, other in pairs])} s;"
        f" {off.searches} searches, {off.pages} pages, and {on.searches}, {on.pages}, for nothing"
        f" {on.unasked.searches}, {on.unasked.pages}; {len(pairs)} rounds, load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--strategy", choices=["orchestrated", "reflective"])
    parser.add_argument("--kind", choices=["memory", "sqlite"])
    options = parser.parse_args()
    strategies = [options.strategy] if options.strategy else ["orchestrated", "reflective"]
    asyncio.run(main(strategies, [options.kind] if options.kind else ["memory", "sqlite"], options.rounds))
