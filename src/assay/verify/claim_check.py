"""Checks one claim: first without a model; in a run with a judge, the judge decides what that leaves open.

It also declares what repair of failing claims works with.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import msgspec

from assay.core.claims import Check, Claim, Relevance, RepairName, Verdict
from assay.core.events import ClaimChecked
from assay.core.lazy import regex
from assay.core.report_sentences import ReportSentence
from assay.core.sources import Passage, sha256
from assay.evidence.ledger import Ledger
from assay.run.protocols import Tool
from assay.run.run import Branch, Handle, Run
from assay.verify.checks import (
    NO_CITATION,
    NO_SHARED_WORD,
    NO_SOURCES,
    OFF,
    AddedCheck,
    apply_rules,
    drop_faults,
    examine,
    fault_messages,
    lower_hearsay,
    objection,
    veto,
    weigh_wordings,
    weigh_words,
)
from assay.verify.evidence import ClaimEvidence, SlotFinding, text_evidence
from assay.verify.evidence_index import has_inherited_citation
from assay.verify.judge import ask_judge
from assay.verify.judge.control import is_trusted
from assay.verify.rows import check_row
from assay.verify.rules.quotes import verbatim_passage
from assay.verify.verifier.index import MAX_EVIDENCE_CHARS, add_nearest

# Compares a claim with one text: first the rules, then the weight of words.

MAX_CLAIM_CHARS = 5_000
"""Characters. A longer text is not a claim, and comparing each of its figures with each other takes long."""
VERBATIM_SCORE = 0.99
"""The score of a claim that the text states word for word."""
_CITATION = regex(
    r"(?P<before>[^\s\[【]{0,20})"
    r"(?:[ \t]?(?:\[\^?\d{1,3}(?:[ ]?[,;–-][ ]?\^?\d{1,3}){0,20}\]|【\d{1,3}(?::\d{1,3})?†[^】\n]{0,80}】)){1,9}"
)
_MAX_VETOED_SCORE = 0.49
"""The highest score of a claim to which a rule objects."""


class RuleDecision(msgspec.Struct, frozen=True, kw_only=True):
    """`rule` names what decided; `score` is the probability that the text supports the claim.

    `findings` are what the rules found on the way.
    """

    verdict: Verdict
    score: float
    rule: str
    reasons: tuple[str, ...]
    findings: tuple[SlotFinding, ...] = ()


def decide(claim: str, text: str, added_checks: Sequence[AddedCheck] = ()) -> RuleDecision:
    """Decide whether `text` supports `claim`, in the order of a run: word for word, rules that object, weight of
    words. `added_checks` are checks of other packages, asked after ours.
    """
    for name, value, max_chars in (("claim", claim, MAX_CLAIM_CHARS), ("text", text, MAX_EVIDENCE_CHARS)):
        if len(value) > max_chars:
            reason = f"the {name} has more than {max_chars:,} characters"
            return RuleDecision(verdict="unchecked", score=0.5, rule="length", reasons=(reason,))
    claim, evidence = without_citations(claim, text), text_evidence(text)
    if verbatim_passage(claim, evidence) is not None:
        reasons: tuple[str, ...] = ("stands there word for word",)
        return RuleDecision(verdict="quoted", score=VERBATIM_SCORE, rule="verbatim", reasons=reasons)
    findings = examine(claim, evidence, added_checks=added_checks)
    veto_check, doubt = veto(claim, findings, evidence), objection(findings, evidence)
    weighed = weigh_wordings(claim, findings, text, is_doubted=doubt is not None)
    reasons = (ruling.reason, *weighed.reasons) if (ruling := veto_check or doubt) else weighed.reasons
    if veto_check is None:
        verdict, score, rule = weighed.verdict, weighed.score, "lexical"
    else:
        verdict, score, rule = veto_check.verdict, min(_MAX_VETOED_SCORE, weighed.score), veto_check.rule
    return RuleDecision(verdict=verdict, score=score, rule=rule, reasons=reasons, findings=findings)


def without_citations(claim: str, text: str) -> str:
    """Remove numbered citations (`[4]`, `[1, 3-5]`, `【1†…】`) from `claim`.

    Those that `text` itself contains, such as `arr[1]`, stay.
    """
    return _CITATION.sub(lambda found: found[0] if found[0] in text else found["before"], claim)


CLAIMS_AT_ONCE = 8
"""How many claims the judge or repair handle at a time."""
CLAIMS_PER_GROUP = 16
"""How many claims code checks in one go before reporting them: a thread for each would cost as much as some checks."""


class CheckRules(msgspec.Struct, frozen=True, kw_only=True):
    """How claims are checked: `checks_off` are rules to skip, `uses_judge` says that there is a judge.

    `added_checks` are checks of other packages. `inherits` says that a sentence without a citation uses the
    evidence of the next citation after it. If not `enabled`, or without sources (an answer from the model alone),
    every claim stays unchecked.
    """

    enabled: bool = True
    has_sources: bool = True
    checks_off: tuple[str, ...] = ()
    added_checks: tuple[AddedCheck, ...] = ()
    uses_judge: bool = False
    inherits: bool = True


DEFAULT_RULES = CheckRules()


class RepairMeans(msgspec.Struct, frozen=True, kw_only=True):
    """The means to repair a report.

    `ledger` sees all lanes; `tools` are the run's own; `repairs_off` names stages to skip. `placeholder` is the line
    under a heading that stays without its content ("": such a heading is removed). `retell` corrects what the text
    says about itself (its date) after a change.
    """

    ledger: Ledger
    tools: Mapping[str, Tool]
    repairs_off: tuple[RepairName, ...] = ()
    placeholder: str = ""
    retell: Callable[[str], str] = str


class ClaimResult(msgspec.Struct, frozen=True, kw_only=True):
    """A checked claim: its id, its sentence in the present text, what it cites, and the result.

    The id is permanent; `sentence.id` counts the claims of the present text. `against` are passages that contradict it;
    `relevance`, how far it answers the question, is set at the end.
    """

    id: str
    sentence: ReportSentence
    evidence: ClaimEvidence
    check: Check
    findings: tuple[SlotFinding, ...] = ()
    against: tuple[Passage, ...] = ()
    relevance: Relevance = ""

    @property
    def passages(self) -> tuple[str, ...]:
        """The ids of the passages it cites."""
        return tuple(passage.id for passage in self.evidence.passages)

    @property
    def event(self) -> ClaimChecked:
        """The event that logs the result."""
        check = self.check
        return ClaimChecked(
            id=self.id,
            rule=check.rule,
            verdict=check.verdict,
            reason=check.reason,
            against=self.against,
            nearest=check.nearest,
        )

    @property
    def claim(self) -> Claim:
        """The claim as readers get it."""
        return Claim(
            id=self.id,
            text=self.sentence.text,
            start=self.sentence.start,
            end=self.sentence.end,
            passages=self.passages,
            verdict=self.check.verdict,
            reason=self.check.reason,
            against=tuple(passage.id for passage in self.against),
            inherited=has_inherited_citation(self.sentence, self.evidence.passages),
            relevance=self.relevance,
        )


async def check_claim(
    run: Run, id: str, sentence: ReportSentence, evidence: ClaimEvidence, rules: CheckRules
) -> ClaimResult:
    """Check one claim, in the order of docs/verification.md. Emits nothing.

    Args:
        run: a place for this claim alone, since the judge's calls are steps of it.
        id: the claim's.
        sentence: its text and its markers.
        evidence: what it cites.
        rules: how to check.
    """
    if not rules.uses_judge:
        return await asyncio.to_thread(check_without_judge, id, sentence, evidence, rules)
    check, findings = await asyncio.to_thread(decide_by_code, sentence, evidence, rules)
    if check is None:
        ruling = await ask_judge(run, sentence.text, evidence, drop_faults(findings), sentence.head)
        check = ruling.check
        if check.verdict == "supported" and not await is_trusted(run, ruling.model):
            check = weigh_words(sentence.text, evidence, findings, rules.checks_off)
    final_check = _with_nearest(check, sentence, evidence, rules)
    return ClaimResult(id=id, sentence=sentence, evidence=evidence, check=final_check, findings=findings)


def check_without_judge(id: str, sentence: ReportSentence, evidence: ClaimEvidence, rules: CheckRules) -> ClaimResult:
    """Check a claim without a judge: by the rules, else by the weight of its words."""
    ruling = code_ruling(sentence, evidence, rules)
    return ClaimResult(id=id, sentence=sentence, evidence=evidence, check=ruling.check, findings=ruling.findings)


def decide_by_code(
    sentence: ReportSentence, evidence: ClaimEvidence, rules: CheckRules
) -> tuple[Check | None, tuple[SlotFinding, ...]]:
    """The verdict that code can give alone, None if it cannot, and its findings."""
    if not rules.enabled:
        return OFF, ()
    if not rules.has_sources:
        return NO_SOURCES, ()
    table = check_row(sentence.text, sentence.head, evidence, rules.checks_off)
    if table is not None:
        return lower_hearsay(table, evidence), ()
    if evidence.is_unrelated(sentence.markers):
        return NO_SHARED_WORD, ()
    check, findings = apply_rules(sentence.text, evidence, bool(sentence.markers), rules.checks_off, rules.added_checks)
    return (lower_hearsay(check, evidence) if check else None), findings


class CodeRuling(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict by code with its findings; `is_open` if it rests only on the weight of words."""

    check: Check
    is_open: bool = False
    findings: tuple[SlotFinding, ...] = ()


