"""The class `Assay`: settings in, a working engine out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

import msgspec

from assay import plugins
from assay.app import threads
from assay.app.briefs import Wanted, make_brief
from assay.app.handle import RunHandle
from assay.app.layout import index_folder
from assay.app.online import Online
from assay.app.pages import ReadPage, fetch_all, fetching, read_page, split
from assay.app.providers import load_model
from assay.app.readers import Readers
from assay.app.threads import Answers
from assay.app.warnings import summed
from assay.core.brief import Brief, Scope
from assay.core.errors import UnknownName, UsageError
from assay.core.events import Envelope
from assay.core.markers import CitationMode
from assay.core.ports import FINAL, Action, Hit, Model, Query, RunRow, World
from assay.core.report import bibliography
from assay.core.sources import Document, Fetched
from assay.core.view import RunView, fold
from assay.evidence.cited import CitedPassage, show
from assay.evidence.documents import Reader
from assay.evidence.ingest import Ingested, Progress, ingest
from assay.evidence.reading import Reading
from assay.export.protocols import Exporter, Record
from assay.phases.alone import DEPTH as AGENT_DEPTH
from assay.phases.pipeline import Services, pipeline
from assay.run import budget
from assay.run.clock import SystemClock
from assay.run.engine import POLL, Engine, is_dead
from assay.search.local import LocalSearch
from assay.settings import Settings, load
from assay.store.memory import memory_store
from assay.store.sql import open_store

DEFAULT = "default"

Say = Callable[[str], None]
Sources = str | Path | Iterable[str | Path]


class Assay:
    """A library of documents and the runs over it; without `home` in memory, and nothing is written to disk.

    `models` adds models by name, beside those found by entry point: how tests and embedders pass their own.
    """

    def __init__(
        self, settings: Settings | None = None, *, home: str | Path | None = None, models: Mapping[str, Model] = {}
    ) -> None:
        self.settings = settings or load()
        self._home = None if home is None else Path(home).expanduser()
        self._own_models, self._made = dict(models), dict[str, Model]()
        self._store = memory_store() if self._home is None else open_store(self._home)
        self._reader = Reader(self._store.blobs)
        self._readers = Readers()
        index = None if self._home is None else index_folder(self._home)
        self._search = LocalSearch(index, self._store.library, self._reader.spans)
        self._services = Services(tools=_tools(), reader=self._reader, strategies=_strategies())
        self._engine = Engine(self._store.journal, lambda run: pipeline(run, self._services))
        self._clock = SystemClock()
        self._online = Online(
            self.settings, self._store.library, self._store.blobs, self._clock, self._readers, self._reader.spans
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the store; runs still going can be resumed."""
        await self._engine.close()
        await asyncio.to_thread(self._readers.close)
        for model in self._made.values():
            await model.close()
        await self._online.close()
        await self._store.close()

    # runs

    def start(
        self,
        question: str,
        *,
        sources: Sources | None = None,
        progress: Say | None = None,
        **wanted: Unpack[Wanted],
    ) -> RunHandle:
        """Start a run in this process; needs a running event loop. What is None is taken from the settings.

        Args:
            sources: files, folders and globs: the run sees exactly these. None: the default collection.
            progress: told in a line how the reading of documents goes.
            wanted: how to go about it; see `Wanted`.

        Raises (from the handle):
            UsageError: a path that does not exist, no readable document, a budget below one report, a run to continue
                which has not ended.
            UnknownName: no run of the id it is to continue.
        """
        brief = make_brief(question, self.settings, wanted)
        self._check(brief)
        paths = None if sources is None else _paths(sources)

        async def prepare() -> tuple[Brief, World]:
            world = self._world(brief)
            at = await threads.placed(self._store.journal, brief)
            if paths is not None or not at.parent:
                at = msgspec.structs.replace(at, scope=await self._scope(paths, brief.scope.web, progress))
            return at, world

        return RunHandle(self._engine.start(prepare), self.view)

    def ask(self, reference: str, question: str, **wanted: Unpack[Wanted]) -> RunHandle:
        """Answer a question from what a run has read, and from nothing else: a run of its own, in the same thread.

        Raises (from the handle):
            UnknownName: no such run.
            UsageError: the run has not ended.
        """
        wanted["mode"], wanted["continues"] = "simple", reference
        brief = msgspec.structs.replace(make_brief(question, self.settings, wanted), tools=("recall",))
        self._check(brief)

        async def prepare() -> tuple[Brief, World]:
            at = await threads.placed(self._store.journal, brief)
            at = msgspec.structs.replace(at, scope=threads.evidence_of(at))
            return at, self._world(at)

        return RunHandle(self._engine.start(prepare), self.view)

    async def answer(self, reference: str, answers: Answers) -> None:
        """Give a run the answers it waits for: in the order of its questions, or by question. `resume` goes on with it.

        Raises:
            UnknownName: no such run.
            UsageError: it does not wait for answers, or these do not fit its questions.
        """
        row = await self.find(reference)
        await threads.answer(self._store.journal, row, await self.view(row.run_id), answers)

    async def is_answered(self, reference: str) -> bool:
        """Whether a run has been given the answers to its clarifying questions."""
        return await threads.is_answered(self._store.journal, (await self.find(reference)).run_id)

    def agent(
        self, task: str, *, sources: Sources | None = None, progress: Say | None = None, **wanted: Unpack[Wanted]
    ) -> RunHandle:
        """Have one research agent work on `task`, without planner and writer: its findings are the report.

        It is a run like any other: `start` says what the options are. A depth says how many turns the agent has.
        """
        wanted["mode"], wanted["strategy"] = "agent", "orchestrated"
        if not wanted.get("depth") and self.settings.depth == "auto":
            wanted["depth"] = AGENT_DEPTH
        return self.start(task, sources=sources, progress=progress, **wanted)

    async def resume(self, reference: str) -> RunHandle:
        """Go on with a stored run in this process; of an ended one, its events are replayed.

        Raises:
            UnknownName: no such run.
            LeaseHeld: another live process executes it; `follow` shows how it goes.
        """
        row = await self.find(reference)
        return RunHandle(await self._engine.resume(row.run_id, self._world), self.view)

    async def follow(self, reference: str) -> AsyncIterator[Envelope]:
        """The events of a run that any process executes, until it ends or nobody executes it any more."""
        row, seq = await self.find(reference), 0
        while True:
            row = await self.find(row.run_id)
            for envelope in await self._store.journal.events(row.run_id, after=seq):
                seq = envelope.seq
                yield envelope
            waits = row.status == "waiting" and not await threads.is_answered(self._store.journal, row.run_id)
            if row.status in FINAL or waits or not row.holder or is_dead(row.holder):
                return
            await asyncio.sleep(POLL)

    async def runs(self, limit: int = 100) -> list[RunRow]:
        """The latest runs, newest first."""
        return await self._store.journal.runs(limit)

    async def find(self, reference: str) -> RunRow:
        """A run by its id, the start of its id, or `last`.

        Raises:
            UnknownName: none, or more than one, begins so.
        """
        return await self._store.journal.find(reference)

    async def unfinished(self, question: str) -> list[RunRow]:
        """Runs of the same question which ended without a last word and which no live process executes."""
        return [
            row
            for row in await self.runs()
            if row.question == question.strip()
            and row.status in ("created", "running", "waiting")
            and (not row.holder or is_dead(row.holder))
        ]

    async def events(self, reference: str, after: int = 0) -> list[Envelope]:
        """A run's log from `seq > after`."""
        return await self._store.journal.events((await self.find(reference)).run_id, after)

    async def view(self, reference: str) -> RunView:
        """A run as its events tell it."""
        return fold(await self.events(reference))

    async def export(self, reference: str, suffix: str, citations: CitationMode = "numbers") -> bytes:
        """The report of a run, as far as it is written, as the bytes of a file in the format of `suffix` (".html").

        Raises:
            UnknownName: no such run, or no such format.
            ConfigError: the format needs an extra which is not installed.
        """
        exporter: Exporter = plugins.load("exporters", suffix)
        log = tuple(await self.events(reference))
        record = Record(view=fold(log), log=log, library=self._store.library, blobs=self._store.blobs)
        return await asyncio.to_thread(exporter.render, record, citations)

    async def control(self, reference: str, action: Action) -> None:
        """Tell a run, in whatever process it is, to finish or cancel."""
        await self._store.journal.control((await self.find(reference)).run_id, action)

    async def delete(self, reference: str) -> None:
        """Forget a run: its events, steps and messages. What it read stays in the library.

        Raises:
            UnknownName: no such run.
            LeaseHeld: a live process executes it.
        """
        row = await self.find(reference)
        await self._store.journal.delete(row.run_id, evict=row.holder if is_dead(row.holder) else "")

    async def passage(self, reference: str, number: int) -> list[CitedPassage]:
        """What citation `number` of a run's report rests on: each passage cited of that source, in its context.

        Raises:
            UnknownName: no such run, or no such number in its report.
        """
        view = await self.view(reference)
        books = bibliography(view)
        known = {entry.number: entry.source for entry in books.entries if entry.number is not None}
        if number not in known:
            hint = "" if known else f"(the report of run {view.run_id} cites nothing)"
            raise UnknownName("citation", str(number), map(str, known), hint)
        cited = [passage for passage in books.cited if books.numbers[passage.id] == number]
        library, reader, source = self._store.library, self._reader, known[number]
        return [await asyncio.to_thread(show, library, reader, view.claims, number, source, each) for each in cited]

    # documents

    async def add(self, paths: Sources, collection: str | None = DEFAULT, progress: Say | None = None) -> Ingested:
        """Read files, folders, globs and pages (http…) into the library; what is known already costs nothing.

        Raises:
            UsageError: a path that does not exist, or nothing but pages which cannot be read.
        """
        urls, files = split(_paths(paths))
        reading = Reading(progress, self._clock)
        pages, warnings = await fetch_all(urls, self.settings.web, self._clock)
        if warnings and not pages and not files:
            raise UsageError(f"no page could be read: {'; '.join(warnings[:5])}")
        try:
            ingested = await asyncio.to_thread(self._ingest, files, pages, collection, reading.tell)
            await asyncio.to_thread(self._search.sync, reading.say)
        finally:
            reading.stop()
        return msgspec.structs.replace(ingested, warnings=(*warnings, *ingested.warnings))

    async def fetch(self, url: str) -> ReadPage:
        """A page as a run would read it; nothing is kept.

        Raises:
            FetchFailed: it cannot be had or read; the reason begins with its kind.
        """
        async with fetching(self.settings.web, self._clock) as fetcher:
            return await read_page(fetcher, self._readers, url)

    def _ingest(
        self,
        paths: Sequence[str],
        pages: Sequence[Fetched],
        collection: str | None,
        told: Callable[[Progress], None] | None,
    ) -> Ingested:
        return ingest(
            paths,
            pages=pages,
            library=self._store.library,
            blobs=self._store.blobs,
            extractors=self._readers.extractors(),
            archives=self._readers.archives(),
            clock=self._clock,
            collection=collection,
            progress=told,
            largest=int(self.settings.documents.max_file_mb * 1_000_000),
        )

    async def documents(self, collection: str = DEFAULT) -> list[Document]:
        """The documents of a collection, in the order of adding."""
        return await asyncio.to_thread(self._store.library.documents, [collection])

    async def search(self, text: str, limit: int = 10, collection: str = DEFAULT) -> list[Hit]:
        """The best documents of a collection for `text`, best first."""
        return await self._search.search(Query(text=text, limit=limit, collections=(collection,)))

    # composition

    def _check(self, brief: Brief) -> None:
        """Refuse what cannot run, before anything is stored or spent."""
        self._services.strategy(brief.strategy)
        budget.check(brief.budget)
        self._world(brief)

    async def _scope(self, paths: list[str] | None, web: bool, progress: Say | None) -> Scope:
        more = threads.WEB if web else ""
        if paths is None:
            count = await asyncio.to_thread(self._store.library.summary, [DEFAULT])
            return Scope(label=f"the default collection ({_counted(count.documents)}){more}", web=web)
        ingested = await self.add(paths, None, progress)
        for warning in summed(ingested.warnings):
            if progress is not None:
                progress(warning)
        label = ", ".join(paths[:3]) + (", …" if len(paths) > 3 else "")
        counted = _counted(ingested.documents)
        return Scope(collections=(ingested.collection,), label=f"{label} ({counted}){more}", web=web)

    def _world(self, brief: Brief) -> World:
        names = {name for models in brief.models.values() for name in models}
        return World(
            models={name: self._model(name) for name in sorted(names)},
            searches=(self._search, *(self._online.searches() if brief.scope.web else ())),
            library=self._store.library,
            blobs=self._store.blobs,
            clock=self._clock,
            pages=self._online if brief.scope.web else None,
        )

    def _model(self, name: str) -> Model:
        """The model of this name, made once: what it holds open is used again.

        Raises:
            UnknownName: no adapter and no service of that name.
            ConfigError: the adapter cannot make it (no key, no address, an extra missing).
        """
        if name in self._own_models:
            return self._own_models[name]
        if name not in self._made:
            self._made[name] = load_model(self.settings, name)
        return self._made[name]


def _tools() -> tuple[Any, ...]:
    return tuple(plugins.load("tools", name)() for name in plugins.names("tools"))


def _strategies() -> dict[str, Any]:
    return {name: plugins.load("strategies", name) for name in plugins.names("strategies")}


def _paths(sources: Sources) -> list[str]:
    return [str(sources)] if isinstance(sources, str | Path) else [str(path) for path in sources]


def _counted(documents: int) -> str:
    return f"{documents:,} document{'' if documents == 1 else 's'}"
