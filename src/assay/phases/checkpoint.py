"""How far a run has come at the points from which it can be forked, and how a run which was forked takes that up."""

from __future__ import annotations

import msgspec

from assay.agents.findings import cite, quoted
from assay.agents.task import Finding
from assay.core.brief import Point
from assay.core.errors import OtherRelease, StoreError
from assay.core.events import SourceAdded
from assay.core.plan import Coverage, Plan, Triage
from assay.core.ports import LedgerRow, Memory
from assay.core.sources import CollectionSummary, Source, lane_of_source
from assay.core.translation import gettext as _
from assay.core.translation import quoted as in_quotes
from assay.evidence.ledger import Ledger
from assay.phases.case import Case, Research
from assay.phases.inheritance import goes_on, is_fresh
from assay.run.releases import brief_of, own_release
from assay.run.run import Run, kept
from assay.run.steps import StepContext

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