def code_ruling(sentence: ReportSentence, evidence: ClaimEvidence, rules: CheckRules) -> CodeRuling:
    """The verdict by code; if it is open, a judge may be asked."""
    check, findings = decide_by_code(sentence, evidence, rules)
    code_check = check or weigh_words(sentence.text, evidence, findings, rules.checks_off)
    final_check = _with_nearest(code_check, sentence, evidence, rules)
    return CodeRuling(check=final_check, is_open=check is None, findings=findings)


def _with_nearest(check: Check, sentence: ReportSentence, evidence: ClaimEvidence, rules: CheckRules) -> Check:
    """A check as readers get it: with the nearest passage, if the claim was checked and does not hold.

    If an inherited citation does not support a claim, the claim counts as uncited.
    """
    if check.rule == "off":
        return check
    result = lower_hearsay(check, evidence)
    is_unsure = result.rule == "lexical" and result.verdict == "unchecked"
    failed = is_unsure or result.verdict in ("unsupported", "contradicted")
    if failed and rules.inherits and has_inherited_citation(sentence, evidence.passages):
        result = NO_CITATION
    return add_nearest(result, sentence.text, evidence.passages)


class PendingClaim(msgspec.Struct, frozen=True):
    """A claim of the report that is still to be checked."""

    id: str
    sentence: ReportSentence
    evidence: ClaimEvidence


