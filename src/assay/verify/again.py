"""Checks a verified report again, by today's rules and against the stored documents."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from assay.core.assurance import records
from assay.core.claims import HOLDING, Check, Claim, Summary, Verdict, summarize
from assay.core.report_sentences import ReportSentence, claims
from assay.core.translation import Phrases, spoken
from assay.core.usage import Usage
from assay.core.view import RunView
from assay.verify import gate
from assay.verify.checks import faults
from assay.verify.claim_check import ALL_OURS, CheckRules, CodeRuling, PendingClaim, Settled, settle


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
        """Whether no supported claim was lost and the documents are unchanged."""
        return not self.lost and not self.problems


class Reread(Settled, frozen=True, kw_only=True):
    """A run's report by today's rules."""

    view: RunView
    problems: tuple[str, ...]

    def with_opinions(self, opinions: Mapping[str, Check]) -> Rechecked:
        """The result for each claim; `opinions` are a judge's new verdicts, by claim."""
        checks = {**self.checks, **opinions}
        again = tuple(_again(claim, checks[claim.id]) for claim in self.view.claims)
        today = [msgspec.structs.replace(claim, verdict=checks[claim.id].verdict) for claim in self.view.claims]
        before = summarize(self.view.claims, self.view.summary.dropped_markers)
        return Rechecked(
            run_id=self.view.run_id,
            claims=again,
            before=before,
            now=summarize(today, before.dropped_markers),
            problems=self.problems,
            lost=tuple(each.id for each in again if each.before in HOLDING and each.now not in HOLDING),
            warnings=self.faults,
        )


def reread(view: RunView, text_of: gate.TextOf, rules: CheckRules = ALL_OURS) -> Reread:
    """Check every claim of a run's report against its documents by today's rules. Blocking."""
    cited = {id: view.passages[id] for claim in view.claims for id in claim.passages if id in view.passages}
    held = gate.documents(cited, text_of)
    with spoken(Phrases(stated=view.report.stated)):
        sentences = {sentence.start: sentence for sentence in claims(view.report.text)}
    found: list[PendingClaim] = []
    now: dict[str, CodeRuling] = {}
    for claim in view.claims:
        passages = tuple(cited[id] for id in claim.passages if id in cited)
        each = PendingClaim(
            claim.id, _sentence(claim, sentences.get(claim.start)), held.evidence(passages, view.sources)
        )
        found.append(each)
        now[claim.id] = _now(view, claim, each, rules)
    summary = summarize(view.claims, view.summary.dropped_markers)
    problems = (*records(view.report.text, view.claims, view.passages, tuple(view.sources), summary), *held.problems)
    return Reread(
        view=view,
        found=tuple(found),
        checks={id: ruling.check for id, ruling in now.items()},
        open=frozenset(id for id, ruling in now.items() if ruling.is_open),
        faults=faults(rules.added, (each for ruling in now.values() for each in ruling.findings)),
        problems=problems,
    )


def _sentence(claim: Claim, now: ReportSentence | None) -> ReportSentence:
    """The claim as a sentence to check: its words as the run recorded them, its markers as in the present text."""
    if now is None:
        return ReportSentence(id=claim.id, text=claim.text, start=claim.start, end=claim.end, role="fact", block=0)
    return msgspec.structs.replace(now, id=claim.id, text=claim.text)


def _again(claim: Claim, now: Check) -> Again:
    return Again(
        id=claim.id,
        text=claim.text,
        before=claim.verdict,
        now=now.verdict,
        rule=now.rule,
        reason=now.reason,
        passages=claim.passages,
    )


def _now(view: RunView, claim: Claim, found: PendingClaim, rules: CheckRules) -> CodeRuling:
    """Today's verdict. A claim that was not checked at all stays so."""
    last = _last(view.checks, claim)
    if last.rule == "off":
        return CodeRuling(check=last)
    ruling = settle(found.sentence, found.evidence, rules)
    stands = ruling.is_open and last.rule == "judge"  # the judge's verdict stands until a rule objects
    return msgspec.structs.replace(ruling, check=last) if stands else ruling


def _last(checks: Mapping[str, tuple[Check, ...]], claim: Claim) -> Check:
    found = checks.get(claim.id, ())
    return found[-1] if found else Check(rule="", verdict=claim.verdict, reason=claim.reason)
