"""A run which is forked off another: the points from which it can be, and what it is given of the other.

What rests on sources that are to be left out is taken out. A finding keeps what other sources say too: of its markers
those of a left-out source go, and of its sentences those which rested on nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

import msgspec

from assay.agents.findings import cite, quoted
from assay.agents.task import Finding
from assay.core import passage_context
from assay.core.brief import POINTS, Brief, Point
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
from assay.core.phrases import nothing
from assay.core.plan import Coverage, Plan, Triage
from assay.core.ports import LedgerRow, Memory, RunInputs, StepRecord
from assay.core.report_sentences import claims
from assay.core.sources import CollectionSummary, Passage, Source, lane_of_source
from assay.core.translation import gettext as _
from assay.core.translation import quoted as in_quotes
from assay.evidence.ledger import Ledger, row_name
from assay.phases import inheritance
from assay.phases.case import Case, Research, said
from assay.phases.coverage import assess
from assay.phases.inheritance import InheritedEvidence, goes_on, is_fresh
from assay.phases.material import evidence
from assay.run.releases import brief_of, own_release
from assay.run.run import KEPT_TAG, Run, kept
from assay.run.steps import StepContext, digest
from assay.verify.repair.surgery import Remove, changed

# The points: how far a run has come at each, and how a run which was forked takes that up.

RECALLED = 8
"""Passages of the earlier report the writer is given at most."""


def recalled(case: Case, research: Research) -> Research:
    """The research with what the earlier report cites about this question, as a finding of no step, for the writer."""
    inherited = case.inherited
    if not inherited.cited or not research.findings:
        return research
    known = {(each.document_sha256, each.start) for finding in research.findings for each in finding.passages}
    near = case.ledger.seeing(inherited.lanes).recall(case.question, len(inherited.rows))
    chosen = [each for each in near if each.id in inherited.cited and (each.document_sha256, each.start) not in known]
    if not chosen:
        return research
    passages = tuple(chosen[:RECALLED])
    text = "\n".join(f"- {quoted(passage)}" for passage in passages)
    about = in_quotes(" ".join(inherited.question.split()))
    task = _("What an earlier report says on {question}").format(question=about)
    finding = Finding(lane=inherited.lanes[0], task=task, text=text, passages=passages)
    return msgspec.structs.replace(research, findings=(*research.findings, finding))


def announce(run: Run, case: Case, text: str) -> None:
    """Put the earlier run's sources which `text` cites on this run's log: what it shows has to stand there itself."""
    for source in cited_before(run.brief.lane, case.ledger, text):
        run.emit(SourceAdded(source=source))


def cited_before(lane: int, ledger: Ledger, text: str) -> list[Source]:
    """The sources a text cites which were met before `lane`, the first of this run."""
    cited = cite(text, ledger)
    ids = dict.fromkeys([*(each.source for each in cited.passages), *(each.id for each in cited.sources)])
    known = (ledger.source(id) for id in ids)
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


def keep(run: Run, point: Point, at: Checkpoint, ledger: Ledger) -> None:
    """Store how far a run has come before the phase `point`."""
    run.keep(point, msgspec.structs.replace(at, rows=ledger.rows()))


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


async def take_up(run: Run, case: Case) -> tuple[Case, Checkpoint]:
    """The case of a forked run with what it was forked with, and how far it has come."""

    async def missing(_: StepContext) -> Forked:
        raise StoreError(f"run {run.run_id} does not hold what it was forked with")

    forked = await run.at("write").step("fork", missing, returns=Forked, input=run.brief.fork)
    at = forked.standing
    case.ledger.apply(forked.rows)
    if is_fresh(run.brief, forked.date, forked.scope, case.held):
        for key, answer in forked.answers.items():
            case.ledger.answer(key, bytes(answer))
    inherited = case.inherited
    if not goes_on(run.brief, at.triage):
        inherited = msgspec.structs.replace(inherited, cited=())
    told = msgspec.structs.replace(
        case,
        question=at.question,
        answers=at.answers,
        assumptions=at.assumptions,
        assumed=at.triage.assumptions,
        inherited=inherited,
    )
    return told, at


Ids = AbstractSet[str]
"""Ids of sources."""


class Leaving:
    """What becomes of the things of a run when these sources are left out of it."""

    def __init__(self, ids: Ids, rows: tuple[LedgerRow, ...]) -> None:
        self.ids = ids
        self.rows = tuple(row for row in rows if not self._is_of(row))
        self._ledger = Ledger()
        self._ledger.apply(self.rows)

    def _is_of(self, row: LedgerRow) -> bool:
        return row.kind in ("source", "passage") and row.id.partition(".")[0] in self.ids

    def text(self, text: str) -> str:
        """A text without the sentences which rest on these sources alone, and without their markers."""
        resting = {each.id: Remove() for each in claims(text) if self._rests(id for m in each.markers for id in m.ids)}
        return cite(changed(text, resting) if resting else text, self._ledger).text.strip() or nothing()

    def _rests(self, ids: Iterable[str]) -> bool:
        sources = {id.partition(".")[0] for id in ids}
        return bool(sources) and sources <= self.ids

    def passages(self, passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
        """Those of other sources."""
        return tuple(each for each in passages if each.source not in self.ids)

    def finding(self, finding: Finding) -> Finding:
        """What an agent found without them."""
        if not any(each.source in self.ids for each in finding.passages):
            return finding
        left = self.passages(finding.passages)
        return msgspec.structs.replace(finding, text=self.text(finding.text), passages=left)

    def research(self, research: Research) -> Research:
        """The research without them; the plan says of its steps what is left."""
        plan = research.plan
        found = tuple(map(self.finding, research.findings))
        for before, after in zip(research.findings, found, strict=True):
            if before != after and after.step:
                plan = _retold(plan, after)
        return msgspec.structs.replace(research, findings=found, plan=plan)

    def background(self, text: str) -> str:
        """What the planner is told, without their passages."""
        sources = passage_context.read(text)
        if not any(each.id in self.ids for each in sources):
            return text
        kept = [passage.id for each in sources if each.id not in self.ids for passage in each.passages]
        return evidence(self._ledger.resolve(kept).passages, self._ledger)

    def standing(self, at: Checkpoint) -> Checkpoint:
        """How far the run had come, without them; coverage is assessed anew."""
        if not self.ids:
            return at
        at = msgspec.structs.replace(at, background=self.background(at.background))
        if at.research is None:
            return at
        research = self.research(at.research)
        return msgspec.structs.replace(at, research=research, coverage=assess(at.question, research))

    def plan(self, plan: Plan, now: Plan) -> Plan:
        """A plan as it stood on the way, saying of its steps what they say `now`."""
        told = {step.id: step.finding for step in now.steps}
        steps = (
            msgspec.structs.replace(step, finding=told.get(step.id, "")) if step.finding else step
            for step in plan.steps
        )
        return msgspec.structs.replace(plan, steps=tuple(steps))

    def inherited(self, taken: InheritedEvidence) -> InheritedEvidence:
        """What the run had taken over from one before it, without them."""
        rows = tuple(row for row in taken.rows if not self._is_of(row))
        cited = tuple(id for id in taken.cited if id.partition(".")[0] not in self.ids)
        return msgspec.structs.replace(taken, rows=rows, cited=cited, answers={} if self.ids else taken.answers)


def _retold(plan: Plan, finding: Finding) -> Plan:
    steps = (
        msgspec.structs.replace(step, finding=said(finding)) if step.id == finding.step else step for step in plan.steps
    )
    return msgspec.structs.replace(plan, steps=tuple(steps))


def revised(event: Event, leaving: Leaving, at: Checkpoint) -> Event | None:
    """What an event of the run says in the log of its fork, which goes on from `at`; None where it is left out."""
    if isinstance(event, ScopeCounted):
        return None  # the fork counts for itself
    if isinstance(event, TriageClassified):
        return msgspec.structs.replace(event, triage=at.triage, depth=at.triage.depth)
    if not leaving.ids:
        return event
    match event:
        case SourceAdded(source=source) if source.id in leaving.ids:
            return None
        case SourceReused(source=id) | SourceNoted(source=id) if id in leaving.ids:
            return None
        case FindingDelta():
            return None  # the whole of it comes with `finding.added`
        case FindingAdded(text=text, passages=passages) if any(each.source in leaving.ids for each in passages):
            return msgspec.structs.replace(event, text=leaving.text(text), passages=leaving.passages(passages))
        case PlanChanged(plan=plan) if at.research is not None:
            return PlanChanged(plan=leaving.plan(plan, at.research.plan))
        case CoverageAssessed(when="before"):
            return CoverageAssessed(coverage=at.coverage)
    return event


def handed_over(memory: Memory, old: Brief, new: Brief, at: Checkpoint, leaving: Leaving) -> RunInputs:
    """What a fork is given by the run stored as `memory`: how far it has come, and the ledger by then."""
    assert new.fork is not None
    point, named = new.fork.point, set(at.rows)
    rows = tuple(row for row in leaving.rows if row_name((row.kind, row.id)) in named)
    forked = Forked(
        standing=at,
        rows=rows,
        answers={} if leaving.ids else answers(memory, old),
        scope=inheritance.scope_of(memory),
        date=old.date,
    )
    record = StepRecord(key=FORK_STEP, input_hash=digest(new.fork), tag="forked/1", data=msgspec.json.encode(forked))
    before = (earlier(new.fork.run, memory, each, leaving) for each in POINTS[: POINTS.index(point)])
    inherited = memory.steps.get(inheritance.STEP)
    steps = (*(step for step in before if step), _kept(point, at), record)
    return RunInputs(steps=(*steps, *([_inherited(inherited, leaving)] if inherited else [])), ledger=rows)


def earlier(run_id: str, memory: Memory, point: Point, leaving: Leaving) -> StepRecord | None:
    """How far the run had come before an earlier point, from which its fork can be forked in its turn."""
    at = stood(run_id, memory, point)
    return None if at is None else _kept(point, msgspec.structs.replace(leaving.standing(at), given=None))


def _kept(point: Point, at: Checkpoint) -> StepRecord:
    return StepRecord(key=kept((), point), input_hash="", tag=KEPT_TAG, data=msgspec.json.encode(at))


def _inherited(record: StepRecord, leaving: Leaving) -> StepRecord:
    if not leaving.ids:
        return record
    taken = leaving.inherited(msgspec.json.decode(record.data, type=InheritedEvidence))
    return msgspec.structs.replace(record, data=msgspec.json.encode(taken))


def answers(memory: Memory, brief: Brief) -> dict[str, msgspec.Raw]:
    """What the calls of a run got, with what it was forked with itself where that held for it."""
    own, record = inheritance.answers_of(memory.ledger, memory.steps), memory.steps.get(FORK_STEP)
    if record is None:
        return own
    before = msgspec.json.decode(record.data, type=Forked)
    held = inheritance.is_fresh(brief, before.date, before.scope, inheritance.scope_of(memory))
    return before.answers | own if held else own
