"""Verification of a report: its claims, the checks, the repair, and the final gate; and the same once more, later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from assay.core.assurance import find_record_problems, unknown_marker_ids
from assay.core.claims import HOLDING, Check, Claim, Summary, Verdict, summarize
from assay.core.events import CitationsLocated, VerifySummary
from assay.core.markers import parse_markers
from assay.core.report_sentences import ReportSentence, claims
from assay.core.sources import Passage, PassageLocation
from assay.core.translation import Phrases, use_phrases
from assay.core.usage import Usage
from assay.core.view import RunView
from assay.run.run import Run
from assay.verify.checks import fault_messages
from assay.verify.claim_check import (
    DEFAULT_RULES,
    CheckRules,
    Checks,
    ClaimResult,
    CodeRuling,
    PendingClaim,
    RepairMeans,
    RuledClaims,
    check_all,
    code_ruling,
)
from assay.verify.evidence_index import (
    CitedPassages,
    EvidenceIndex,
    TextOf,
    claims_by_start,
    compare_with_documents,
    find_unrecorded,
)
from assay.verify.judge import has_judge
from assay.verify.proofreader import Proofreader, VerificationStart, carry_ids
from assay.verify.question_relevance import grade_relevance
from assay.verify.repair.mender import Mender, RepairedReport

ClosingStep = Callable[[Run, RepairedReport, Sequence[ClaimResult]], RepairedReport]


class VerifiedReport(msgspec.Struct, frozen=True, kw_only=True):
    """The report after verification, its claims with their verdicts, the counts, and whether the gate passed.

    `limits` say what repair did to the text.
    """

    text: str
    claims: tuple[Claim, ...]
    summary: Summary
    passed: bool
    problems: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()


class WrittenReport(msgspec.Struct, frozen=True, kw_only=True):
    """A report as written, with markers.

    `proofreader` has found and checked claims in `streamed_text` while it was written; they are neither logged nor
    checked again. `has_answer` is False if it only says that nothing was found, with the nearest passages. `answering`
    are the passages by which a model judged parts of the question to be answered. `question` is the one it answers, as
    triage read it.
    """

    text: str
    streamed_text: str = ""
    has_answer: bool = True
    answering: frozenset[PassageLocation] = frozenset()
    question: str = ""
    proofreader: Proofreader | None = None


async def verify_report(
    run: Run,
    report: WrittenReport,
    evidence_index: EvidenceIndex,
    rules: CheckRules,
    *,
    means: RepairMeans | None = None,
    closing_step: ClosingStep | None = None,
) -> VerifiedReport:
    """Find the claims of `report`, check each against its evidence, repair failing ones, and pass the gate.

    Args:
        run: where events go; reading, judging, model calls and searches are steps of it.
        report: the text with the claims.
        evidence_index: every passage shown in the run, and every source.
        rules: if not `enabled`, every claim is `unchecked(off)`, and without sources `unchecked(no sources)`; the gate
            is still passed. Whether there is a judge is determined here.
        means: what repair works with; without it nothing is repaired.
        closing_step: changes the text last, before the gate, if claims are checked; it gets the removed claims.
    """
    uses_judge = rules.enabled and "judge" not in rules.checks_off and has_judge(run)
    rules = msgspec.structs.replace(rules, uses_judge=uses_judge)
    proofreader, checkable = report.proofreader, rules.enabled and rules.has_sources
    start = await proofreader.close() if proofreader is not None else VerificationStart(Checks(run, rules))
    pending_claims = await find_claims(run, report.text, evidence_index, start, report.streamed_text)
    results = await check_all(run, pending_claims, rules, start.emit_checked, start.checks)
    for fault in fault_messages(rules.added_checks, (finding for result in results for finding in result.findings)):
        run.warn(fault)
    repaired = RepairedReport(text=report.text, results=results)
    if means is not None and checkable:
        repaired = await Mender(run, evidence_index, rules, means).repair(report.text, results)
        await _look_up_citations(run, pending_claims, repaired, evidence_index)
    if closing_step is not None and checkable:
        kept_ids = {result.id for result in repaired.results}
        repaired = closing_step(run, repaired, [result for result in results if result.id not in kept_ids])
    if rules.enabled:
        graded = await grade_relevance(
            run,
            repaired.results,
            evidence_index.sources,
            has_answer=report.has_answer,
            answering=report.answering,
            read_as=report.question,
        )
        repaired = msgspec.structs.replace(repaired, results=graded)
    return _pass_gate(run, repaired, evidence_index)


# claims


async def find_claims(
    run: Run, report: str, evidence_index: EvidenceIndex, start: VerificationStart, streamed_text: str = ""
) -> tuple[PendingClaim, ...]:
    """Find the claims of `report` and their passages, compare these with the stored documents, and log each claim.

    Claims of `streamed_text`, the report as it was streamed, keep their ids.
    """
    pairs = evidence_index.citable_ids.claims_with_passages(claims(report))
    named_passages = _cited_passages(report, evidence_index.passages) | {
        passage.id: passage for _, passages in pairs for passage in passages
    }
    await evidence_index.check_passages(run, named_passages.values())
    if surroundings := evidence_index.surroundings(named_passages):
        run.emit(CitationsLocated(passages=surroundings))
    ids = carry_ids(claims(streamed_text), [sentence for sentence, _ in pairs]) if streamed_text else {}
    pending_claims = tuple(
        PendingClaim(ids.get(sentence.id, sentence.id), sentence, evidence_index.claim_evidence(passages))
        for sentence, passages in pairs
    )
    for pending_claim in pending_claims:
        start.emit_found(run, pending_claim)
    return pending_claims


def _cited_passages(report: str, passages: Mapping[str, Passage]) -> dict[str, Passage]:
    """All passages the report names, in its order."""
    return {id: passages[id] for marker in parse_markers(report) for id in marker.ids if id in passages}


# the gate


async def _look_up_citations(
    run: Run, pending_claims: Sequence[PendingClaim], repaired: RepairedReport, evidence_index: EvidenceIndex
) -> None:
    """Look up what is cited now; readers get the places if the citations have changed."""
    before = {passage.id for claim in pending_claims for passage in claim.evidence.passages}
    cited_ids = _cited_ids(repaired, evidence_index)
    await evidence_index.check_passages(run, (evidence_index.passages[id] for id in cited_ids))
    if not before.issuperset(cited_ids) and (surroundings := evidence_index.surroundings(cited_ids)):
        run.emit(CitationsLocated(passages=surroundings))


def _cited_ids(repaired: RepairedReport, evidence_index: EvidenceIndex) -> dict[str, None]:
    """The ids of all passages that a report names or its claims rest on."""
    passage_ids = (id for result in repaired.results for id in result.passages)
    return dict.fromkeys((*_cited_passages(repaired.text, evidence_index.passages), *passage_ids))


def _pass_gate(run: Run, repaired: RepairedReport, evidence_index: EvidenceIndex) -> VerifiedReport:
    final = tuple(result.claim for result in repaired.results)
    unknown_ids = unknown_marker_ids(repaired.text, evidence_index.passages.keys() | evidence_index.sources.keys())
    summary = summarize(final, len(unknown_ids))
    problems = (
        *find_record_problems(repaired.text, final, evidence_index.passages, tuple(evidence_index.sources), summary),
        *(find_unrecorded(repaired.text, final) if final else ()),
        *evidence_index.problems(_cited_ids(repaired, evidence_index)),
    )
    run.emit(VerifySummary(summary=summary, passed=not problems, problems=problems))
    return VerifiedReport(
        text=repaired.text,
        claims=final,
        summary=summary,
        passed=not problems,
        problems=problems,
        limits=repaired.limits,
    )


# A verified report once more, by today's rules and against the stored documents.


class Again(msgspec.Struct, frozen=True, kw_only=True):
    """A claim's verdict in the run (`before`) and `now`, with the rule that decides it and the reason."""

    id: str
    text: str
    before: Verdict
    now: Verdict
    rule: str
    reason: str
    passages: tuple[str, ...]


