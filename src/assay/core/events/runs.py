"""Events of a run as a whole: its life, its phases, triage, plan, and how much of it is covered."""

from __future__ import annotations

from typing import Any, Literal

from assay.core.brief import Brief
from assay.core.events.envelope import Event, kind
from assay.core.plan import Coverage, Plan, Triage
from assay.core.usage import Usage


@kind("run.created")
class RunCreated(Event, frozen=True):
    """A run exists; its brief is frozen from here on."""

    brief: Brief


@kind("run.continued")
class RunContinued(Event, frozen=True):
    """The run took over the evidence of `parent`: how many documents, passages shown, queries asked, pages read."""

    parent: str
    sources: int
    passages: int
    queries: int
    pages: int


@kind("run.forked")
class RunForked(Event, frozen=True):
    """The run was forked off `parent`: the events up to `point` happened there, and cost this run nothing.

    The counts are of sources, passages shown, queries asked and pages read that were taken over; `left_out` names the
    sources that were not.
    """

    parent: str
    point: str
    sources: int
    passages: int
    queries: int
    pages: int
    left_out: tuple[str, ...] = ()


@kind("run.started")
class RunStarted(Event, frozen=True):
    """A process began to execute the run."""

    resolved: dict[str, str] = {}


@kind("run.resumed")
class RunResumed(Event, frozen=True):
    """Another process resumed the run; `fence` counts the processes that have held its lease."""

    fence: int


@kind("run.waiting")
class RunWaiting(Event, frozen=True):
    """The run waits for a person on `topic`; no process need be alive."""

    topic: str


@kind("run.exhausted")
class RunExhausted(Event, frozen=True):
    """A limit was reached or the owner asked to finish: research ends, then writing and verification follow."""

    reason: str


@kind("run.completed")
class RunCompleted(Event, frozen=True):
    """The run ended with a report. `stop_reason`: done, no_evidence, unwritten, or the limit which ended research."""

    stop_reason: str
    verified: bool


@kind("run.failed")
class RunFailed(Event, frozen=True):
    """The run ended without a report; `error` says why and, if possible, what to do."""

    stop_reason: str
    error: str


@kind("run.cancelled")
class RunCancelled(Event, frozen=True):
    """The owner cancelled the run; its findings so far are kept."""

    stop_reason: str = "cancelled"


@kind("phase.started")
class PhaseStarted(Event, frozen=True):
    """A phase began: triage, background, plan, research, write or verify."""

    phase: str


@kind("phase.finished")
class PhaseFinished(Event, frozen=True):
    """A phase ended."""

    phase: str


@kind("triage.classified")
class TriageClassified(Event, frozen=True):
    """How the question was classified, and the depth and mode that follow from it."""

    triage: Triage
    mode: str
    depth: str


@kind("clarify.requested")
class ClarifyRequested(Event, frozen=True):
    """The run would like answers to these questions (at most 3)."""

    questions: tuple[str, ...]


@kind("clarify.answered")
class ClarifyAnswered(Event, frozen=True):
    """Answers in the order of the questions; empty if nobody could answer and the run makes assumptions."""

    answers: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


@kind("plan.started")
class PlanStarted(Event, frozen=True):
    """The planner is at work."""


@kind("plan.delta")
class PlanDelta(Event, frozen=True):
    """More of the plan while it is written: a line `1. Title` for each step with a complete title."""

    text: str


@kind("plan.proposed")
class PlanProposed(Event, frozen=True):
    """A plan."""

    plan: Plan


@kind("plan.approved")
class PlanApproved(Event, frozen=True):
    """The plan that research follows; `by` is `auto` or `user`."""

    plan: Plan
    by: str = "auto"


@kind("plan.changed")
class PlanChanged(Event, frozen=True):
    """The plan has changed: the status or finding of a step."""

    plan: Plan


# Events of money, time, control and the journal itself.


@kind("reflect.decided")
class ReflectDecided(Event, frozen=True):
    """The reflector's decision after plan step `step`: continue, adjust (change the plan as `changes` say) or complete.

    `note` says why research continued as planned: a rule did not allow the decision, or there was none.
    """

    decision: Literal["continue", "adjust", "complete"]
    reasoning: str = ""
    step: int = 0
    changes: tuple[str, ...] = ()
    note: str = ""


@kind("coverage.assessed")
class CoverageAssessed(Event, frozen=True):
    """The coverage of the question, each plan step and each part of the question: answered, partly, not.

    `when` is "before" the report is written, based on the findings, or "after" verification, based on the report.
    """

    coverage: tuple[Coverage, ...]
    when: Literal["before", "after"] = "before"


@kind("usage.updated")
class UsageUpdated(Event, frozen=True):
    """What one step spent, by role and phase; the fold adds them up."""

    role: str
    usage: Usage


@kind("budget.low")
class BudgetLow(Event, frozen=True):
    """80 % of a limit is used."""

    measure: str
    used: float
    limit: float


@kind("control.accepted")
class ControlAccepted(Event, frozen=True):
    """A control request (finish, cancel, pause, steer, agent-cancel) was stored; `id` names it.

    `text` is the instruction of a steer, `lane` the agent to stop.
    """

    action: str
    id: str = ""
    text: str = ""
    lane: int = 0


@kind("control.applied")
class ControlApplied(Event, frozen=True):
    """A control request took effect; `where` is the decision that took a steer into account, `lane` the agent's."""

    action: str
    where: str = ""
    id: str = ""
    lane: int = 0


@kind("control.rejected")
class ControlRejected(Event, frozen=True):
    """A control request could not take effect."""

    action: str
    why: str
    id: str = ""
    lane: int = 0


@kind("step.restarted")
class StepRestarted(Event, frozen=True):
    """A step is repeated after its process died; the events numbered `dropped` belong to the earlier attempt.

    The step `again` is everything between steps since the failure of a run that is resumed.
    """

    step: str
    attempt: int
    dropped: tuple[int, ...]


@kind("step.diverged")
class StepDiverged(Event, frozen=True):
    """A stored step's input has changed, so it was done again."""

    step: str


@kind("warning")
class Warned(Event, frozen=True):
    """Something a reader should know that did not stop the run."""

    message: str
    detail: dict[str, Any] = {}
