"""Whole runs over a few documents in memory: a small search, a scripted model, and what the log says in the end."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from simulated_time import clock, wall

from assay.core import events as e
from assay.core.brief import ROLES, Brief, Scope, Timeouts
from assay.core.errors import SearchError
from assay.core.messages import ToolCall
from assay.core.ports import Hit, Library, Query, Search, World
from assay.core.ports.store import Store
from assay.core.sources import Document, Snapshot, sha256
from assay.core.text import words
from assay.core.usage import Budget
from assay.evidence.documents import DocumentReader
from assay.evidence.ledger import Ledger
from assay.fetch.fields import read_fields
from assay.models.script import Answer, Scene, Scripted, calls, says
from assay.phases.case import Case
from assay.phases.orchestrator import orchestrate
from assay.phases.pipeline import PipelineParts, pipeline
from assay.phases.reflective import reflect
from assay.run.engine import Engine, Outcome, RunTask
from assay.run.run import Run
from assay.store.memory import memory_store
from assay.tools.calculate import CalculateTool
from assay.tools.open import OpenTool
from assay.tools.recall import RecallTool
from assay.tools.search import SearchTool
from assay.verify.checks import AddedCheck

E = TypeVar("E", bound=e.Event)

TIDES = "# Tides\n\nThe tide at Brest rises seven metres. It turns twice a day.\n\nThe moon causes most of it.\n"
WINDS = "# Winds\n\nThe mistral blows from the north-west. Sailors of Brest rarely meet it.\n"
DOCUMENTS = {"tides.md": TIDES, "winds.md": WINDS}

PLAN = """{"title": "Brest", "thought": "", "steps": [
  {"title": "Tide at Brest", "description": "How far the tide rises", "type": "research", "needs_search": true},
  {"title": "Winds of the mistral", "description": "Where it blows from", "type": "research", "needs_search": true}]}"""
ONE_STEP = '{"title": "Brest", "steps": [{"title": "Tide at Brest"}]}'


def document(name: str, text: str) -> Document:
    """A Markdown document."""
    hashed = sha256(text.encode())
    return Document(
        sha256=hashed,
        snapshot_sha256=hashed,
        extractor="markdown/1",
        url=f"file:///{name}",
        title=text.partition("\n")[0].strip("# ") or name,
        published=read_fields(text).published,
        name=name,
        media_type="message/rfc822" if name.endswith(".eml") else "text/markdown",
        syntax="plain" if name.endswith(".eml") else "markdown",
        size=len(text.encode()),
        fetched_at="2026-01-01T00:00:00.000Z",
    )


def case_of(**known: Any) -> Case:
    """A case over no documents, of which only what is given matters."""
    shared = {"ledger": Ledger(), "tools": {}, "reader": DocumentReader(memory_store().blobs)}
    return Case(**({"question": "?", "date": "", "count": 1, "documents": "", "scope": ""} | shared | known))


class WordSearch:
    """Documents by how many of the query's words their passages hold."""

    name = "words"

    def __init__(self, library: Library, reader: DocumentReader, failing: bool = False) -> None:
        self._library, self._reader, self._failing = library, reader, failing
        self.queries: list[str] = []

    async def search(self, query: Query) -> list[Hit]:
        self.queries.append(query.text)
        if self._failing:
            raise SearchError("it is down")
        wanted = set(words(query.text))
        hits = [self._hit(document, wanted) for document in self._library.documents(query.collections)]
        found = sorted((hit for hit in hits if hit.spans), key=lambda hit: -hit.score)
        return found[: query.limit]

    def _hit(self, document: Document, wanted: set[str]) -> Hit:
        rated = [(len(wanted & set(words(span.text))), span) for span in self._reader.spans(document)]
        spans = tuple(span for count, span in sorted(rated, key=lambda pair: -pair[0]) if count)
        return Hit(document=document, score=float(sum(count for count, _ in rated)), spans=spans)


async def stop_at(handle: RunTask, kind: str) -> None:
    """Leave a run when it has said this."""
    async for envelope in handle:
        if envelope.type == kind:
            break
    await handle.stop()


