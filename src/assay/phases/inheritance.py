"""Evidence a run takes over from the one it continues: the ledger, its search results, its report's citations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import msgspec

from assay.agents.findings import Finished
from assay.core.brief import Brief
from assay.core.errors import UnknownName, UsageError
from assay.core.events import Envelope, RunContinued, SourceExpected, decode
from assay.core.ports import LedgerRow, Memory, StepRecord
from assay.core.report import bibliography
from assay.core.sources import CollectionSummary
from assay.core.view import RunView, fold
from assay.evidence.ledger import Ledger
from assay.run.run import Run
from assay.run.steps import FAILED, StepContext

STEP = ":inherit:0"
"""The key of the step below in the journal of a run."""
SCOPE = ":scope:0"
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
    earlier: tuple[Finished, ...] = ()
    ahead: tuple[str, ...] = ()

    @property
    def lanes(self) -> tuple[int, ...]:
        """The lanes of its rows."""
        return tuple(sorted({row.lane for row in self.rows}))


async def inherit(run: Run) -> InheritedEvidence:
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
            inheritance = inheritable_evidence(await run.memory(parent), fold(events), read_ahead(events))
        except UnknownName as error:
            raise UsageError(f"{error}: the run this one continues was deleted; start it again without it") from error
        step_context.record(*inheritance.rows)
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
    """The addresses of the pages that a run began to read before anybody asked for them."""
    expected = (decode(each) for each in events if each.type == SourceExpected.kind)
    return tuple(dict.fromkeys(url for each in expected if isinstance(each, SourceExpected) for url in each.urls))


def inheritable_evidence(memory: Memory, view: RunView, ahead: Sequence[str] = ()) -> InheritedEvidence:
    """The evidence to take over from a stored run: its own, and what it took over itself."""
    stored = memory.steps.get(STEP)
    before = msgspec.json.decode(stored.data, type=InheritedEvidence) if stored else InheritedEvidence()
    return InheritedEvidence(
        question=view.question,
        date=view.brief.date if view.brief else "",
        rows=tuple(row for row in memory.ledger if row.kind != "answer"),
        answers=before.answers | answers_of(memory.ledger, memory.steps),
        scope=scope_of(memory),
        cited=tuple(passage.id for passage in bibliography(view).cited),
        earlier=_finished(memory, view),
        ahead=tuple(dict.fromkeys((*before.ahead, *ahead))),
    )


def scope_of(memory: Memory) -> CollectionSummary | None:
    """The summary of a stored run's documents; None if it did not get that far."""
    looked = memory.steps.get(SCOPE)
    if looked is None or looked.tag == FAILED:
        return None
    return msgspec.json.decode(looked.data, type=CollectionSummary)


def answers_of(rows: Iterable[LedgerRow], steps: Mapping[str, StepRecord]) -> dict[str, msgspec.Raw]:
    """The results of a run's calls: the rows name the steps that stored them."""
    named = [(row.id, msgspec.json.decode(row.data, type=str)) for row in rows if row.kind == "answer"]
    return {key: msgspec.Raw(steps[step].data) for key, step in named if step in steps}


def _finished(memory: Memory, view: RunView) -> tuple[Finished, ...]:
    ledger = Ledger()
    ledger.apply(memory.ledger)
    return (Finished(task=view.question, searched=ledger.queries(), read=ledger.pages()),)


def is_fresh(brief: Brief, date: str, scope: CollectionSummary | None, now: CollectionSummary | None) -> bool:
    """True if results of `date` over the documents of `scope` are valid for a run of this brief over `now`."""
    return (date == brief.date or not brief.scope.web) and scope is not None and scope == now


def opened_ledger(run: Run, inherited: InheritedEvidence, scope: CollectionSummary | None) -> Ledger:
    """The ledger of a run when a process starts or resumes it. A single agent does not reuse earlier results."""
    ledger = ledger_of(run.brief, inherited, scope)
    for key, answer in answers_of(run.execution.answered, run.execution.steps).items():
        ledger.answer(key, bytes(answer))
    return ledger


def ledger_of(brief: Brief, inherited: InheritedEvidence, scope: CollectionSummary | None) -> Ledger:
    """The ledger of a run at its beginning, with what was taken over. `scope` summarizes the documents now."""
    ledger = Ledger(trusted=brief.scope.trusted)
    ledger.apply(inherited.rows)
    if is_fresh(brief, inherited.date, inherited.scope, scope):
        for key, answer in inherited.answers.items():
            ledger.answer(key, bytes(answer))
    return ledger
