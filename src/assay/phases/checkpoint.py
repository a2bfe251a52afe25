"""How far a run has come at the points from which it can be forked, and how a run which was forked takes that up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import msgspec

from assay.agents.findings import cite, quoted
from assay.agents.task import Finding, Finished, Toolset
from assay.core.brief import Brief, Point
from assay.core.errors import OtherRelease, StoreError, UnknownName, UsageError
from assay.core.events import Envelope, RunContinued, SourceAdded, SourceExpected, decode
from assay.core.plan import Coverage, Plan, Triage
from assay.core.ports import LedgerRow, Memory
from assay.core.report import bibliography
from assay.core.sources import CollectionSummary, Source, lane_of_source
from assay.core.translation import gettext as _
from assay.core.translation import quoted as in_quotes
from assay.core.view import RunView, fold
from assay.evidence.ledger import Ledger
from assay.phases.case import Case, Research, inquire
from assay.run.protocols import Tool
from assay.run.releases import brief_of, own_release
from assay.run.run import Run, kept
from assay.run.steps import FAILED, StepContext

# What a run takes over from the one it continues: the ledger, what its searches brought, what its report cites.

STEP = ":inherit:0"
"""The key of the step below in the journal of a run."""
SCOPE = ":scope:0"
"""The key of the step in which a run looked at what its scope holds."""
RECALLED = 8
"""Passages of the earlier report the writer is given at most."""


class InheritedEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Everything taken over; empty for a run which continues none.

    `answers` are what calls got, by their key in the ledger; they hold while `scope`, the documents they were asked of,
    is what it was, and where the web is searched too, on the same `date`. `cited` are the passages the earlier report
    cites. `earlier` is what was done, for those who go on, `ahead` the addresses of pages which were read ahead.
    """

    step_tag: ClassVar[str] = "heritage"

    question: str = ""
    date: str = ""
    rows: tuple[LedgerRow, ...] = ()
    answers: dict[str, msgspec.Raw] = {}
    scope: CollectionSummary | None = None
    cited: tuple[str, ...] = ()
    earlier: tuple[Finished, ...] = ()
    ahead: tuple[str, ...] = ()

    @property
    def lanes(self) -> tuple[int, ...]:
        """The lanes its rows are of."""
        return tuple(sorted({row.lane for row in self.rows}))


async def inherit(run: Run) -> InheritedEvidence:
    """Take over the evidence of the run this one continues; nothing where it continues none.

    Raises:
        UsageError: that run was deleted before it could be read.
    """
    parent = run.brief.parent
    if not parent:
        return InheritedEvidence()

    async def take(step_context: StepContext) -> InheritedEvidence:
        journal = run.execution.journal
        try:
            events = await journal.events(parent)
            inheritance = taken(await journal.load(parent), fold(events), read_ahead(events))
        except UnknownName as error:
            raise UsageError(f"{error}: the run this one continues was deleted; start it again without it") from error
        for row in inheritance.rows:
            step_context.record(row)
        step_context.emit(_continued(parent, inheritance))
        return inheritance

    return await run.at("write").step("inherit", take, returns=InheritedEvidence, input=parent)


def _continued(parent: str, inheritance: InheritedEvidence) -> RunContinued:
    kinds = [row.kind for row in inheritance.rows]
    return RunContinued(
        parent=parent,
        sources=kinds.count("source"),
        passages=kinds.count("passage"),
        queries=kinds.count("query"),
        pages=kinds.count("page"),
    )


def read_ahead(events: Sequence[Envelope]) -> tuple[str, ...]:
    """The addresses of the pages a run has begun to read before anybody asked for them."""
    expected = (decode(each) for each in events if each.type == SourceExpected.kind)
    return tuple(dict.fromkeys(url for each in expected if isinstance(each, SourceExpected) for url in each.urls))


def taken(memory: Memory, view: RunView, ahead: Sequence[str] = ()) -> InheritedEvidence:
    """What is to be taken over from a stored run: its own, and what it took over itself."""
    stored = memory.steps.get(STEP)
    before = msgspec.json.decode(stored.data, type=InheritedEvidence) if stored else InheritedEvidence()
    return InheritedEvidence(
        question=view.question,
        date=view.brief.date if view.brief else "",
        rows=tuple(row for row in memory.ledger if row.kind != "answer"),
        answers=before.answers | answers_of(memory),
        scope=scope_of(memory),
        cited=tuple(passage.id for passage in bibliography(view).cited),
        earlier=_done(memory, view),
        ahead=tuple(dict.fromkeys((*before.ahead, *ahead))),
    )


def scope_of(memory: Memory) -> CollectionSummary | None:
    """What the documents of a stored run were; None where it did not come to look at them."""
    looked = memory.steps.get(SCOPE)
    if looked is None or looked.tag == FAILED:
        return None
    return msgspec.json.decode(looked.data, type=CollectionSummary)


def answers_of(memory: Memory) -> dict[str, msgspec.Raw]:
    """What the calls of a run got: the rows name the steps whose results they are."""
    named = [(row.id, msgspec.json.decode(row.data, type=str)) for row in memory.ledger if row.kind == "answer"]
    return {key: msgspec.Raw(memory.steps[step].data) for key, step in named if step in memory.steps}


def _done(memory: Memory, view: RunView) -> tuple[Finished, ...]:
    ledger = Ledger()
    ledger.apply(memory.ledger)
    return (Finished(task=view.question, searched=ledger.queries(), read=ledger.pages()),)


