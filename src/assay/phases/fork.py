"""Forking a run: the points it can be forked at, and what the fork takes over.

What rests on excluded sources is taken out. A finding keeps what other sources say too: it loses the markers of
excluded sources, and the sentences that rest on nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

import msgspec

from assay.agents.findings import Finding, cited_sentences, resolve_citations
from assay.agents.findings_request import evidence_text
from assay.core import passage_context
from assay.core.brief import POINTS, Brief, ForkPoint
from assay.core.errors import OtherRelease, StoreError
from assay.core.events import (
    CoverageAssessed,
    Event,
    FindingAdded,
    FindingDelta,
    PlanChanged,
    ScopeCounted,
    SourceAdded,
    SourceNoted,
    SourceReused,
    TriageClassified,
)
from assay.core.phrases import nothing_found_text
from assay.core.plan import Coverage, Plan, Triage
from assay.core.ports import LedgerRow, Memory, RunInputs, StepRecord
from assay.core.report_sentences import claims
from assay.core.sources import CollectionSummary, Passage, Source, lane_of_source
from assay.core.translation import gettext as _
from assay.core.translation import quote_text
from assay.evidence.ledger import Ledger, row_name
from assay.phases import inheritance
from assay.phases.case import Case, Research, finding_summary, uses_inherited_evidence
from assay.phases.coverage import assess_coverage
from assay.phases.inheritance import InheritedEvidence, is_fresh
from assay.run.releases import own_release, read_brief
from assay.run.run import KEPT_TAG, Run, progress_key
from assay.run.steps import StepContext, digest
from assay.verify.repair.surgery import Remove, apply_changes

# The checkpoints of a run at each point, and how a forked run continues from them.

MAX_RECALLED_PASSAGES = 8
"""The most passages of the earlier report that the writer gets."""


def add_recalled_finding(case: Case, research: Research) -> Research:
    """Add what the earlier report cites about this question to the research, as a finding without a step, for the
    writer.
    """
    inherited = case.inherited
    if not inherited.cited or not research.findings:
        return research
    known_positions = {
        (candidate.document_sha256, candidate.start) for finding in research.findings for candidate in finding.passages
    }
    nearest = case.ledger.seeing(inherited.lanes).recall(case.question, len(inherited.rows))
    recalled = [
        candidate
        for candidate in nearest
        if candidate.id in inherited.cited and (candidate.document_sha256, candidate.start) not in known_positions
    ]
    if not recalled:
        return research
    passages = tuple(recalled[:MAX_RECALLED_PASSAGES])
    text = "\n".join(f"- {cited_sentences(passage)}" for passage in passages)
    quoted_question = quote_text(" ".join(inherited.question.split()))
    task = _("What an earlier report says on {question}").format(question=quoted_question)
    finding = Finding(lane=inherited.lanes[0], task=task, text=text, passages=passages)
    return msgspec.structs.replace(research, findings=(*research.findings, finding))


def log_cited_sources(run: Run, case: Case, text: str) -> None:
    """Log the earlier run's sources that `text` cites: this run's log must contain what it shows."""
    for source in cited_earlier_sources(run.brief.lane, case.ledger, text):
        run.emit(SourceAdded(source=source))


def cited_earlier_sources(lane: int, ledger: Ledger, text: str) -> list[Source]:
    """The sources a text cites that were found before `lane`, the first lane of this run."""
    citations = resolve_citations(text, ledger)
    ids = dict.fromkeys([*(item.source for item in citations.passages), *(item.id for item in citations.sources)])
    sources = (ledger.source(id) for id in ids)
    return [source for source in sources if source is not None and lane_of_source(source.id) < lane]


FORK_STEP = ":fork:0"
"""The key of the step below in the journal of a forked run."""


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The results of the phases before a point: everything that later phases need.

    `question`, `call_results` and `assumptions` are those of the case, `filter_background` is the text for the
    planner. `given` is a user's plan that replaces the planner's. `rows` names the rows of the ledger so far.
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


class ForkOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """The origin of a forked run: its checkpoint, and the `rows` of its ledger.

    `call_results` are the results of calls in the original run, by their key in the ledger. They are valid while
    `scope`, the documents they were found in, is unchanged and, if the web is searched too, on the same `date`.
    """

    standing: Checkpoint
    rows: tuple[LedgerRow, ...] = ()
    answers: dict[str, msgspec.Raw] = {}
    scope: CollectionSummary | None = None
    date: str = ""


def store_checkpoint(run: Run, point: ForkPoint, checkpoint: Checkpoint, ledger: Ledger) -> None:
    """Store the checkpoint before the phase `point`."""
    run.store_progress(point, msgspec.structs.replace(checkpoint, rows=ledger.rows()))


def checkpoint_before(run_id: str, memory: Memory, point: ForkPoint) -> Checkpoint | None:
    """The checkpoint of a stored run before its phase `point`; None if it never got there.

    Raises:
        OtherRelease: this release cannot read it.
    """
    record = memory.steps.get(progress_key((), point))
    if record is None:
        return None
    try:
        return msgspec.json.decode(record.data, type=Checkpoint)
    except msgspec.ValidationError as error:
        release = read_brief(run_id, memory.brief).release
        why = f"how far it had come is stored in another form ({error})"
        raise OtherRelease(run_id, release, own_release(), why) from error


async def load_fork(run: Run, case: Case) -> tuple[Case, Checkpoint]:
    """Return the case of a forked run with what it took over, and its checkpoint."""

    async def raise_missing(_: StepContext) -> ForkOrigin:
        raise StoreError(f"run {run.run_id} does not hold what it was forked with")

    origin = await run.with_gate("write").step("fork", raise_missing, returns=ForkOrigin, input=run.brief.fork)
    checkpoint = origin.standing
    case.ledger.apply(origin.rows)
    if is_fresh(run.brief, origin.date, origin.scope, case.held):
        for key, answer in origin.answers.items():
            case.ledger.cache_answer(key, bytes(answer))
    inherited = case.inherited
    if not uses_inherited_evidence(run.brief, checkpoint.triage):
        inherited = msgspec.structs.replace(inherited, cited=())
    forked_case = msgspec.structs.replace(
        case,
        question=checkpoint.question,
        answers=checkpoint.answers,
        assumptions=checkpoint.assumptions,
        assumed=checkpoint.triage.assumptions,
        inherited=inherited,
    )
    return forked_case, checkpoint


Ids = AbstractSet[str]
"""Ids of sources."""


class SourceRemoval:
    """Removes sources from everything a run takes over."""

    def __init__(self, ids: Ids, rows: tuple[LedgerRow, ...]) -> None:
        self.ids = ids
        self.rows = tuple(row for row in rows if not self._is_of(row))
        self._ledger = Ledger()
        self._ledger.apply(self.rows)

    def _is_of(self, row: LedgerRow) -> bool:
        return row.kind in ("source", "passage") and row.id.partition(".")[0] in self.ids

    def filter_text(self, text: str) -> str:
        """A text without the sentences that rest only on these sources, and without their markers."""
        removals = {
            claim.id: Remove()
            for claim in claims(text)
            if self._rests_on_removed(id for m in claim.markers for id in m.ids)
        }
        return (
            resolve_citations(apply_changes(text, removals) if removals else text, self._ledger).text.strip()
            or nothing_found_text()
        )

    def _rests_on_removed(self, ids: Iterable[str]) -> bool:
        sources = {id.partition(".")[0] for id in ids}
        return bool(sources) and sources <= self.ids

    def filter_passages(self, passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
        """The passages of other sources."""
        return tuple(passage for passage in passages if passage.source not in self.ids)

    def filter_finding(self, finding: Finding) -> Finding:
        """An agent's finding without them."""
        if not any(passage.source in self.ids for passage in finding.passages):
            return finding
        remaining = self.filter_passages(finding.passages)
        return msgspec.structs.replace(finding, text=self.filter_text(finding.text), passages=remaining)

    def filter_research(self, research: Research) -> Research:
        """The research without them; the plan's steps say what is left."""
        plan = research.plan
        findings = tuple(map(self.filter_finding, research.findings))
        for before, after in zip(research.findings, findings, strict=True):
            if before != after and after.step:
                plan = _update_finding_summary(plan, after)
        return msgspec.structs.replace(research, findings=findings, plan=plan)

    def filter_background(self, text: str) -> str:
        """The planner's background without their passages."""
        sources = passage_context.read_sources(text)
        if not any(source.id in self.ids for source in sources):
            return text
        passage_ids = [passage.id for source in sources if source.id not in self.ids for passage in source.passages]
        return evidence_text(self._ledger.resolve(passage_ids).passages, self._ledger)

    def filter_checkpoint(self, checkpoint: Checkpoint) -> Checkpoint:
        """A checkpoint without them; coverage is assessed again."""
        if not self.ids:
            return checkpoint
        checkpoint = msgspec.structs.replace(checkpoint, background=self.filter_background(checkpoint.background))
        if checkpoint.research is None:
            return checkpoint
        research = self.filter_research(checkpoint.research)
        return msgspec.structs.replace(
            checkpoint, research=research, coverage=assess_coverage(checkpoint.question, research)
        )

    def update_plan(self, plan: Plan, current: Plan) -> Plan:
        """An earlier version of the plan, with the findings its steps have in `current`."""
        findings_by_step = {step.id: step.finding for step in current.steps}
        steps = (
            msgspec.structs.replace(step, finding=findings_by_step.get(step.id, "")) if step.finding else step
            for step in plan.steps
        )
        return msgspec.structs.replace(plan, steps=tuple(steps))

    def filter_inherited(self, evidence: InheritedEvidence) -> InheritedEvidence:
        """The inherited evidence of the run without them."""
        rows = tuple(row for row in evidence.rows if not self._is_of(row))
        cited = tuple(id for id in evidence.cited if id.partition(".")[0] not in self.ids)
        return msgspec.structs.replace(evidence, rows=rows, cited=cited, answers={} if self.ids else evidence.answers)


