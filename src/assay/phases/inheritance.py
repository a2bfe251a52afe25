"""Evidence a run takes over from the one it continues: the ledger, its search results, its report's citations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import msgspec

from assay.agents.findings import FinishedWork
from assay.core.brief import Brief
from assay.core.errors import UnknownName, UsageError
from assay.core.events import Envelope, RunContinued, SourceExpected, decode
from assay.core.ports import LedgerRow, Memory, StepRecord
from assay.core.report import build_bibliography
from assay.core.sources import CollectionSummary, Passage
from assay.core.view import RunView, fold_events
from assay.evidence.ledger import Ledger, SourceRow
from assay.run.failures import FAILED_TAG
from assay.run.run import Run
from assay.run.steps import StepContext

INHERIT_STEP = ":inherit:0"
"""The key of the step below in the journal of a run."""
SCOPE_STEP = ":scope:0"
"""The key of the step in which a run summarized the documents in scope."""


class InheritedEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Everything taken over; empty for a run that continues none.

    `answers` are the results of calls, by their key in the ledger. They are valid while `scope`, the documents they
    were found in, is unchanged and, if the web is searched too, on the same `date`. `cited` are the passages the
    earlier report cites. `earlier` describes what was done, for those who continue; `ahead` has the addresses of pages
    that were read ahead.
    """

    step_tag: ClassVar[str] = "heritage"

    question: str = ""
    date: str = ""
    rows: tuple[LedgerRow, ...] = ()
    answers: dict[str, msgspec.Raw] = {}
    scope: CollectionSummary | None = None
    cited: tuple[str, ...] = ()
    earlier: tuple[FinishedWork, ...] = ()
    ahead: tuple[str, ...] = ()

    @property
    def lanes(self) -> tuple[int, ...]:
        return tuple(sorted({row.lane for row in self.rows}))


async def inherit_evidence(run: Run) -> InheritedEvidence:
    """Take over the evidence of the run that this one continues, if there is one.

    Raises:
        UsageError: that run was deleted before it could be read.
    """
    parent = run.brief.parent
    if not parent:
        return InheritedEvidence()

    async def take(step_context: StepContext) -> InheritedEvidence:
        try:
            events = await run.log(parent)
            inheritance = inheritable_evidence(await run.memory(parent), fold_events(events), pages_read_ahead(events))
        except UnknownName as error:
            raise UsageError(f"{error}: the run this one continues was deleted; start it again without it") from error
        step_context.record(*inheritance.rows)
        step_context.emit(_run_continued(parent, inheritance))
        return inheritance

    return await run.with_gate("write").step("inherit", take, returns=InheritedEvidence, input=parent)


def _run_continued(parent: str, inheritance: InheritedEvidence) -> RunContinued:
    """The event that counts what is taken over: a document that several agents met once, and so a passage."""
    kinds = [row.kind for row in inheritance.rows]
    data = {kind: [row.data for row in inheritance.rows if row.kind == kind] for kind in ("source", "passage")}
    documents = {msgspec.json.decode(row, type=SourceRow).document.sha256 for row in data["source"]}
    passages = [msgspec.json.decode(row, type=Passage) for row in data["passage"]]
    return RunContinued(
        parent=parent,
        sources=len(documents),
        passages=len({(passage.document_sha256, passage.start) for passage in passages}),
        queries=kinds.count("query"),
        pages=kinds.count("page"),
    )


def pages_read_ahead(events: Sequence[Envelope]) -> tuple[str, ...]:
    """The addresses of the pages that a run began to read before anybody asked for them."""
    expected_events = (decode(event) for event in events if event.type == SourceExpected.kind)
    return tuple(
        dict.fromkeys(url for event in expected_events if isinstance(event, SourceExpected) for url in event.urls)
    )


def inheritable_evidence(memory: Memory, view: RunView, ahead: Sequence[str] = ()) -> InheritedEvidence:
    """The evidence to take over from a stored run: its own, and what it took over itself."""
    record = memory.steps.get(INHERIT_STEP)
    before = msgspec.json.decode(record.data, type=InheritedEvidence) if record else InheritedEvidence()
    return InheritedEvidence(
        question=view.question,
        date=view.brief.date if view.brief else "",
        rows=tuple(row for row in memory.ledger if row.kind != "answer"),
        answers=before.answers | call_results(memory.ledger, memory.steps),
        scope=stored_scope(memory),
        cited=tuple(passage.id for passage in build_bibliography(view).cited),
        earlier=_finished_work(memory, view),
        ahead=tuple(dict.fromkeys((*before.ahead, *ahead))),
    )


def stored_scope(memory: Memory) -> CollectionSummary | None:
    """The summary of a stored run's documents; None if it did not get that far."""
    record = memory.steps.get(SCOPE_STEP)
    if record is None or record.tag == FAILED_TAG:
        return None
    return msgspec.json.decode(record.data, type=CollectionSummary)


def call_results(rows: Iterable[LedgerRow], steps: Mapping[str, StepRecord]) -> dict[str, msgspec.Raw]:
    """The results of a run's calls: the rows name the steps that stored them."""
    answer_steps = [(row.id, msgspec.json.decode(row.data, type=str)) for row in rows if row.kind == "answer"]
    return {key: msgspec.Raw(steps[step].data) for key, step in answer_steps if step in steps}


def _finished_work(memory: Memory, view: RunView) -> tuple[FinishedWork, ...]:
    ledger = Ledger()
    ledger.apply(memory.ledger)
    return (FinishedWork(task=view.question, searched=ledger.queries(), read=ledger.pages()),)


def is_fresh(brief: Brief, date: str, scope: CollectionSummary | None, current_scope: CollectionSummary | None) -> bool:
    """True if results of `date` over the documents of `scope` are valid for a run of this brief over
    `current_scope`.
    """
    return (date == brief.date or not brief.scope.web) and scope is not None and scope == current_scope


def open_ledger(run: Run, inherited: InheritedEvidence, scope: CollectionSummary | None) -> Ledger:
    """The ledger of a run when a process starts or resumes it. A single agent does not reuse earlier results."""
    ledger = initial_ledger(run.brief, inherited, scope)
    for key, answer in call_results(run.execution.answer_rows, run.execution.steps).items():
        ledger.cache_answer(key, bytes(answer))
    return ledger


def initial_ledger(brief: Brief, inherited: InheritedEvidence, scope: CollectionSummary | None) -> Ledger:
    """The ledger of a run at its beginning, with what was taken over. `scope` summarizes the documents now."""
    ledger = Ledger(trusted=brief.scope.trusted)
    ledger.apply(inherited.rows)
    if is_fresh(brief, inherited.date, inherited.scope, scope):
        for key, answer in inherited.answers.items():
            ledger.cache_answer(key, bytes(answer))
    return ledger
