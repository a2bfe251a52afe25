"""Verification of a report: its claims, the checks, the repair, and the final gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from assay.core.claims import Claim, Summary, summarize
from assay.core.events import CitationsLocated, VerifySummary
from assay.core.markers import parse
from assay.core.sources import Passage, Source
from assay.evidence.documents import DocumentReader
from assay.run.run import Run
from assay.verify import gate
from assay.verify.cited_passages import dropped
from assay.verify.claim_check import CheckRules, Checks, ClaimResult, PendingClaim, check_all
from assay.verify.claims import claims
from assay.verify.evidence_index import EvidenceIndex
from assay.verify.judge import has_judge
from assay.verify.relevance import graded
from assay.verify.repair.candidates import Means
from assay.verify.repair.mender import Mender, Repaired
from assay.verify.stream.proofreader import Proofreader, VerificationStart
from assay.verify.stream.sentences import carried

Closing = Callable[[Run, Repaired, Sequence[ClaimResult]], Repaired]


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """The report as it left verification, its claims with their verdicts, the counts, and whether the gate passed.

    `limits` say what repair did to the text.
    """

    text: str
    claims: tuple[Claim, ...]
    summary: Summary
    passed: bool
    problems: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()


async def verify(
    run: Run,
    report: str,
    passages: Mapping[str, Passage],
    sources: Mapping[str, Source],
    reader: DocumentReader,
    *,
    enabled: bool,
    has_sources: bool,
    off: Sequence[str] = (),
    means: Means | None = None,
    closing: Closing | None = None,
    proofreader: Proofreader | None = None,
    streamed: str = "",
) -> Verified:
    """Find the claims of `report`, check each against what it cites, repair what fails, and pass the gate.

    Args:
        run: where events go; reading, judging, asking and searching are steps of it.
        report: the report as written, with markers.
        passages: every passage shown in the run, by id.
        sources: every source of the run, by id.
        reader: reads stored documents.
        enabled: False leaves every claim `unchecked(off)`; the gate is passed all the same.
        off: rules which are not asked.
        has_sources: False, for an answer from the model alone, leaves every claim `unchecked(no sources)`.
        means: what repair works with; without, nothing is repaired.
        closing: has the last word on the text before the gate, where claims are checked; it gets what was taken out.
        proofreader: has found and checked claims while the report was written: that is neither said nor done again.
        streamed: the report as it was then.
    """
    judged = enabled and "judge" not in off and has_judge(run)
    rules = CheckRules(enabled=enabled, has_sources=has_sources, off=tuple(off), judged=judged)
    known = await proofreader.closed() if proofreader is not None else VerificationStart(Checks(run, rules))
    held = EvidenceIndex(passages, sources, reader)
    found = await find(run, report, held, known, streamed)
    checked = await check_all(run, found, rules, known.say_checked, known.checks)
    repaired = Repaired(text=report, checked=checked)
    if means is not None and enabled and has_sources:
        repaired = await Mender(run, held, rules, means).repair(report, checked)
        await _hold_again(run, found, repaired, held)
    if closing is not None and enabled and has_sources:
        kept = {each.id for each in repaired.checked}
        repaired = closing(run, repaired, [each for each in checked if each.id not in kept])
    if enabled:
        answering = await graded(run, repaired.checked, held.sources)
        repaired = msgspec.structs.replace(repaired, checked=answering)
    return _gated(run, repaired, held)


# claims


async def find(
    run: Run, report: str, held: EvidenceIndex, known: VerificationStart, streamed: str = ""
) -> tuple[PendingClaim, ...]:
    """The claims of `report` with what they cite, held against the stored documents; each is told.

    Those which were in the report as it `streamed` keep their ids.
    """
    cited = held.shown.all_cited(claims(report))
    named = _named(report, held.passages) | {each.id: each for _, passages in cited for each in passages}
    await held.hold(run, named.values())
    if located := held.located(named):
        run.emit(CitationsLocated(passages=located))
    ids = carried(claims(streamed), [sentence for sentence, _ in cited]) if streamed else {}
    found = tuple(
        PendingClaim(ids.get(sentence.id, sentence.id), sentence, held.evidence(passages))
        for sentence, passages in cited
    )
    for each in found:
        known.say_found(run, each)
    return found


def _named(report: str, passages: Mapping[str, Passage]) -> dict[str, Passage]:
    """All passages the report names, in its order."""
    return {id: passages[id] for marker in parse(report) for id in marker.ids if id in passages}


# the gate


async def _hold_again(run: Run, found: Sequence[PendingClaim], repaired: Repaired, held: EvidenceIndex) -> None:
    """Hold what is cited now; readers are told where it stands, unless it is what was cited before."""
    before = {passage.id for each in found for passage in each.evidence.passages}
    now = _rests_on(repaired, held)
    await held.hold(run, (held.passages[id] for id in now))
    if not before.issuperset(now) and (located := held.located(now)):
        run.emit(CitationsLocated(passages=located))


def _rests_on(repaired: Repaired, held: EvidenceIndex) -> dict[str, None]:
    """The ids of all passages a report names or its claims rest on."""
    resting = (id for checked in repaired.checked for id in checked.passages)
    return dict.fromkeys((*_named(repaired.text, held.passages), *resting))


def _gated(run: Run, repaired: Repaired, held: EvidenceIndex) -> Verified:
    final = tuple(checked.claim for checked in repaired.checked)
    summary = summarize(final, dropped(repaired.text, held.shown))
    problems = (
        *gate.records(repaired.text, final, held.passages, tuple(held.sources), summary),
        *(gate.unrecorded(repaired.text, final) if final else ()),
        *held.problems(_rests_on(repaired, held)),
    )
    run.emit(VerifySummary(summary=summary, passed=not problems, problems=problems))
    return Verified(
        text=repaired.text,
        claims=final,
        summary=summary,
        passed=not problems,
        problems=problems,
        limits=repaired.limits,
    )