class Rechecked(msgspec.Struct, frozen=True, kw_only=True):
    """A run's report, checked again. `problems` are those the final gate finds in the report and the documents now.

    `lost` are the ids of claims that were quoted or supported and are neither now. `model` judged what the rules do not
    decide, empty if none was called; `usage` is its cost. `warnings` are about failed checks of other packages.
    """

    run_id: str
    claims: tuple[Again, ...]
    before: Summary
    now: Summary
    problems: tuple[str, ...]
    lost: tuple[str, ...]
    model: str = ""
    usage: Usage = Usage()
    warnings: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """True if no supported claim was lost and the documents are unchanged."""
        return not self.lost and not self.problems


class RereadReport(RuledClaims, frozen=True, kw_only=True):
    """A run's report by today's rules."""

    view: RunView
    problems: tuple[str, ...]

    def with_opinions(self, opinions: Mapping[str, Check]) -> Rechecked:
        """The result for each claim; `opinions` are a judge's new verdicts, by claim."""
        checks = self.final_checks(opinions)
        rechecked_claims = tuple(_rechecked_claim(claim, checks[claim.id]) for claim in self.view.claims)
        today = [msgspec.structs.replace(claim, verdict=checks[claim.id].verdict) for claim in self.view.claims]
        before = summarize(self.view.claims, self.view.summary.dropped_markers)
        return Rechecked(
            run_id=self.view.run_id,
            claims=rechecked_claims,
            before=before,
            now=summarize(today, before.dropped_markers),
            problems=self.problems,
            lost=tuple(
                result.id for result in rechecked_claims if result.before in HOLDING and result.now not in HOLDING
            ),
            warnings=self.fault_messages,
        )


