"""The class `Assay`: settings in, a working engine out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

import msgspec

from assay import plugins
from assay.app import daily, estimating, privacy, threads
from assay.app.briefs import Wanted, make_brief, said_of_web
from assay.app.closing import close_all
from assay.app.collecting import DEFAULT as DEFAULT
from assay.app.collecting import Collecting, Say, listed
from assay.app.collecting import Sources as Sources
from assay.app.extracting import Extracting
from assay.app.forking import Forking
from assay.app.handle import RunHandle
from assay.app.housekeeping import Housekeeping
from assay.app.layout import index_folder, pages_folder, store_of
from assay.app.observing import unwatch, watch_for
from assay.app.online import Online
from assay.app.owning import Owning, alive
from assay.app.pages import ReadPage, fetching, read_page
from assay.app.places import collections_in
from assay.app.providers import load_model
from assay.app.readers import Readers
from assay.app.verifying import Verifying
from assay.app.warnings import summed
from assay.app.working import Queueing
from assay.core.brief import Brief, Scope
from assay.core.errors import UnknownName
from assay.core.estimate import Estimate
from assay.core.events import Envelope, RunWaiting, decode
from assay.core.markers import CitationMode
from assay.core.ports import FINAL, Model, RunRow, World
from assay.core.report import bibliography
from assay.core.view import RunView, fold
from assay.evidence.cited import CitedPassage, show
from assay.evidence.documents import Reader
from assay.export.protocols import Exporter, Record
from assay.phases.alone import DEPTH as AGENT_DEPTH
from assay.phases.pipeline import Services, pipeline
from assay.run.affording import check_brief
from assay.run.clock import SystemClock
from assay.run.engine import POLL, TTL, Engine, Outcome, Prepare, new_run_id
from assay.run.run import Run
from assay.search.local import LocalSearch
from assay.settings import Settings, load
from assay.store.pages import FolderPages, MemoryPages
from assay.store.presence import Presence


class Assay(Collecting, Owning, Queueing, Forking, Housekeeping, Verifying, Extracting):
    """A library of documents and the runs over it; without `home` in memory, and nothing is written to disk.

    `models` adds models by name, beside those found by entry point: how tests and embedders pass their own.
    """

    def __init__(
        self, settings: Settings | None = None, *, home: str | Path | None = None, models: Mapping[str, Model] = {}
    ) -> None:
        self.settings = settings or load()
        self._home = None if home is None else Path(home).expanduser()
        self._own_models, self._made = dict(models), dict[str, Model]()
        self._store = store_of(self._home, self.settings)
        self._reader = Reader(self._store.blobs)
        self._readers = Readers()
        index = None if self._home is None else index_folder(self._home)
        self._search = LocalSearch(index, self._store.library, self._reader.spans)
        self._services = Services(tools=_tools(), reader=self._reader, strategies=_strategies())
        ttl = TTL if self.settings.database is None else self.settings.workers.lease
        self._engine = Engine(self._store.journal, self._pipeline, ttl=ttl)
        self._presence, self._clock = Presence(self._home), SystemClock()
        self._watch = watch_for(self.settings)
        blobs = self._store.blobs
        kept = MemoryPages() if self._home is None else FolderPages(pages_folder(self._home), blobs)
        self._online = Online(
            self.settings, self._store.library, blobs, self._clock, self._readers, self._reader.spans, kept
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of models, connections and the store; runs still going can be resumed.

        All are let go of, whichever of them fails; the error is raised then, with those before it as its context.
        """
        readers = partial(asyncio.to_thread, self._readers.close)
        models = [model.close for model in self._made.values()]
        told = partial(asyncio.to_thread, unwatch, self._watch)
        await close_all([self._engine.close, readers, *models, self._online.close, self._store.close, self._gone, told])

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
            sources: files, folders, globs, pages and collections (`@NAME`): the run sees exactly these. None: the
                default collection.
            progress: told in a line how the reading of documents goes.
            wanted: how to go about it; see `Wanted`.

        Raises (from the handle):
            UsageError: a path that does not exist, no readable document, a budget below one report, a run to continue
                which has not ended, private documents which would go elsewhere.
            UnknownName: no run of the id it is to continue.
        """
        return RunHandle(self._engine.start(self._preparing(question, sources, progress, wanted)), self.view)

    async def create(
        self,
        question: str,
        *,
        sources: Sources | None = None,
        progress: Say | None = None,
        **wanted: Unpack[Wanted],
    ) -> str:
        """Store a run as `start` would, and execute nothing of it; its id. `resume` does, in any process.

        Raises:
            UsageError, UnknownName: as `start`.
        """
        brief, world = await self._preparing(question, sources, progress, wanted)()
        run_id = new_run_id()
        await self._engine.create(run_id, brief, world)
        return run_id

    def _preparing(self, question: str, sources: Sources | None, progress: Say | None, wanted: Wanted) -> Prepare:
        unnamed = sources is None and not wanted.get("continues")
        brief = make_brief(question, self.settings, wanted, web=unnamed)
        self._check(brief)
        paths = None if sources is None else listed(sources)

        async def prepare() -> tuple[Brief, World]:
            web = said_of_web(wanted, self.settings) if paths is None else brief.scope.web
            at = await threads.placed(self._store.journal, brief, web=web)
            if paths is not None or not at.parent:
                at = msgspec.structs.replace(at, scope=await self._scope(paths, brief.scope, progress))
            return await self._placed(at)

        return prepare

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
            return await self._placed(msgspec.structs.replace(at, scope=threads.evidence_of(at)))

        return RunHandle(self._engine.start(prepare), self.view)

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
            UsageError: it would take private documents elsewhere.
        """
        row = await self.find(reference)
        return RunHandle(await self._engine.resume(row.run_id, self._world), self.view)

    async def follow(self, reference: str) -> AsyncIterator[Envelope]:
        """The events of a run that any process executes, until it ends or nobody executes it any more."""
        row, seq, topic = await self.find(reference), 0, ""
        while True:
            row = await self.find(row.run_id)
            for envelope in await self._store.journal.events(row.run_id, after=seq):
                seq = envelope.seq
                yield envelope
                if envelope.type == RunWaiting.kind and isinstance(event := decode(envelope), RunWaiting):
                    topic = event.topic
            waits = row.status == "waiting" and not await threads.is_answered(self._store.journal, row.run_id, topic)
            if row.status in FINAL or waits or not (alive(row) or row.queued):
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
            and row.status in ("created", "running", "waiting", "paused")
            and not (alive(row) or row.queued)
        ]

    async def events(self, reference: str, after: int = 0) -> list[Envelope]:
        """A run's log from `seq > after`."""
        return await self._store.journal.events((await self.find(reference)).run_id, after)

    async def view(self, reference: str) -> RunView:
        """A run as its events tell it."""
        return fold(await self.events(reference))

    async def estimate(self, reference: str) -> Estimate:
        """What a run will take all in all, by its plan where it has one.

        Raises:
            UnknownName: no such run.
        """
        view = await self.view(reference)
        return await estimating.of_run(self._store.journal, view, self._world)

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

    # pages

    async def fetch(self, url: str) -> ReadPage:
        """A page as a run would read it; nothing is kept.

        Raises:
            FetchFailed: it cannot be had or read; the reason begins with its kind.
        """
        async with fetching(self.settings.web, self._clock) as fetcher:
            return await read_page(fetcher, self._readers, url)

    # composition

    async def _pipeline(self, run: Run) -> Outcome:
        return await pipeline(run, self._services)

    def _check(self, brief: Brief) -> None:
        """Refuse what cannot run, before anything is stored or spent."""
        self._services.strategy(brief.strategy)
        check_brief(brief, self._any_world(brief))

    async def _placed(self, brief: Brief) -> tuple[Brief, World]:
        """The brief as it is stored, and its world.

        Raises:
            UsageError: the run would take private documents elsewhere, or the day's limits allow none.
        """
        at = await privacy.marked(self._store.journal, self._store.library, brief)
        world = self._world(at)
        at = await daily.allowed(self._store.journal, self.settings.limits, at, world)
        return await estimating.estimated(self._store.journal, at, world), world

    def _world(self, brief: Brief) -> World:
        """What a run reaches: every run that asks anybody anything gets its world here.

        Raises:
            UsageError: it would take private documents elsewhere.
        """
        world = self._any_world(brief)
        privacy.check(brief, self._store.library, privacy.ways(self.settings, brief, world.models))
        return world

    async def _scope(self, paths: list[str] | None, asked: Scope, progress: Say | None) -> Scope:
        more = threads.WEB if asked.web else ""
        if paths is None:
            count = await asyncio.to_thread(self._store.library.summary, [DEFAULT])
            return msgspec.structs.replace(asked, label=f"the default collection ({_counted(count.documents)}){more}")
        names, rest = await asyncio.to_thread(collections_in, paths, self._store.library)
        collections = list(names)
        if rest:
            ingested = await self.add(rest, None, progress)
            collections.append(ingested.collection)
            for warning in summed(ingested.warnings):
                if progress is not None:
                    progress(warning)
        documents = len(await asyncio.to_thread(self._store.library.members, collections))
        label = ", ".join(paths[:3]) + (", …" if len(paths) > 3 else "")
        return msgspec.structs.replace(
            asked, collections=tuple(collections), label=f"{label} ({_counted(documents)}){more}"
        )

    def _any_world(self, brief: Brief) -> World:
        names = {name for models in brief.models.values() for name in models}
        return World(
            models={name: self._model(name) for name in sorted(names)},
            searches=(self._search, *(self._online.searches() if brief.scope.web else ())),
            library=self._store.library,
            blobs=self._store.blobs,
            clock=self._clock,
            pages=self._online if brief.scope.web else None,
            memo=self._store.memo,
            watch=self._watch,
            notices=self._online.notices() if brief.scope.web else None,
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


def _counted(documents: int) -> str:
    return f"{documents:,} document{'' if documents == 1 else 's'}"
