"""Handlers for the events of research and of the report: agents, calls, sources, findings; text, claims, verdicts."""

from __future__ import annotations

import msgspec

from assay.core import events as e
from assay.core.claims import Check, Claim, Conflict, Version
from assay.core.coordinates import lane_of
from assay.core.view import model
from assay.core.view.state import ViewState, on

# agents


@on(e.AgentsPlanned)
def _agents_planned(state: ViewState, envelope: e.Envelope, event: e.AgentsPlanned) -> None:
    for number in event.lanes:
        lane = state.lane(number)
        lane.cycle = lane.cycle or event.cycle


@on(e.AgentStarted)
def _agent_started(state: ViewState, envelope: e.Envelope, event: e.AgentStarted) -> None:
    lane = state.lane(event.lane)
    lane.task, lane.step, lane.state = event.task, event.step, "running"
    lane.started_at, lane.finished_at = lane.started_at or envelope.at, ""


@on(e.AgentFinished)
def _agent_finished(state: ViewState, envelope: e.Envelope, event: e.AgentFinished) -> None:
    lane = state.lane(event.lane)
    lane.state, lane.stop, lane.finished_at = "finished", event.stop, envelope.at


@on(e.AgentFailed)
def _agent_failed(state: ViewState, envelope: e.Envelope, event: e.AgentFailed) -> None:
    lane = state.lane(event.lane)
    lane.state, lane.error, lane.finished_at = "failed", event.error, envelope.at


@on(e.AgentAbandoned)
def _agent_abandoned(state: ViewState, envelope: e.Envelope, event: e.AgentAbandoned) -> None:
    lane = state.lane(event.lane)
    lane.state, lane.finished_at = "abandoned", envelope.at


# thinking, models, tools


@on(e.ThinkStarted)
def _think_started(state: ViewState, envelope: e.Envelope, event: e.ThinkStarted) -> None:
    turn = state.turn(envelope)
    turn.thoughts.append([])
    turn.thinking = True


@on(e.ThinkDelta)
def _think_delta(state: ViewState, envelope: e.Envelope, event: e.ThinkDelta) -> None:
    turn = state.turn(envelope)
    if not turn.thinking:
        _think_started(state, envelope, e.ThinkStarted())
    turn.thoughts[-1].append(event.text)


@on(e.ThinkFinished)
def _think_finished(state: ViewState, envelope: e.Envelope, event: e.ThinkFinished) -> None:
    turn = state.turn(envelope)
    if not turn.thinking:
        turn.thoughts.append([])
    turn.thoughts[-1][:] = [event.text]
    turn.thinking = False


@on(e.ModelAttempted)
def _model_attempted(state: ViewState, envelope: e.Envelope, event: e.ModelAttempted) -> None:
    state.turn(envelope).attempts.append(msgspec.convert(event, model.Attempt, from_attributes=True))
    if event.outcome == "ok":
        state.models[event.role] = event.model


@on(e.ToolStarted)
def _tool_started(state: ViewState, envelope: e.Envelope, event: e.ToolStarted) -> None:
    state.turn(envelope).tools[event.call] = model.ToolUse(call=event.call, tool=event.tool, arguments=event.arguments)


@on(e.ToolFinished, e.ToolFailed)
def _tool_finished_or_failed(state: ViewState, envelope: e.Envelope, event: e.ToolFinished | e.ToolFailed) -> None:
    tools = state.turn(envelope).tools
    tool_use = tools.get(event.call) or model.ToolUse(call=event.call, tool=event.tool)
    if isinstance(event, e.ToolFinished):
        tools[event.call] = msgspec.structs.replace(tool_use, outcome="done", summary=event.summary)
    else:
        tools[event.call] = msgspec.structs.replace(tool_use, outcome="failed", summary=event.reason)


@on(e.ScopeCounted)
def _scope_counted(state: ViewState, envelope: e.Envelope, event: e.ScopeCounted) -> None:
    state.documents = event.documents


