"""What the events of the report and its claims change."""

from __future__ import annotations

import msgspec

from assay.core import events as e
from assay.core.claims import Check, Claim, Conflict, Version
from assay.core.view import model
from assay.core.view.handlers.registry import on
from assay.core.view.state import ViewState


@on(e.ReportStarted)
def _report_started(state: ViewState, envelope: e.Envelope, event: e.ReportStarted) -> None:
    writing = state.writing
    writing.title, writing.pieces, writing.started = event.title, [], True
    writing.text_sha256, writing.limits, writing.stated = "", (), {}
    for id in list(state.claims):
        state.forget(id)


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
            state.forget(id)


@on(e.ReportFinished)
def _report_finished(state: ViewState, envelope: e.Envelope, event: e.ReportFinished) -> None:
    state.writing.text_sha256, state.writing.limits = event.text_sha256, event.limits
    state.writing.stated = event.stated


@on(e.ClaimFound)
def _claim_found(state: ViewState, envelope: e.Envelope, event: e.ClaimFound) -> None:
    cited = state.keep(event.passages)
    state.claims[event.id] = Claim(
        id=event.id,
        text=event.text,
        start=event.start,
        end=event.end,
        passages=cited,
        inherited=event.inherited,
    )
    state.checks.pop(event.id, None)
    state.versions.pop(event.id, None)


@on(e.ClaimChecked)
def _claim_checked(state: ViewState, envelope: e.Envelope, event: e.ClaimChecked) -> None:
    claim = state.claims.get(event.id)
    if claim is None:
        return
    against = tuple(dict.fromkeys((*claim.against, *state.keep(event.against))))
    state.claims[event.id] = msgspec.structs.replace(claim, verdict=event.verdict, reason=event.reason, against=against)
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
    state.versions.setdefault(event.id, []).append(_version(claim, event.why))
    state.checks.pop(event.id, None)  # what was said of the old sentence does not hold for the new one
    state.claims[event.id] = Claim(
        id=claim.id,
        text=event.after,
        start=claim.start,
        end=claim.end,
        passages=state.keep(event.passages),
        reason=f"revised: {event.why}",
    )


def _version(claim: Claim, why: str) -> Version:
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
def _located(state: ViewState, envelope: e.Envelope, event: e.CitationsLocated) -> None:
    state.surroundings = {each.id: each for each in event.passages}


@on(e.CopiesFound)
def _copies(state: ViewState, envelope: e.Envelope, event: e.CopiesFound) -> None:
    state.copies = event.groups


@on(e.ConflictFound)
def _conflict(state: ViewState, envelope: e.Envelope, event: e.ConflictFound) -> None:
    state.keep(event.passages)
    found = Conflict(text=event.text, subject=event.subject, measure=event.measure, sides=event.sides)
    state.conflicts.append(found)


@on(e.VerifySummary)
def _summary(state: ViewState, envelope: e.Envelope, event: e.VerifySummary) -> None:
    state.gate = model.Gate(summary=event.summary, passed=event.passed, problems=event.problems)


# What the events of typed answers change.


@on(e.FieldsFilled)
def _fields_filled(state: ViewState, envelope: e.Envelope, event: e.FieldsFilled) -> None:
    state.fields = event.fields