def _update_finding_summary(plan: Plan, finding: Finding) -> Plan:
    steps = (
        msgspec.structs.replace(step, finding=finding_summary(finding)) if step.id == finding.step else step
        for step in plan.steps
    )
    return msgspec.structs.replace(plan, steps=tuple(steps))


def revise_event(event: Event, removal: SourceRemoval, checkpoint: Checkpoint) -> Event | None:
    """An event of the run as it is logged in a fork from `checkpoint`; None leaves it out."""
    if isinstance(event, ScopeCounted):
        return None  # the fork counts its own
    if isinstance(event, TriageClassified):
        return msgspec.structs.replace(event, triage=checkpoint.triage, depth=checkpoint.triage.depth)
    if not removal.ids:
        return event
    match event:
        case SourceAdded(source=source) if source.id in removal.ids:
            return None
        case SourceReused(source=id) | SourceNoted(source=id) if id in removal.ids:
            return None
        case FindingDelta():
            return None  # `finding.added` has the whole text
        case FindingAdded(text=text, passages=passages) if any(passage.source in removal.ids for passage in passages):
            return msgspec.structs.replace(
                event, text=removal.filter_text(text), passages=removal.filter_passages(passages)
            )
        case PlanChanged(plan=plan) if checkpoint.research is not None:
            return PlanChanged(plan=removal.update_plan(plan, checkpoint.research.plan))
        case CoverageAssessed(when="before"):
            return CoverageAssessed(coverage=checkpoint.coverage)
    return event


