"""Verification of a report: its claims, the checks, the repair, and the final gate; and the same once more, later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import msgspec

from assay.core.assurance import find_record_problems, unknown_marker_ids
from assay.core.brief import Brief
from assay.core.claims import HOLDING, Check, Claim, Relevance, Summary, Verdict, summarize
from assay.core.events import CitationsLocated, ClaimsGraded, VerifySummary
from assay.core.lazy import regex
from assay.core.markers import parse_markers
from assay.core.relevance import read_question
from assay.core.relevance.grades import CitedSentence, grade_sentences
from assay.core.report_sentences import ReportSentence, claims
from assay.core.sources import Passage, Source
from assay.core.tables.table_questions import answer_question
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
    EvidenceIndex,
    HeldPassages,
    TextOf,
    claims_by_start,
    compare_with_documents,
    find_unrecorded,
)
from assay.verify.judge import has_judge
from assay.verify.proofreader import Proofreader, VerificationStart, carry_ids
from assay.verify.repair.mender import Mender, RepairedReport

# How far the claims answer the question: each is compared with it, together with its evidence.

FEW = 2
"""The least keys of a question that can be understood without the one before it in the conversation."""
_MARKS = "?？؟"
_AFTER_MARK = regex(rf"(?<=[{_MARKS}])")


async def grade_relevance(
    run: Run, checked: Sequence[ClaimResult], sources: Mapping[str, Source], *, found: bool = True, read_as: str = ""
) -> tuple[ClaimResult, ...]:
    """Grade how far each claim answers the run's question, `read_as` it was understood, and log it.

    Nothing answers it in a report that says so: it is not `found`, and shows what is nearest.
    """
    asked = run_questions(run.brief, read_as)
    sentences = [_cited_sentence(each, sources) for each in checked]

    def work() -> list[Relevance]:
        words = grade_sentences(asked, sentences, run.rarity)
        if not found:
            return ["related" if word == "answers" else word for word in words]
        return ["answers" if is_answer(each, asked) else word for each, word in zip(checked, words, strict=True)]

    grades = await asyncio.to_thread(work)
    run.emit(ClaimsGraded(relevance={each.id: word for each, word in zip(checked, grades, strict=True)}))
    return tuple(msgspec.structs.replace(each, relevance=word) for each, word in zip(checked, grades, strict=True))


def is_answer(each: ClaimResult, asked: Sequence[str]) -> bool:
    """True if a claim is what its cited tables return for one of the questions.

    Then every name and number of the question is accounted for, which its words alone ("longest" of a length) do not
    show.
    """
    if each.check.rule != "field":
        return False
    tables = each.evidence.tables()
    found = (answer_question(question, tables) for question in asked) if tables else ()
    return any(each.sentence.text == reply.text for one in found if one is not None for reply in one.answers)


def run_questions(brief: Brief, read_as: str = "") -> tuple[str, ...]:
    """The question of a run, as it was read, and its parts that are questions themselves.

    One that says too little alone is joined with the one before it.
    """
    text = read_as or brief.question
    asked = read_question(text)
    if (asked.elliptical or len(asked.keys) < FEW) and brief.conversation:
        before = next((message.text for message in reversed(brief.conversation) if message.by == "user"), "")
        text = f"{before} {text}".strip()
    ended = [each.strip() for each in _AFTER_MARK.split(text) if each[-1:] in _MARKS]
    parts = [each for each in ended if each.strip(_MARKS)]
    return (text, *parts) if len(parts) > 1 else (text,)


def _cited_sentence(each: ClaimResult, sources: Mapping[str, Source]) -> CitedSentence:
    cited = each.evidence.passages
    first = cited[0] if cited else None
    return CitedSentence(
        text=each.sentence.text,
        cited=" ".join(passage.text for passage in cited),
        heading=" > ".join(first.heading) if first is not None else "",
        framed=each.sentence.role == "frame",
        title=sources[first.source].title if first is not None and first.source in sources else "",
    )


Closing = Callable[[Run, RepairedReport, Sequence[ClaimResult]], RepairedReport]


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

    `proofreader` has found and checked claims while it was written, as it `streamed`; they are neither logged nor
    checked again. `found` is False if it only says that nothing was found, with the nearest passages. `question` is
    the one it answers, as triage read it.
    """

    text: str
    streamed: str = ""
    found: bool = True
    question: str = ""
    proofreader: Proofreader | None = None


