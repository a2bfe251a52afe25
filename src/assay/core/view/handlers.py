"""What each kind of event changes. A kind without a handler here changes nothing a reader sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from assay.core import events as e
from assay.core.claims import Claim
from assay.core.coordinates import lane_of
from assay.core.ports import FINAL
from assay.core.usage import Usage
from assay.core.view import model
from assay.core.view.state import State

Handler = Callable[[State, e.Envelope, Any], None]
HANDLERS: dict[str, Handler] = {}

H = TypeVar("H", bound=Handler)


def on(*kinds: type[e.Event]) -> Callable[[H], H]:
    """Register the handler of these kinds."""

    def register(handler: H) -> H:
        HANDLERS.update(dict.fromkeys((kind.kind for kind in kinds), handler))
        return handler

    return register


# run


@on(e.RunCreated)
def _created(state: State, envelope: e.Envelope, event: e.RunCreated) -> None:
    state.brief, state.created_at = event.brief, envelope.at
    state.mode, state.depth = event.brief.mode, event.brief.depth
    state.models = {role: names[0] for role, names in event.brief.models.items() if names}


@on(e.RunStarted, e.RunResumed)
def _started(state: State, envelope: e.Envelope, event: e.RunStarted | e.RunResumed) -> None:
    state.started_at = state.started_at or envelope.at
    state.status, state.waiting_for = "running", ""
    state.finished_at = state.stop_reason = state.error = ""


@on(e.RunWaiting)
def _waiting(state: State, envelope: e.Envelope, event: e.RunWaiting) -> None:
    state.status, state.waiting_for = "waiting", event.topic


def _goes_on(state: State) -> None:
    if state.status not in FINAL:
        state.status, state.waiting_for = "running", ""


@on(e.RunExhausted)
def _exhausted(state: State, envelope: e.Envelope, event: e.RunExhausted) -> None:
    state.exhausted = event.reason


@on(e.RunCompleted)
def _completed(state: State, envelope: e.Envelope, event: e.RunCompleted) -> None:
    state.status, state.stop_reason, state.verified = "completed", event.stop_reason, event.verified
    state.finished_at = envelope.at


@on(e.RunFailed)
def _failed(state: State, envelope: e.Envelope, event: e.RunFailed) -> None:
    state.status, state.stop_reason, state.error = "failed", event.stop_reason, event.error
    state.finished_at = envelope.at


@on(e.RunCancelled)
def _cancelled(state: State, envelope: e.Envelope, event: e.RunCancelled) -> None:
    state.status, state.stop_reason = "cancelled", event.stop_reason
    state.finished_at = envelope.at


@on(e.ControlApplied)
def _control(state: State, envelope: e.Envelope, event: e.ControlApplied) -> None:
    if event.action == "pause" and state.status not in FINAL:
        state.status = "paused"


@on(e.StepRestarted)
def _restarted(state: State, envelope: e.Envelope, event: e.StepRestarted) -> None:
    state.restarts += 1


@on(e.Warned)
def _warned(state: State, envelope: e.Envelope, event: e.Warned) -> None:
    state.warnings.append(model.Notice(message=event.message, detail=event.detail))


# phases, triage, plan


@on(e.PhaseStarted)
def _phase_started(state: State, envelope: e.Envelope, event: e.PhaseStarted) -> None:
    phase = state.phase(event.phase)
    phase.started_at, phase.finished_at = phase.started_at or envelope.at, ""
    _goes_on(state)


@on(e.PhaseFinished)
def _phase_finished(state: State, envelope: e.Envelope, event: e.PhaseFinished) -> None:
    state.phase(event.phase).finished_at = envelope.at


@on(e.TriageClassified)
def _classified(state: State, envelope: e.Envelope, event: e.TriageClassified) -> None:
    state.triage, state.mode, state.depth = event.triage, event.mode, event.depth


@on(e.ClarifyRequested)
def _asked(state: State, envelope: e.Envelope, event: e.ClarifyRequested) -> None:
    state.clarification = model.Clarification(questions=event.questions)


@on(e.ClarifyAnswered)
def _answered(state: State, envelope: e.Envelope, event: e.ClarifyAnswered) -> None:
    state.clarification = msgspec.structs.replace(
        state.clarification, answers=event.answers, assumptions=event.assumptions
    )
    _goes_on(state)


@on(e.PlanStarted)
def _plan_started(state: State, envelope: e.Envelope, event: e.PlanStarted) -> None:
    state.plan_pieces.clear()


@on(e.PlanDelta)
def _plan_delta(state: State, envelope: e.Envelope, event: e.PlanDelta) -> None:
    state.plan_pieces.append(event.text)


@on(e.PlanProposed, e.PlanChanged)
def _planned(state: State, envelope: e.Envelope, event: e.PlanProposed | e.PlanChanged) -> None:
    state.plan = event.plan


@on(e.PlanApproved)
def _approved(state: State, envelope: e.Envelope, event: e.PlanApproved) -> None:
    state.plan, state.plan_approved_by = event.plan, event.by
    _goes_on(state)


@on(e.ReflectDecided)
def _reflected(state: State, envelope: e.Envelope, event: e.ReflectDecided) -> None:
    state.reflections.append(model.Reflection(decision=event.decision, reasoning=event.reasoning))


@on(e.CoverageAssessed)
def _covered(state: State, envelope: e.Envelope, event: e.CoverageAssessed) -> None:
    state.coverage = event.coverage


# agents


@on(e.AgentsPlanned)
def _agents(state: State, envelope: e.Envelope, event: e.AgentsPlanned) -> None:
    for number in event.lanes:
        lane = state.lane(number)
        lane.cycle = lane.cycle or event.cycle


@on(e.AgentStarted)
def _agent_started(state: State, envelope: e.Envelope, event: e.AgentStarted) -> None:
    lane = state.lane(event.lane)
    lane.task, lane.step, lane.state = event.task, event.step, "running"


@on(e.AgentFinished)
def _agent_finished(state: State, envelope: e.Envelope, event: e.AgentFinished) -> None:
    lane = state.lane(event.lane)
    lane.state, lane.stop = "finished", event.stop


@on(e.AgentFailed)
def _agent_failed(state: State, envelope: e.Envelope, event: e.AgentFailed) -> None:
    lane = state.lane(event.lane)
    lane.state, lane.error = "failed", event.error


@on(e.AgentAbandoned)
def _agent_abandoned(state: State, envelope: e.Envelope, event: e.AgentAbandoned) -> None:
    state.lane(event.lane).state = "abandoned"


# thinking, models, tools


@on(e.ThinkStarted)
def _think_started(state: State, envelope: e.Envelope, event: e.ThinkStarted) -> None:
    turn = state.turn(envelope)
    turn.thoughts.append([])
    turn.thinking = True


@on(e.ThinkDelta)
def _think_delta(state: State, envelope: e.Envelope, event: e.ThinkDelta) -> None:
    turn = state.turn(envelope)
    if not turn.thinking:
        _think_started(state, envelope, e.ThinkStarted())
    turn.thoughts[-1].append(event.text)


@on(e.ThinkFinished)
def _think_finished(state: State, envelope: e.Envelope, event: e.ThinkFinished) -> None:
    turn = state.turn(envelope)
    if not turn.thinking:
        turn.thoughts.append([])
    turn.thoughts[-1][:] = [event.text]
    turn.thinking = False


@on(e.ModelAttempted)
def _attempted(state: State, envelope: e.Envelope, event: e.ModelAttempted) -> None:
    state.turn(envelope).attempts.append(
        model.Attempt(role=event.role, task=event.task, model=event.model, attempt=event.attempt, outcome=event.outcome)
    )
    if event.outcome == "ok":
        state.models[event.role] = event.model


@on(e.ToolStarted)
def _tool_started(state: State, envelope: e.Envelope, event: e.ToolStarted) -> None:
    state.turn(envelope).tools[event.call] = model.ToolUse(call=event.call, tool=event.tool, arguments=event.arguments)


@on(e.ToolFinished, e.ToolFailed)
def _tool_ended(state: State, envelope: e.Envelope, event: e.ToolFinished | e.ToolFailed) -> None:
    tools = state.turn(envelope).tools
    begun = tools.get(event.call) or model.ToolUse(call=event.call, tool=event.tool)
    if isinstance(event, e.ToolFinished):
        tools[event.call] = msgspec.structs.replace(begun, outcome="done", summary=event.summary)
    else:
        tools[event.call] = msgspec.structs.replace(begun, outcome="failed", summary=event.reason)


@on(e.SearchPerformed)
def _searched(state: State, envelope: e.Envelope, event: e.SearchPerformed) -> None:
    state.turn(envelope).searches.append(
        model.SearchMade(query=event.query, provider=event.provider, results=event.results, shared=event.shared)
    )


# sources and findings


def _shown(state: State, envelope: e.Envelope, source: str) -> None:
    number = lane_of(envelope.path)
    if number is not None:
        state.lane(number).sources[source] = None


@on(e.SourceAdded)
def _source_added(state: State, envelope: e.Envelope, event: e.SourceAdded) -> None:
    state.sources.setdefault(event.source.id, event.source)
    _shown(state, envelope, event.source.id)


@on(e.SourceReused)
def _source_reused(state: State, envelope: e.Envelope, event: e.SourceReused) -> None:
    _shown(state, envelope, event.source)


@on(e.SourceFailed)
def _source_failed(state: State, envelope: e.Envelope, event: e.SourceFailed) -> None:
    state.unreadable.append(model.Unreadable(url=event.url, reason=event.reason))


@on(e.FindingStarted)
def _finding_started(state: State, envelope: e.Envelope, event: e.FindingStarted) -> None:
    lane = state.lane(event.lane)
    lane.findings, lane.reported = [], False


@on(e.FindingDelta)
def _finding_delta(state: State, envelope: e.Envelope, event: e.FindingDelta) -> None:
    state.lane(event.lane).findings.append(event.text)


@on(e.FindingAdded)
def _finding_added(state: State, envelope: e.Envelope, event: e.FindingAdded) -> None:
    lane = state.lane(event.lane)
    lane.task = lane.task or event.task
    lane.findings, lane.passages = [event.text], state.keep(event.passages)
    lane.dropped_markers, lane.reported = event.dropped_markers, True


# report and claims


@on(e.ReportStarted)
def _report_started(state: State, envelope: e.Envelope, event: e.ReportStarted) -> None:
    writing = state.writing
    writing.title, writing.pieces, writing.started = event.title, [], True
    writing.text_sha256, writing.limits = "", ()


@on(e.ReportDelta)
def _report_delta(state: State, envelope: e.Envelope, event: e.ReportDelta) -> None:
    state.writing.pieces.append(event.text)
    state.writing.started = True


@on(e.ReportRevised)
def _report_revised(state: State, envelope: e.Envelope, event: e.ReportRevised) -> None:
    state.writing.pieces, state.writing.started = [event.text], True
    state.writing.revisions.append(event.why)


@on(e.ReportFinished)
def _report_finished(state: State, envelope: e.Envelope, event: e.ReportFinished) -> None:
    state.writing.text_sha256, state.writing.limits = event.text_sha256, event.limits


@on(e.ClaimFound)
def _claim_found(state: State, envelope: e.Envelope, event: e.ClaimFound) -> None:
    cited = state.keep(event.passages)
    state.claims[event.id] = Claim(id=event.id, text=event.text, start=event.start, end=event.end, passages=cited)
    state.checks.pop(event.id, None)


@on(e.ClaimChecked)
def _claim_checked(state: State, envelope: e.Envelope, event: e.ClaimChecked) -> None:
    claim = state.claims.get(event.id)
    if claim is None:
        return
    state.claims[event.id] = msgspec.structs.replace(claim, verdict=event.verdict, reason=event.reason)
    check = model.Check(rule=event.rule, verdict=event.verdict, reason=event.reason)
    state.checks.setdefault(event.id, []).append(check)


@on(e.ClaimRevised)
def _claim_revised(state: State, envelope: e.Envelope, event: e.ClaimRevised) -> None:
    claim = state.claims.get(event.id)
    if claim is not None:  # what was said of the old sentence does not hold for the new one
        state.claims[event.id] = msgspec.structs.replace(
            claim, text=event.after, verdict="unchecked", reason=f"revised: {event.why}"
        )


@on(e.ClaimRemoved)
def _claim_removed(state: State, envelope: e.Envelope, event: e.ClaimRemoved) -> None:
    claim = state.claims.pop(event.id, None)
    state.checks.pop(event.id, None)
    if claim is not None:
        state.removed.append(model.RemovedClaim(id=claim.id, text=claim.text, why=event.why))


@on(e.CitationsLocated)
def _located(state: State, envelope: e.Envelope, event: e.CitationsLocated) -> None:
    state.surroundings = {each.id: each for each in event.passages}


@on(e.ConflictFound)
def _conflict(state: State, envelope: e.Envelope, event: e.ConflictFound) -> None:
    state.conflicts.append(model.Conflict(text=event.text, passages=event.passages))


@on(e.VerifySummary)
def _summary(state: State, envelope: e.Envelope, event: e.VerifySummary) -> None:
    state.gate = model.Gate(summary=event.summary, passed=event.passed, problems=event.problems)


# money


@on(e.UsageUpdated)
def _usage(state: State, envelope: e.Envelope, event: e.UsageUpdated) -> None:
    phase = envelope.path[0] if envelope.path else "run"
    state.total = state.total + event.usage
    state.by_role[event.role] = state.by_role.get(event.role, Usage()) + event.usage
    state.by_phase[phase] = state.by_phase.get(phase, Usage()) + event.usage


@on(e.BudgetLow)
def _low(state: State, envelope: e.Envelope, event: e.BudgetLow) -> None:
    state.low.append(model.Low(measure=event.measure, used=event.used, limit=event.limit))