class Sea:
    """A store with documents, and everything a run over them needs."""

    def __init__(
        self,
        documents: Mapping[str, str] = DOCUMENTS,
        *,
        search: Search | None = None,
        store: Store | None = None,
        checks: tuple[AddedCheck, ...] = (),
    ) -> None:
        self.store = store or memory_store(wall)
        made = [document(name, text) for name, text in documents.items()]
        for each, text in zip(made, documents.values(), strict=True):
            self.store.blobs.put(text.encode())
            assert each.size == len(text.encode())
        snapshots = [
            Snapshot(
                sha256=each.snapshot_sha256,
                url=each.url,
                media_type=each.media_type,
                size=each.size,
                fetched_at=each.fetched_at,
            )
            for each in made
        ]
        self.store.library.add(list(zip(snapshots, made, strict=True)), "default")
        self.reader = DocumentReader(self.store.blobs)
        self.search = search or WordSearch(self.store.library, self.reader)
        self.journal = self.store.journal
        self.checks = checks
        self.tools = (SearchTool(), OpenTool(), RecallTool(), CalculateTool())

    def world(self, model: Scripted) -> World:
        return World(
            models={model.profile.name: model},
            searches=(self.search,),
            library=self.store.library,
            blobs=self.store.blobs,
            texts=self.reader,
            clock=clock(),
        )

    def engine(self, journal: Any = None, **changes: Any) -> Engine:
        strategies = {"orchestrated": orchestrate, "reflective": reflect}
        parts = PipelineParts(tools=self.tools, reader=self.reader, strategies=strategies, checks=self.checks)
        return Engine(journal or self.journal, lambda run: pipeline(run, parts), **changes)

    def brief(self, **changes: Any) -> Brief:
        """A brief of a question on the tide, in which the scripted model plays every role."""
        fields = {
            "models": dict.fromkeys(ROLES, ("scripted",)),
            "question": "How far does the tide rise at Brest?",
            "date": "2026-01-01",
            "budget": Budget(),
            "checks_off": ("judge",),
            **changes,
        }
        return Brief(**fields)  # type: ignore[arg-type]

    def start(self, model: Scripted, **changes: Any) -> RunTask:
        """A run by the pipeline, in which `model` plays every role."""
        name = model.profile.name
        roles = dict.fromkeys(ROLES, (name,))
        off = () if _judges(model) else ("judge",)
        made = self.brief(**{"models": roles, "checks_off": off, **changes})

        async def prepare() -> tuple[Brief, World]:
            return made, self.world(model)

        return self.engine().start(prepare)

    async def run(self, script: Sequence[Scene] | Any, **changes: Any) -> Log:
        """A whole run; its log. A script of scenes has to be played to its end."""
        model = script if isinstance(script, Scripted) else Scripted(script)
        handle = self.start(model, **changes)
        log = Log([envelope async for envelope in handle], model)
        await handle.wait()
        assert not model.unused, f"never asked for: {model.unused}"
        return log

    async def resume(self, run_id: str, model: Scripted) -> Log:
        """The rest of a run which was left; its log."""
        handle = await self.engine().resume(run_id, lambda _: self.world(model))
        log = Log([envelope async for envelope in handle], model)
        await handle.wait()
        return log

    async def fail(self, script: Sequence[Scene], error: type[Exception], **changes: Any) -> Log:
        """A whole run which ends with `error`."""
        model = Scripted(script)
        handle = self.start(model, **changes)
        log = Log([envelope async for envelope in handle], model)
        try:
            await handle.wait()
        except error:
            return log
        raise AssertionError(f"the run did not end with {error.__name__}")


def _judges(model: Scripted) -> bool:
    """Whether a script has answers for a judge: a run which is about something else is not judged."""
    return any(scene.task == "judge" for scene in getattr(model, "scenes", ()))


class Log:
    """The events of a run, in order."""

    def __init__(self, envelopes: Sequence[e.Envelope], model: Scripted) -> None:
        self.envelopes, self.model = list(envelopes), model

    def types(self, *groups: str) -> list[str]:
        """The kinds of the events, in order; those of some groups only, where any are named."""
        return [each.type for each in self.envelopes if not groups or each.type.partition(".")[0] in groups]

    def of(self, kind: type[E]) -> list[E]:
        """The events of one kind."""
        return [msg for msg in map(e.decode, self.envelopes) if isinstance(msg, kind)]

    def last(self, kind: type[E]) -> E:
        """The last event of one kind."""
        return self.of(kind)[-1]

    @property
    def text(self) -> str:
        """The report as a reader of the log puts it together."""
        text = ""
        taken_back = {seq for event in self.of(e.StepRestarted) for seq in event.dropped}
        for event in (e.decode(each) for each in self.envelopes if each.seq not in taken_back):
            match event:
                case e.ReportStarted():
                    text = ""
                case e.ReportDelta(text=more):
                    text += more
                case e.ReportRevised(text=whole):
                    text = whole
        return text

    @property
    def written(self) -> str:
        """The report as the writer wrote it: without the line which says of when it is."""
        return re.sub(r"\n*\*As of [^\n]*\*(?=\n|$)", "", self.text).strip()

    def paths(self, kind: type[e.Event]) -> list[tuple[str, ...]]:
        return [each.path for each in self.envelopes if each.type == kind.kind]


