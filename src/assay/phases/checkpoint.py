"""How far a run has come at the points from which it can be forked, and how a run which was forked takes that up."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from assay.agents.task import Toolset
from assay.core.brief import Point
from assay.core.errors import OtherRelease, StoreError
from assay.core.plan import Coverage, Plan, Triage
from assay.core.ports import LedgerRow, Memory
from assay.core.sources import CollectionSummary
from assay.phases.case import Case, inquire
from assay.phases.inherited_evidence import InheritedEvidence, equip, is_fresh
from assay.phases.state import Research
from assay.run.protocols import Tool
from assay.run.releases import brief_of, own_release
from assay.run.run import Run, kept
from assay.run.steps import StepContext

STEP = ":fork:0"
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