def equip(
    run: Run, tools: Mapping[str, Tool], inheritance: InheritedEvidence, scope: CollectionSummary | None
) -> Toolset:
    """The toolset of a run, with what it goes on from. `scope` is what its scope holds now."""
    ledger = Ledger(trusted=run.brief.scope.trusted)
    ledger.apply(inheritance.rows)
    if is_fresh(run.brief, inheritance.date, inheritance.scope, scope):
        for key, answer in inheritance.answers.items():
            ledger.answer(key, bytes(answer))
    lanes = (run.lane, *inheritance.lanes)
    return Toolset(ledger=ledger, tools=tools, lanes=lanes, earlier=inheritance.earlier, ahead=inheritance.ahead)


def is_fresh(brief: Brief, date: str, scope: CollectionSummary | None, now: CollectionSummary | None) -> bool:
    """Whether what calls got on `date`, over the documents of `scope`, holds for a run of this brief over those now."""
    return (date == brief.date or not brief.scope.web) and scope is not None and scope == now


def recalled(toolset: Toolset, case: Case, inheritance: InheritedEvidence, research: Research) -> Research:
    """The research with what the earlier report cites about this question, as a finding of no step, for the writer."""
    if not inheritance.cited or not research.findings:
        return research
    known = {(each.document_sha256, each.start) for finding in research.findings for each in finding.passages}
    near = toolset.ledger.seeing(inheritance.lanes).recall(case.question, len(inheritance.rows))
    chosen = [each for each in near if each.id in inheritance.cited and (each.document_sha256, each.start) not in known]
    if not chosen:
        return research
    passages = tuple(chosen[:RECALLED])
    text = "\n".join(f"- {quoted(passage)}" for passage in passages)
    about = in_quotes(" ".join(inheritance.question.split()))
    task = _("What an earlier report says on {question}").format(question=about)
    finding = Finding(lane=inheritance.lanes[0], task=task, text=text, passages=passages)
    return msgspec.structs.replace(research, findings=(*research.findings, finding))


def announce(run: Run, toolset: Toolset, text: str) -> None:
    """Put the earlier run's sources which `text` cites on this run's log: what it shows has to stand there itself."""
    for source in cited_before(run.brief.lane, toolset, text):
        run.emit(SourceAdded(source=source))


def cited_before(lane: int, toolset: Toolset, text: str) -> list[Source]:
    """The sources a text cites which were met before `lane`, the first of this run."""
    cited = cite(text, toolset.ledger)
    ids = dict.fromkeys([*(each.source for each in cited.passages), *(each.id for each in cited.sources)])
    known = (toolset.ledger.source(id) for id in ids)
    return [source for source in known if source is not None and lane_of_source(source.id) < lane]


FORK_STEP = ":fork:0"
"""The key of the step below in the journal of a run which was forked."""


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """What the phases before a point have come to: all that those after it get.

    `question`, `answers` and `assumptions` are those of the case, `background` is what the planner is told. `given`
    is a plan which somebody gave in place of the planner's. `rows` names the rows of the ledger by then.
    """

    triage: Triage
    question: str
    answers: str = ""
    assumptions: tuple[str, ...] = ()
    background: str = ""
    given: Plan | None = None
    plan: Plan | None = None
    research: Research | None = None
    coverage: tuple[Coverage, ...] = ()
    rows: tuple[str, ...] = ()


class Forked(msgspec.Struct, frozen=True, kw_only=True):
    """What a run was forked with: how far it has come, and the `rows` of its ledger.

    `answers` are what calls got in the run it was forked off, by their key in the ledger; they hold while `scope`, the
    documents they were asked of, is what it was, and where the web is searched too, on the same `date`.
    """

    standing: Checkpoint
    rows: tuple[LedgerRow, ...] = ()
    answers: dict[str, msgspec.Raw] = {}
    scope: CollectionSummary | None = None
    date: str = ""


def keep(run: Run, point: Point, at: Checkpoint, toolset: Toolset) -> None:
    """Store how far a run has come before the phase `point`."""
    run.keep(point, msgspec.structs.replace(at, rows=toolset.ledger.rows()))


def stood(run_id: str, memory: Memory, point: Point) -> Checkpoint | None:
    """How far a stored run had come before its phase `point`; None where it never got there.

    Raises:
        OtherRelease: it is stored as this release does not read it.
    """
    record = memory.steps.get(kept((), point))
    if record is None:
        return None
    try:
        return msgspec.json.decode(record.data, type=Checkpoint)
    except msgspec.ValidationError as error:
        release = brief_of(run_id, memory.brief).release
        why = f"how far it had come is stored in another form ({error})"
        raise OtherRelease(run_id, release, own_release(), why) from error


async def take_up(run: Run, tools: Mapping[str, Tool], inheritance: InheritedEvidence) -> tuple[Forked, Toolset, Case]:
    """What a forked run begins with: how far it has come, its toolset, and its case, by its own brief."""

    async def missing(_: StepContext) -> Forked:
        raise StoreError(f"run {run.run_id} does not hold what it was forked with")

    forked = await run.at("write").step("fork", missing, returns=Forked, input=run.brief.fork)
    at = forked.standing
    case = msgspec.structs.replace(
        await inquire(run),
        question=at.question,
        answers=at.answers,
        assumptions=at.assumptions,
        assumed=at.triage.assumptions,
    )
    toolset = equip(run, tools, inheritance, case.held)
    toolset.ledger.apply(forked.rows)
    if is_fresh(run.brief, forked.date, forked.scope, case.held):
        for key, answer in forked.answers.items():
            toolset.ledger.answer(key, bytes(answer))
    return forked, toolset, case