UNHURRIED, ANYWHERE = Timeouts(), Scope()


async def within(
    sea: Sea,
    body: Callable[[Run], Awaitable[None]],
    *,
    question: str = "?",
    scope: Scope = ANYWHERE,
    timeouts: Timeouts = UNHURRIED,
    budget: Budget = Budget(),
    **world: Any,
) -> Log:
    """Run `body` as a pipeline over the documents of `sea`."""

    async def prepare() -> tuple[Brief, World]:
        roles = dict.fromkeys(ROLES, ("scripted",))
        brief = Brief(question=question, date="2026-01-01", models=roles, timeouts=timeouts, budget=budget, scope=scope)  # type: ignore[arg-type]
        return brief, msgspec.structs.replace(sea.world(Scripted([])), **world)

    async def pipeline(run: Run) -> Outcome:
        await body(run)
        return Outcome()

    handle = Engine(sea.store.journal, pipeline).start(prepare)
    log = Log([envelope async for envelope in handle], Scripted([]))
    await handle.wait()
    return log


# scenes most runs share


def planned(plan: str = PLAN, **arguments: str) -> list[Scene]:
    """Triage, background and a plan."""
    return [
        calls(("generate_plan", {"complexity": "simple", **arguments}), task="triage"),
        calls(("search", {"query": "tide Brest"}), task="background"),
        says(plan, task="plan"),
    ]


def agent(task: str, query: str, finding: str, **scene: Any) -> list[Scene]:
    """An agent which searches once, stops, and reports."""
    return [
        calls(("search", {"query": query}), task="research", contains=task, turn=0, **scene),
        says("done", task="research", contains=task, turn=1, **scene),
        says(finding, task="find", contains=task, **scene),
    ]


def sends(*tasks: str, **scene: Any) -> Scene:
    """The orchestrator sends an agent for each task."""
    return calls(*(("research_agent", {"task": task}) for task in tasks), task="orchestrate", **scene)


def report_wanted(**scene: Any) -> Scene:
    return calls(("generate_report", {}), task="orchestrate", **scene)


# whole scripts

TIDE = "Find how far the tide rises at Brest"
MISTRAL = "Find where the winds of the mistral blow from"
ROSE = "The tide at Brest rises seven metres. [S1001.1]"
BLEW = "The mistral blows from the north-west. [S2001.1]"
REPORT = "It rises seven metres. [S1001.1]\n\n## Winds\n\nThe mistral blows from the north-west. [S2001.1]"


def first_agent() -> list[Scene]:
    return agent(TIDE, "tide Brest", ROSE)


def writes(report: str) -> list[Scene]:
    """One agent, then this report."""
    return [*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted(), says(report, task="write")]


def both_agents() -> list[Scene]:
    return [*first_agent(), *agent(MISTRAL, "mistral", BLEW)]


def direct_answer() -> list[Scene]:
    return [calls(("answer", {"text": "Hello!"}), task="triage")]


def one_agent() -> list[Scene]:
    return [*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted(), says("Seven. [S1001.1]", task="write")]


def two_agents() -> list[Scene]:
    return [*planned(), sends(TIDE, MISTRAL), *both_agents(), report_wanted(), says(REPORT, task="write")]


def call(name: str, id: str = "one", **arguments: Any) -> ToolCall:
    return ToolCall(id=id, name=name, arguments=arguments)


__all__ = ["Answer"]


def whole(log: Log) -> bool:
    """The report that was finished is the one on the log, and its numbers have no gap."""
    assert [each.seq for each in log.envelopes] == list(range(1, len(log.envelopes) + 1))
    return log.last(e.ReportFinished).text_sha256 == sha256(log.text.encode())


def kinds(log: Log, *dropped: str) -> list[str]:
    """The kinds of events, without those that only count or stream."""
    noise = {"model.attempted", "usage.updated", "report.delta", "finding.delta", "plan.delta", *dropped}
    return [kind for kind in log.types() if kind not in noise]
