"""The end of a run: verify the report, and finish with what its reader must know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import msgspec

from assay.agents.findings import resolve_citations
from assay.core.claims import HOLDING
from assay.core.events import CoverageAssessed, ReportFinished, ReportRevised
from assay.core.phrases import LIMIT_REASONS, STOP_REASONS, nothing_found_text
from assay.core.plan import Coverage
from assay.core.sources import Passage, PassageLocation, Source, sha256
from assay.core.translation import gettext as _
from assay.core.translation import statement_kind, statements_in
from assay.evidence.ledger import Ledger
from assay.phases.case import Case, Draft
from assay.phases.form import (
    add_missing,
    is_listed,
    missing_parts,
    not_found_sentence,
)
from assay.phases.method import (
    language_gap_notes,
    look_up_cited_works,
    method_notes,
    private_documents_notice,
    unmet_requests,
    withdrawn_works_note,
)
from assay.phases.source_comparison import compare_sources
from assay.phases.write import cited_date_sentence, update_date
from assay.run.engine import Outcome
from assay.run.run import Run
from assay.verify.claim_check import CheckRules, ClaimResult, RepairMeans
from assay.verify.evidence_index import EvidenceIndex
from assay.verify.pipeline import VerifiedReport, WrittenReport, verify_report
from assay.verify.repair.mender import RepairedReport

# Which parts of the plan and the question the verified report answers.

REVISION_REASON = "what could not be found was put right by code"


class ClosingAssessment:
    """Assesses a report before its last check; `limits` are notices that its text has no place for.

    Args:
        before: the coverage before writing.
        passages: every passage shown in the run, by id.
        fixed_form: whether the text has a fixed form, to which nothing may be added.
    """

    def __init__(self, before: Sequence[Coverage], passages: Mapping[str, Passage], *, fixed_form: bool) -> None:
        self.before, self.passages, self.fixed_form = before, passages, fixed_form
        self.limits: tuple[str, ...] = ()

    def __call__(self, run: Run, repaired: RepairedReport, removed: Sequence[ClaimResult]) -> RepairedReport:
        """Add to the report what it does not answer after all. Only its end changes."""
        if not self.before:
            return repaired
        after = reassess_coverage(self.before, self.passages, repaired.results, removed)
        run.emit(CoverageAssessed(coverage=after, when="after"))
        missing_before = missing_parts(self.before)
        newly_missing = [
            part for part in missing_parts(after) if part not in missing_before and not is_listed(repaired.text, part)
        ]
        if self.fixed_form:
            self.limits = tuple(map(not_found_sentence, newly_missing))
            return repaired
        text = add_missing(repaired.text, newly_missing)
        if text != repaired.text:
            spans = {claim.id: (claim.sentence.start, claim.sentence.end) for claim in repaired.results}
            run.emit(ReportRevised(text=text, why=REVISION_REASON, spans=spans))
        return msgspec.structs.replace(repaired, text=text)


def reassess_coverage(
    before: Sequence[Coverage],
    passages: Mapping[str, Passage],
    claims: Sequence[ClaimResult],
    removed: Sequence[ClaimResult],
) -> tuple[Coverage, ...]:
    """Assess coverage by what a report says.

    A part keeps its status if a quoted or supported claim rests on its passages. It is partly answered if only less
    certain claims do, or none; it is not answered if all its claims were removed. A part without passages of its own,
    an analysis, has the status of the question. The question is answered if every part is.

    Args:
        before: the coverage before writing; the question first.
        passages: every passage shown in the run, by id.
        claims: the claims of the report.
        removed: the removed claims, as they were found.
    """
    sure_locations = _places(claim for claim in claims if claim.check.verdict in HOLDING)
    claim_locations, removed_locations = _places(claims), _places(removed)

    def reassess_part(part: Coverage) -> Coverage:
        part_locations = {passages[id].location for id in part.passages if id in passages}
        if part.status == "not" or part_locations & sure_locations:
            return part
        is_lost = bool(part_locations & removed_locations) and not part_locations & claim_locations
        return msgspec.structs.replace(part, status="not" if is_lost else "partly")

    parts = [part if not part.passages else reassess_part(part) for part in before[1:]]
    question_coverage = _overall_coverage(reassess_part(before[0]), parts)
    return (question_coverage, *(_analysis_coverage(part, before[0], question_coverage) for part in parts))


def _overall_coverage(question_coverage: Coverage, parts: Sequence[Coverage]) -> Coverage:
    searched_parts = [part for part in parts if part.passages or part.status == "not"]
    if question_coverage.status == "answered" and any(part.status != "answered" for part in searched_parts):
        return msgspec.structs.replace(question_coverage, status="partly")
    return question_coverage


def _analysis_coverage(part: Coverage, before: Coverage, question_coverage: Coverage) -> Coverage:
    """Give an analysis the status of what it analyses; what was not found at all stays so."""
    if part.passages or part.status != before.status:
        return part
    return msgspec.structs.replace(part, status=question_coverage.status)


def _places(claims: Iterable[ClaimResult]) -> set[PassageLocation]:
    return {passage.location for claim in claims for passage in claim.evidence.passages}


async def finish_run(run: Run, case: Case, draft: Draft) -> Outcome:
    """Compare the sources, verify the report and end the run."""
    async with run.with_gate("verify").phase("verify") as phase:
        passages, sources = case.ledger.passages_and_sources()
        if run.brief.verify and run.brief.compare and draft.sourced:
            draft = await compare_sources(phase, case, draft)
        closing_assessment = ClosingAssessment(
            draft.coverage, passages, fixed_form=draft.composed or bool(run.brief.template)
        )
        verified = await verify_report(
            phase,
            WrittenReport(
                text=draft.text,
                streamed_text=draft.streamed,
                has_answer=draft.found,
                answering=_answering_passages(run, draft, passages),
                question=case.question,
                proofreader=draft.proofreader if draft.sourced else None,  # without sources nothing is checked
            ),
            EvidenceIndex(passages, sources, case.reader),
            CheckRules(
                enabled=run.brief.verify,
                has_sources=draft.sourced,
                checks_off=tuple(run.brief.checks_off),
                added_checks=case.added_checks,
            ),
            means=_means(run, case, draft),
            closing_step=closing_assessment,
        )
        draft = _revised_draft(draft, verified, cited_date_sentence(verified.text, case))
        reason = stop_reason(run, case.ledger, draft)
        work_notices = await look_up_cited_works(phase, case.ledger, _cited_sources(draft, case.ledger))
        contact_notes = await method_notes(phase)
        limits = (
            *_stop_sentence(reason),
            *case.assumptions,
            *draft.limits,
            *closing_assessment.limits,
            *unmet_requests(run, case),
            *(language_gap_notes(run, case) if reason == "no_evidence" else ()),
            *work_notices,
            *withdrawn_works_note(verified.claims, case.ledger),
            *contact_notes,
            *private_documents_notice(run.brief),
        )
        phase.emit(
            ReportFinished(text_sha256=sha256(draft.text.encode()), limits=limits, stated=statements_in(draft.text))
        )
    return Outcome(stop_reason=reason, verified=verified.passed and run.brief.verify)


def _answering_passages(run: Run, draft: Draft, passages: Mapping[str, Passage]) -> frozenset[PassageLocation]:
    """The passages by which a model judged parts of the question to be answered; none if the built-in model did."""
    is_by_model = draft.judged and draft.written
    if not is_by_model or any(run.profile(role).quotes for role in ("simple", "complex")):
        return frozenset()
    ids = (id for part in draft.coverage if part.status == "answered" for id in part.passages)
    return frozenset(passages[id].location for id in ids if id in passages)


def _cited_sources(draft: Draft, ledger: Ledger) -> tuple[Source, ...]:
    """The sources of the passages that the report cites, each once."""
    ids = dict.fromkeys(passage.source for passage in resolve_citations(draft.text, ledger).passages)
    return tuple(source for id in ids if (source := ledger.source(id)) is not None)


def _means(run: Run, case: Case, draft: Draft) -> RepairMeans | None:
    """The means to repair the report; None if it must not be repaired, or states records."""
    if not run.brief.repair or draft.composed:
        return None
    return RepairMeans(
        ledger=case.ledger,
        tools=case.tools,
        repairs_off=run.brief.repairs_off,
        placeholder=nothing_found_text() if run.brief.template else "",
        retell=partial(update_date, case=case),
    )


def _revised_draft(draft: Draft, verified: VerifiedReport, date_text: str) -> Draft:
    if verified.text == draft.text:
        return draft
    limits = (date_text if statement_kind(limit) == "date" else limit for limit in draft.limits)
    return msgspec.structs.replace(draft, text=verified.text, limits=(*limits, *verified.limits))


def stop_reason(run: Run, ledger: Ledger, draft: Draft) -> str:
    """The limit that ended research, else whether anything was found and written up."""
    if run.exhausted:
        return run.exhausted
    cites = bool(resolve_citations(draft.text, ledger).passages)
    if draft.researched and (not draft.found or (draft.written and not cites)):
        return "no_evidence"
    return "done" if draft.written else "unwritten"


def _stop_sentence(reason: str) -> tuple[str, ...]:
    """The sentence on what ended the run, if a limit did; the draft itself says what a failed writer means."""
    return (_(STOP_REASONS[reason]),) if reason in LIMIT_REASONS and reason != "unwritten" else ()