def recheck_by_code(view: RunView, text_of: TextOf, rules: CheckRules = DEFAULT_RULES) -> RereadReport:
    """Check every claim of a run's report against its documents by today's rules. Blocking."""
    cited_passages = {id: view.passages[id] for claim in view.claims for id in claim.passages if id in view.passages}
    evidence = CitedPassages(view.sources)
    evidence.add_documents(compare_with_documents(cited_passages, text_of))
    with use_phrases(Phrases(statements=view.report.stated)):
        sentences = claims_by_start(view.report.text)
    pending_claims: list[PendingClaim] = []
    rulings: dict[str, CodeRuling] = {}
    for claim in view.claims:
        passages = tuple(cited_passages[id] for id in claim.passages if id in cited_passages)
        pending_claim = PendingClaim(
            claim.id, _sentence(claim, sentences.get(claim.start)), evidence.claim_evidence(passages)
        )
        pending_claims.append(pending_claim)
        rulings[claim.id] = _current_ruling(view, claim, pending_claim, rules)
    summary = summarize(view.claims, view.summary.dropped_markers)
    record_problems = find_record_problems(view.report.text, view.claims, view.passages, tuple(view.sources), summary)
    return RereadReport(
        view=view,
        pending_claims=tuple(pending_claims),
        rulings=rulings,
        added_checks=rules.added_checks,
        problems=(*record_problems, *evidence.problems(cited_passages)),
    )


def _sentence(claim: Claim, sentence: ReportSentence | None) -> ReportSentence:
    """The claim as a sentence to check: its words as the run recorded them, its markers as in the present text."""
    if sentence is None:
        return ReportSentence(id=claim.id, text=claim.text, start=claim.start, end=claim.end, role="fact", block=0)
    return msgspec.structs.replace(sentence, id=claim.id, text=claim.text)


def _rechecked_claim(claim: Claim, check: Check) -> Again:
    return Again(
        id=claim.id,
        text=claim.text,
        before=claim.verdict,
        now=check.verdict,
        rule=check.rule,
        reason=check.reason,
        passages=claim.passages,
    )


def _current_ruling(view: RunView, claim: Claim, pending_claim: PendingClaim, rules: CheckRules) -> CodeRuling:
    """Today's verdict. A claim that was not checked at all stays so."""
    last = _last_check(view.checks, claim)
    if last.rule == "off":
        return CodeRuling(check=last)
    ruling = code_ruling(pending_claim.sentence, pending_claim.evidence, rules)
    stands = ruling.is_open and last.rule == "judge"  # the judge's verdict stands until a rule objects
    return msgspec.structs.replace(ruling, check=last) if stands else ruling


def _last_check(checks: Mapping[str, tuple[Check, ...]], claim: Claim) -> Check:
    claim_checks = checks.get(claim.id, ())
    return claim_checks[-1] if claim_checks else Check(rule="", verdict=claim.verdict, reason=claim.reason)