@on(e.SearchPerformed)
def _search_performed(state: ViewState, envelope: e.Envelope, event: e.SearchPerformed) -> None:
    state.turn(envelope).searches.append(msgspec.convert(event, model.SearchMade, from_attributes=True))


@on(e.SearchFailed)
def _search_failed(state: ViewState, envelope: e.Envelope, event: e.SearchFailed) -> None:
    search = model.SearchMade(query=event.query, provider=event.provider, results=0, failed=event.reason)
    state.turn(envelope).searches.append(search)


# sources and findings


def _source_shown(state: ViewState, envelope: e.Envelope, source: str) -> None:
    number = lane_of(envelope.path)
    if number is not None:
        state.lane(number).sources[source] = None


@on(e.SourceAdded)
def _source_added(state: ViewState, envelope: e.Envelope, event: e.SourceAdded) -> None:
    state.sources.setdefault(event.source.id, event.source)
    _source_shown(state, envelope, event.source.id)


@on(e.SourceReused)
def _source_reused(state: ViewState, envelope: e.Envelope, event: e.SourceReused) -> None:
    _source_shown(state, envelope, event.source)


@on(e.SourceNoted)
def _source_noted(state: ViewState, envelope: e.Envelope, event: e.SourceNoted) -> None:
    if event.source in state.sources:
        state.sources[event.source] = msgspec.structs.replace(state.sources[event.source], notices=event.notices)


@on(e.SourceExpected)
def _source_expected(state: ViewState, envelope: e.Envelope, event: e.SourceExpected) -> None:
    state.expected.extend(event.urls)


@on(e.SourceFailed)
def _source_failed(state: ViewState, envelope: e.Envelope, event: e.SourceFailed) -> None:
    state.unreadable.append(model.Unreadable(url=event.url, reason=event.reason))


@on(e.FindingStarted)
def _finding_started(state: ViewState, envelope: e.Envelope, event: e.FindingStarted) -> None:
    lane = state.lane(event.lane)
    lane.findings, lane.reported = [], False


@on(e.FindingDelta)
def _finding_delta(state: ViewState, envelope: e.Envelope, event: e.FindingDelta) -> None:
    state.lane(event.lane).findings.append(event.text)


@on(e.FindingAdded)
def _finding_added(state: ViewState, envelope: e.Envelope, event: e.FindingAdded) -> None:
    lane = state.lane(event.lane)
    lane.task = lane.task or event.task
    lane.findings, lane.passages = [event.text], state.add_passages(event.passages)
    lane.dropped_markers, lane.reported, lane.uncited = event.dropped_markers, True, event.uncited


# The report and its claims.


@on(e.ReportStarted)
def _report_started(state: ViewState, envelope: e.Envelope, event: e.ReportStarted) -> None:
    writing = state.writing
    writing.title, writing.pieces, writing.started = event.title, [], True
    writing.text_sha256, writing.limits, writing.stated = "", (), {}
    for id in list(state.claims):
        state.drop_claim(id)


@on(e.ReportDelta)
def _report_delta(state: ViewState, envelope: e.Envelope, event: e.ReportDelta) -> None:
    state.writing.pieces.append(event.text)
    state.writing.started = True


@on(e.ReportRevised)
def _report_revised(state: ViewState, envelope: e.Envelope, event: e.ReportRevised) -> None:
    state.writing.pieces, state.writing.started = [event.text], True
    state.writing.revisions.append(event.why)
    for id in list(state.claims):
        if id in event.spans:
            start, end = event.spans[id]
            state.claims[id] = msgspec.structs.replace(state.claims[id], start=start, end=end)
        else:
            state.drop_claim(id)


@on(e.ReportFinished)
def _report_finished(state: ViewState, envelope: e.Envelope, event: e.ReportFinished) -> None:
    state.writing.text_sha256, state.writing.limits = event.text_sha256, event.limits
    state.writing.stated = event.stated