def fork_inputs(memory: Memory, old: Brief, new: Brief, checkpoint: Checkpoint, removal: SourceRemoval) -> RunInputs:
    """Everything a fork takes over from the run stored as `memory`: its checkpoint, and the ledger so far."""
    assert new.fork is not None
    point, row_names = new.fork.point, set(checkpoint.rows)
    rows = tuple(row for row in removal.rows if row_name((row.kind, row.id)) in row_names)
    origin = ForkOrigin(
        standing=checkpoint,
        rows=rows,
        answers={} if removal.ids else call_results(memory, old),
        scope=inheritance.stored_scope(memory),
        date=old.date,
    )
    record = StepRecord(key=FORK_STEP, input_hash=digest(new.fork), tag="forked/1", data=msgspec.json.encode(origin))
    before = (
        earlier_checkpoint_step(new.fork.run, memory, earlier_point, removal)
        for earlier_point in POINTS[: POINTS.index(point)]
    )
    inherited_record = memory.steps.get(inheritance.INHERIT_STEP)
    steps = (*(step for step in before if step), _checkpoint_step(point, checkpoint), record)
    return RunInputs(
        steps=(*steps, *([_inherited_step(inherited_record, removal)] if inherited_record else [])), ledger=rows
    )


def earlier_checkpoint_step(run_id: str, memory: Memory, point: ForkPoint, removal: SourceRemoval) -> StepRecord | None:
    """The checkpoint before an earlier point, so that the fork can be forked there too."""
    checkpoint = checkpoint_before(run_id, memory, point)
    return (
        None
        if checkpoint is None
        else _checkpoint_step(point, msgspec.structs.replace(removal.filter_checkpoint(checkpoint), given=None))
    )


def _checkpoint_step(point: ForkPoint, checkpoint: Checkpoint) -> StepRecord:
    return StepRecord(key=progress_key((), point), input_hash="", tag=KEPT_TAG, data=msgspec.json.encode(checkpoint))


def _inherited_step(record: StepRecord, removal: SourceRemoval) -> StepRecord:
    if not removal.ids:
        return record
    evidence = removal.filter_inherited(msgspec.json.decode(record.data, type=InheritedEvidence))
    return msgspec.structs.replace(record, data=msgspec.json.encode(evidence))


def call_results(memory: Memory, brief: Brief) -> dict[str, msgspec.Raw]:
    """The results of a run's calls, with those it was forked with if they were valid for it."""
    results, record = inheritance.call_results(memory.ledger, memory.steps), memory.steps.get(FORK_STEP)
    if record is None:
        return results
    before = msgspec.json.decode(record.data, type=ForkOrigin)
    is_valid = inheritance.is_fresh(brief, before.date, before.scope, inheritance.stored_scope(memory))
    return before.answers | results if is_valid else results