async def verify_report(
    run: Run,
    report: WrittenReport,
    held: EvidenceIndex,
    rules: CheckRules,
    *,
    means: RepairMeans | None = None,
    closing: Closing | None = None,
) -> VerifiedReport:
    """Find the claims of `report`, check each against its evidence, repair failing ones, and pass the gate.

    Args:
        run: where events go; reading, judging, model calls and searches are steps of it.
        report: the text with the claims.
        held: every passage shown in the run, and every source.
        rules: if not `enabled`, every claim is `unchecked(off)`, and without sources `unchecked(no sources)`; the gate
            is still passed. Whether there is a judge is determined here.
        means: what repair works with; without it nothing is repaired.
        closing: changes the text last, before the gate, if claims are checked; it gets the removed claims.
    """
    judged = rules.enabled and "judge" not in rules.off and has_judge(run)
    rules = msgspec.structs.replace(rules, judged=judged)
    proofreader, checkable = report.proofreader, rules.enabled and rules.has_sources
    known = await proofreader.close() if proofreader is not None else VerificationStart(Checks(run, rules))
    found = await find_claims(run, report.text, held, known, report.streamed)
    checked = await check_all(run, found, rules, known.emit_checked, known.checks)
    for fault in fault_messages(rules.added, (each for one in checked for each in one.findings)):
        run.warn(fault)
    repaired = RepairedReport(text=report.text, checked=checked)
    if means is not None and checkable:
        repaired = await Mender(run, held, rules, means).repair(report.text, checked)
        await _look_up_citations(run, found, repaired, held)
    if closing is not None and checkable:
        kept = {each.id for each in repaired.checked}
        repaired = closing(run, repaired, [each for each in checked if each.id not in kept])
    if rules.enabled:
        answering = await grade_relevance(
            run, repaired.checked, held.sources, found=report.found, read_as=report.question
        )
        repaired = msgspec.structs.replace(repaired, checked=answering)
    return _pass_gate(run, repaired, held)


# claims


async def find_claims(
    run: Run, report: str, held: EvidenceIndex, known: VerificationStart, streamed: str = ""
) -> tuple[PendingClaim, ...]:
    """Find the claims of `report` and their passages, compare these with the stored documents, and log each claim.

    Claims of the report as it `streamed` keep their ids.
    """
    cited = held.citable_ids.claims_with_passages(claims(report))
    named = _cited_passages(report, held.passages) | {each.id: each for _, passages in cited for each in passages}
    await held.check_passages(run, named.values())
    if located := held.surroundings(named):
        run.emit(CitationsLocated(passages=located))
    ids = carry_ids(claims(streamed), [sentence for sentence, _ in cited]) if streamed else {}
    found = tuple(
        PendingClaim(ids.get(sentence.id, sentence.id), sentence, held.claim_evidence(passages))
        for sentence, passages in cited
    )
    for each in found:
        known.emit_found(run, each)
    return found


def _cited_passages(report: str, passages: Mapping[str, Passage]) -> dict[str, Passage]:
    """All passages the report names, in its order."""
    return {id: passages[id] for marker in parse_markers(report) for id in marker.ids if id in passages}


# the gate


async def _look_up_citations(
    run: Run, found: Sequence[PendingClaim], repaired: RepairedReport, held: EvidenceIndex
) -> None:
    """Look up what is cited now; readers get the places if the citations have changed."""
    before = {passage.id for each in found for passage in each.evidence.passages}
    now = _cited_ids(repaired, held)
    await held.check_passages(run, (held.passages[id] for id in now))
    if not before.issuperset(now) and (located := held.surroundings(now)):
        run.emit(CitationsLocated(passages=located))


