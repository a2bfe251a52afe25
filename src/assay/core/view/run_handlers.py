"""Handlers for the events of a run as a whole: its life, its phases, triage, plan, limits."""

from __future__ import annotations

from typing import Literal

import msgspec

from assay.core import events as e
from assay.core.assurance import assess_claims
from assay.core.claims import Summary
from assay.core.coordinates import lane_of
from assay.core.ports import FINAL
from assay.core.usage import Usage
from assay.core.view import model
from assay.core.view.state import ViewState, on

CHANGED = "its text is not the one which was verified: it was changed behind the checks"
"""The problem of a report, or of a passage shown in it, that does not match its hash."""

# run


@on(e.RunCreated)
def _run_created(state: ViewState, envelope: e.Envelope, event: e.RunCreated) -> None:
    state.brief, state.created_at = event.brief, envelope.at
    state.mode, state.depth = event.brief.mode, event.brief.depth
    state.models = {role: names[0] for role, names in event.brief.models.items() if names}


@on(e.RunStarted, e.RunResumed)
def _run_started(state: ViewState, envelope: e.Envelope, event: e.RunStarted | e.RunResumed) -> None:
    state.started_at = state.started_at or envelope.at
    state.status, state.waiting_for = "running", ""
    state.finished_at = state.stop_reason = state.error = ""


@on(e.RunWaiting)
def _run_waiting(state: ViewState, envelope: e.Envelope, event: e.RunWaiting) -> None:
    state.status, state.waiting_for = "waiting", event.topic


def _set_running(state: ViewState) -> None:
    if state.status not in FINAL:
        state.status, state.waiting_for = "running", ""


@on(e.RunExhausted)
def _run_exhausted(state: ViewState, envelope: e.Envelope, event: e.RunExhausted) -> None:
    state.exhausted = event.reason


@on(e.RunCompleted)
def _run_completed(state: ViewState, envelope: e.Envelope, event: e.RunCompleted) -> None:
    state.status, state.stop_reason = "completed", event.stop_reason
    state.passed = event.verified
    state.verified = event.verified and (not state.graded or assess_claims(state.claims.values()).is_sound)
    state.finished_at = envelope.at
    if not (state.writing.is_whole() and all(passage.is_whole for passage in state.passages.values())):
        state.verified = state.passed = False
        summary, problems = (state.gate.summary, state.gate.problems) if state.gate else (Summary(), ())
        state.gate = model.Gate(summary=summary, passed=False, problems=(*problems, CHANGED))


@on(e.RunFailed)
def _run_failed(state: ViewState, envelope: e.Envelope, event: e.RunFailed) -> None:
    state.status, state.stop_reason, state.error = "failed", event.stop_reason, event.error
    state.finished_at = envelope.at


@on(e.RunCancelled)
def _run_cancelled(state: ViewState, envelope: e.Envelope, event: e.RunCancelled) -> None:
    state.status, state.stop_reason = "cancelled", event.stop_reason
    state.finished_at = envelope.at


@on(e.ControlAccepted)
def _control_accepted(state: ViewState, envelope: e.Envelope, event: e.ControlAccepted) -> None:
    if event.action == "steer":
        state.steering.append(model.Steered(id=event.id, text=event.text))


@on(e.ControlApplied)
def _control_applied(state: ViewState, envelope: e.Envelope, event: e.ControlApplied) -> None:
    if event.action == "pause" and state.status not in FINAL:
        state.status, state.waiting_for = "paused", ""
    if event.action == "steer":
        _resolve_steering(state, event.id, "applied", event.where)


@on(e.ControlRejected)
def _control_rejected(state: ViewState, envelope: e.Envelope, event: e.ControlRejected) -> None:
    if event.action == "steer":
        _resolve_steering(state, event.id, "rejected", event.why)


def _resolve_steering(state: ViewState, id: str, new_state: Literal["applied", "rejected"], note: str) -> None:
    state.steering = [
        msgspec.structs.replace(entry, state=new_state, note=note) if entry.id == id else entry
        for entry in state.steering
    ]


@on(e.StepRestarted)
def _step_restarted(state: ViewState, envelope: e.Envelope, event: e.StepRestarted) -> None:
    state.restarts += 1


@on(e.Warned)
def _warned(state: ViewState, envelope: e.Envelope, event: e.Warned) -> None:
    state.warnings.append(model.RunWarning(message=event.message, detail=event.detail))


# phases, triage, plan


@on(e.PhaseStarted)
def _phase_started(state: ViewState, envelope: e.Envelope, event: e.PhaseStarted) -> None:
    phase = state.phase(event.phase)
    phase.started_at, phase.finished_at = phase.started_at or envelope.at, ""
    _set_running(state)


@on(e.PhaseFinished)
def _phase_finished(state: ViewState, envelope: e.Envelope, event: e.PhaseFinished) -> None:
    state.phase(event.phase).finished_at = envelope.at


@on(e.TriageClassified)
def _triage_classified(state: ViewState, envelope: e.Envelope, event: e.TriageClassified) -> None:
    state.triage, state.mode, state.depth = event.triage, event.mode, event.depth


@on(e.ClarifyRequested)
def _clarify_requested(state: ViewState, envelope: e.Envelope, event: e.ClarifyRequested) -> None:
    state.clarification = model.Clarification(questions=event.questions)


@on(e.ClarifyAnswered)
def _clarify_answered(state: ViewState, envelope: e.Envelope, event: e.ClarifyAnswered) -> None:
    state.clarification = msgspec.structs.replace(
        state.clarification, answers=event.answers, assumptions=event.assumptions
    )
    _set_running(state)


@on(e.PlanStarted)
def _plan_started(state: ViewState, envelope: e.Envelope, event: e.PlanStarted) -> None:
    state.plan_pieces.clear()


@on(e.PlanDelta)
def _plan_delta(state: ViewState, envelope: e.Envelope, event: e.PlanDelta) -> None:
    state.plan_pieces.append(event.text)


@on(e.PlanProposed, e.PlanChanged)
def _plan_proposed(state: ViewState, envelope: e.Envelope, event: e.PlanProposed | e.PlanChanged) -> None:
    state.plan = event.plan


@on(e.PlanApproved)
def _plan_approved(state: ViewState, envelope: e.Envelope, event: e.PlanApproved) -> None:
    state.plan, state.plan_approved_by = event.plan, event.by
    _set_running(state)


@on(e.ReflectDecided)
def _reflect_decided(state: ViewState, envelope: e.Envelope, event: e.ReflectDecided) -> None:
    state.reflections.append(msgspec.convert(event, model.Reflection, from_attributes=True))


@on(e.CoverageAssessed)
def _coverage_assessed(state: ViewState, envelope: e.Envelope, event: e.CoverageAssessed) -> None:
    state.coverage = event.coverage


# money


@on(e.UsageUpdated)
def _usage_updated(state: ViewState, envelope: e.Envelope, event: e.UsageUpdated) -> None:
    phase = envelope.path[0] if envelope.path else "run"
    state.total = state.total + event.usage
    state.by_role[event.role] = state.by_role.get(event.role, Usage()) + event.usage
    state.by_phase[phase] = state.by_phase.get(phase, Usage()) + event.usage
    number = lane_of(envelope.path)
    if number is not None:
        lane = state.lane(number)
        lane.usage = lane.usage + event.usage


@on(e.BudgetLow)
def _budget_low(state: ViewState, envelope: e.Envelope, event: e.BudgetLow) -> None:
    state.low.append(model.Low(measure=event.measure, used=event.used, limit=event.limit))