class RuledClaims(msgspec.Struct, frozen=True, kw_only=True):
    """Claims with what code rules on each, by its id; `added_checks` are the checks of other packages that were
    asked.
    """

    pending_claims: tuple[PendingClaim, ...]
    rulings: Mapping[str, CodeRuling]
    added_checks: tuple[AddedCheck, ...] = ()

    def open_claims(self) -> tuple[PendingClaim, ...]:
        """The open claims, for a judge."""
        return tuple(claim for claim in self.pending_claims if self.rulings[claim.id].is_open)

    def final_checks(self, opinions: Mapping[str, Check]) -> dict[str, Check]:
        """The verdict on each claim; `opinions` are a judge's, by claim."""
        return {id: opinions.get(id, ruling.check) for id, ruling in self.rulings.items()}

    @property
    def fault_messages(self) -> tuple[str, ...]:
        """Messages about failed checks of other packages."""
        findings = (finding for ruling in self.rulings.values() for finding in ruling.findings)
        return fault_messages(self.added_checks, findings)


class Checks:
    """Checks claims, `CLAIMS_AT_ONCE` with the judge at a time; the same sentence with the same evidence only once.

    Each claim is checked at its own place, named by what it says and cites. So its result does not depend on when or
    with what others it was begun, and what was judged before a process died is not judged again.
    """

    def __init__(self, run: Run, rules: CheckRules) -> None:
        """`run` is the place below which claims are checked."""
        self.rules = rules
        self._run = run.child("claims")
        self._tasks: dict[str, Handle[ClaimResult]] = {}
        self._results: dict[str, ClaimResult] = {}
        self._waiting: set[str] = set()
        self._free = asyncio.Semaphore(CLAIMS_AT_ONCE if rules.uses_judge else 1)  # code alone waits for nothing

    async def check(self, claim: PendingClaim) -> ClaimResult:
        """Check a claim, or return the earlier result."""
        key = _claim_key(claim)
        if key not in self._tasks and key not in self._results:
            self._waiting.add(key)
            self._tasks[key] = self._run.in_background(key, partial(self._check, key=key, claim=claim))
        result = self._results[key] if key in self._results else await self._tasks[key].result()
        return msgspec.structs.replace(result, id=claim.id, sentence=claim.sentence, evidence=claim.evidence)

    async def check_by_code(self, claims: Sequence[PendingClaim]) -> None:
        """Check claims without a judge in one thread, except those already begun."""
        fresh = {
            key: claim for claim in claims if (key := _claim_key(claim)) not in self._tasks and key not in self._results
        }

        def work() -> dict[str, ClaimResult]:
            return {
                key: check_without_judge(claim.id, claim.sentence, claim.evidence, self.rules)
                for key, claim in fresh.items()
            }

        if fresh:
            self._results |= await asyncio.to_thread(work)

    def drop_waiting(self) -> None:
        """Drop claims that wait for their turn; checks in progress go on."""
        for key in self._waiting:
            self._tasks.pop(key).cancel()
        self._waiting.clear()

    async def _check(self, run: Run, key: str, claim: PendingClaim) -> ClaimResult:
        async with self._free:
            self._waiting.discard(key)
            return await check_claim(run, claim.id, claim.sentence, claim.evidence, self.rules)