@on(e.ClaimFound)
def _claim_found(state: ViewState, envelope: e.Envelope, event: e.ClaimFound) -> None:
    passage_ids = state.add_passages(event.passages)
    state.claims[event.id] = Claim(
        id=event.id, text=event.text, start=event.start, end=event.end, passages=passage_ids, inherited=event.inherited
    )
    state.checks.pop(event.id, None)
    state.versions.pop(event.id, None)


@on(e.ClaimChecked)
def _claim_checked(state: ViewState, envelope: e.Envelope, event: e.ClaimChecked) -> None:
    claim = state.claims.get(event.id)
    if claim is None:
        return
    opposing_ids = tuple(dict.fromkeys((*claim.against, *state.add_passages(event.against))))
    state.claims[event.id] = msgspec.structs.replace(
        claim, verdict=event.verdict, reason=event.reason, against=opposing_ids
    )
    check = Check(rule=event.rule, verdict=event.verdict, reason=event.reason, nearest=event.nearest)
    state.checks.setdefault(event.id, []).append(check)


@on(e.ClaimsGraded)
def _claims_graded(state: ViewState, envelope: e.Envelope, event: e.ClaimsGraded) -> None:
    state.graded = True
    for id, relevance in event.relevance.items():
        if id in state.claims:
            state.claims[id] = msgspec.structs.replace(state.claims[id], relevance=relevance)


@on(e.ClaimRevised)
def _claim_revised(state: ViewState, envelope: e.Envelope, event: e.ClaimRevised) -> None:
    claim = state.claims.get(event.id)
    if claim is None:
        return
    state.versions.setdefault(event.id, []).append(_claim_version(claim, event.why))
    state.checks.pop(event.id, None)  # checks of the old sentence do not apply to the new one
    state.claims[event.id] = Claim(
        id=claim.id,
        text=event.after,
        start=claim.start,
        end=claim.end,
        passages=state.add_passages(event.passages),
        reason=f"revised: {event.why}",
    )


def _claim_version(claim: Claim, why: str) -> Version:
    return Version(text=claim.text, passages=claim.passages, verdict=claim.verdict, reason=claim.reason, why=why)


@on(e.ClaimRemoved)
def _claim_removed(state: ViewState, envelope: e.Envelope, event: e.ClaimRemoved) -> None:
    claim = state.claims.pop(event.id, None)
    state.checks.pop(event.id, None)
    versions = tuple(state.versions.pop(event.id, ()))
    if claim is not None:
        state.removed.append(
            model.RemovedClaim(
                id=claim.id,
                text=claim.text,
                why=event.why,
                passages=claim.passages,
                verdict=claim.verdict,
                reason=claim.reason,
                versions=versions,
            )
        )


@on(e.CitationsLocated)
def _citations_located(state: ViewState, envelope: e.Envelope, event: e.CitationsLocated) -> None:
    state.surroundings = {passage.id: passage for passage in event.passages}


@on(e.CopiesFound)
def _copies_found(state: ViewState, envelope: e.Envelope, event: e.CopiesFound) -> None:
    state.copies = event.groups


@on(e.ConflictFound)
def _conflict_found(state: ViewState, envelope: e.Envelope, event: e.ConflictFound) -> None:
    state.add_passages(event.passages)
    state.conflicts.append(Conflict(text=event.text, subject=event.subject, measure=event.measure, sides=event.sides))


@on(e.VerifySummary)
def _verify_summary(state: ViewState, envelope: e.Envelope, event: e.VerifySummary) -> None:
    state.gate = model.Gate(summary=event.summary, passed=event.passed, problems=event.problems)


@on(e.FieldsFilled)
def _fields_filled(state: ViewState, envelope: e.Envelope, event: e.FieldsFilled) -> None:
    state.fields = event.fields