def _cited_ids(repaired: RepairedReport, held: EvidenceIndex) -> dict[str, None]:
    """The ids of all passages that a report names or its claims rest on."""
    resting = (id for checked in repaired.checked for id in checked.passages)
    return dict.fromkeys((*_cited_passages(repaired.text, held.passages), *resting))


def _pass_gate(run: Run, repaired: RepairedReport, held: EvidenceIndex) -> VerifiedReport:
    final = tuple(checked.claim for checked in repaired.checked)
    dropped = unknown_marker_ids(repaired.text, held.passages.keys() | held.sources.keys())
    summary = summarize(final, len(dropped))
    problems = (
        *find_record_problems(repaired.text, final, held.passages, tuple(held.sources), summary),
        *(find_unrecorded(repaired.text, final) if final else ()),
        *held.problems(_cited_ids(repaired, held)),
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
        again = tuple(_rechecked_claim(claim, checks[claim.id]) for claim in self.view.claims)
        today = [msgspec.structs.replace(claim, verdict=checks[claim.id].verdict) for claim in self.view.claims]
        before = summarize(self.view.claims, self.view.summary.dropped_markers)
        return Rechecked(
            run_id=self.view.run_id,
            claims=again,
            before=before,
            now=summarize(today, before.dropped_markers),
            problems=self.problems,
            lost=tuple(each.id for each in again if each.before in HOLDING and each.now not in HOLDING),
            warnings=self.fault_messages,
        )


def recheck_by_code(view: RunView, text_of: TextOf, rules: CheckRules = DEFAULT_RULES) -> RereadReport:
    """Check every claim of a run's report against its documents by today's rules. Blocking."""
    cited = {id: view.passages[id] for claim in view.claims for id in claim.passages if id in view.passages}
    held = HeldPassages(view.sources)
    held.add_documents(compare_with_documents(cited, text_of))
    with use_phrases(Phrases(statements=view.report.stated)):
        sentences = claims_by_start(view.report.text)
    found: list[PendingClaim] = []
    now: dict[str, CodeRuling] = {}
    for claim in view.claims:
        passages = tuple(cited[id] for id in claim.passages if id in cited)
        each = PendingClaim(claim.id, _sentence(claim, sentences.get(claim.start)), held.claim_evidence(passages))
        found.append(each)
        now[claim.id] = _current_ruling(view, claim, each, rules)
    summary = summarize(view.claims, view.summary.dropped_markers)
    recorded = find_record_problems(view.report.text, view.claims, view.passages, tuple(view.sources), summary)
    return RereadReport(
        view=view, found=tuple(found), rulings=now, added=rules.added, problems=(*recorded, *held.problems(cited))
    )


def _sentence(claim: Claim, now: ReportSentence | None) -> ReportSentence:
    """The claim as a sentence to check: its words as the run recorded them, its markers as in the present text."""
    if now is None:
        return ReportSentence(id=claim.id, text=claim.text, start=claim.start, end=claim.end, role="fact", block=0)
    return msgspec.structs.replace(now, id=claim.id, text=claim.text)


def _rechecked_claim(claim: Claim, now: Check) -> Again:
    return Again(
        id=claim.id,
        text=claim.text,
        before=claim.verdict,
        now=now.verdict,
        rule=now.rule,
        reason=now.reason,
        passages=claim.passages,
    )


def _current_ruling(view: RunView, claim: Claim, found: PendingClaim, rules: CheckRules) -> CodeRuling:
    """Today's verdict. A claim that was not checked at all stays so."""
    last = _last_check(view.checks, claim)
    if last.rule == "off":
        return CodeRuling(check=last)
    ruling = code_ruling(found.sentence, found.evidence, rules)
    stands = ruling.is_open and last.rule == "judge"  # the judge's verdict stands until a rule objects
    return msgspec.structs.replace(ruling, check=last) if stands else ruling


def _last_check(checks: Mapping[str, tuple[Check, ...]], claim: Claim) -> Check:
    found = checks.get(claim.id, ())
    return found[-1] if found else Check(rule="", verdict=claim.verdict, reason=claim.reason)