def _claim_key(claim: PendingClaim) -> str:
    """A name for everything that a claim's check depends on."""
    sentence, evidence = claim.sentence, claim.evidence
    unrelated = (True,) if evidence.is_unrelated(sentence.markers) else ()
    parts = (sentence.text, bool(sentence.markers), sentence.head, evidence.plain_data(), *unrelated)
    return sha256(msgspec.json.encode(parts, order="deterministic"))[:24]


async def check_all(
    run: Run,
    claims: Sequence[PendingClaim],
    rules: CheckRules,
    notify: Callable[[Run, ClaimResult], None],
    checks: Checks | None = None,
) -> tuple[ClaimResult, ...]:
    """Check claims. `notify` is called with each once it is checked, in groups of `CLAIMS_PER_GROUP` if there is no
    judge.

    With a judge each claim has its own place, named by its id: nothing depends on which is checked first.
    `final_checks` may know some already.
    """
    checks = checks or Checks(run, rules)
    if not rules.uses_judge:
        results = []
        for first in range(0, len(claims), CLAIMS_PER_GROUP):
            group = claims[first : first + CLAIMS_PER_GROUP]
            await checks.check_by_code(group)
            for claim in group:
                results.append(await checks.check(claim))
                notify(run, results[-1])
        return tuple(results)

    async def check_one(claim_run: Run, claim: PendingClaim) -> ClaimResult:
        result = await checks.check(claim)
        notify(claim_run, result)
        return result

    return tuple(await run.gather(*(Branch(claim.id, partial(check_one, claim=claim)) for claim in claims)))
