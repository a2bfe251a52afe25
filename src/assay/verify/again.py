"""A report that was verified before, checked by the rules of today against the documents as they are stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from assay.core.claims import Check, Claim, Summary, Verdict, summarize
from assay.core.integrity import records
from assay.core.view import RunView
from assay.verify import gate
from assay.verify.checks import check, firsthand
from assay.verify.claims import Sentence, claims
from assay.verify.evidence import Evidence
from assay.verify.rows import compared

_WEIGHED = frozenset(("lexical", "judge"))


class Again(msgspec.Struct, frozen=True, kw_only=True):
    """A claim's verdict as the run gave it (`before`), and as it is `now`, with what decides it and why."""

    id: str
    text: str
    before: Verdict
    now: Verdict
    rule: str
    reason: str
    passages: tuple[str, ...]


class Rechecked(msgspec.Struct, frozen=True, kw_only=True):
    """A run's report, checked again. `problems` are what the final gate says of it and of the documents now.

    `lost` are the ids of claims which were supported and no longer are.
    """

    run_id: str
    claims: tuple[Again, ...]
    before: Summary
    now: Summary
    problems: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing that was supported is lost, and the documents are what they were."""
        return not self.lost and not self.problems


def recheck(view: RunView, text_of: gate.TextOf, off: Collection[str] = ()) -> Rechecked:
    """Check every claim of a run's report again; rules in `off` are not asked. Blocking."""
    cited = {id: view.passages[id] for claim in view.claims for id in claim.passages if id in view.passages}
    held = gate.documents(cited, text_of)
    cut = (frozenset(held.cut_before), frozenset(held.cut_after))
    sentences = {sentence.start: sentence for sentence in claims(view.report.text)}
    found: list[Again] = []
    for claim in view.claims:
        passages = tuple(cited[id] for id in claim.passages if id in cited)
        evidence = Evidence(passages=passages, sources=view.sources, cut_before=cut[0], cut_after=cut[1])
        now = _now(view, claim, sentences.get(claim.start), evidence, off)
        found.append(_again(claim, now))
    verdicts = {each.id: each.now for each in found}
    today = [msgspec.structs.replace(claim, verdict=verdicts[claim.id]) for claim in view.claims]
    before = summarize(view.claims, view.summary.dropped_markers)
    problems = (*records(view.report.text, view.claims, view.passages, tuple(view.sources), before), *held.problems)
    lost = tuple(each.id for each in found if each.before == "supported" != each.now)
    return Rechecked(
        run_id=view.run_id,
        claims=tuple(found),
        before=before,
        now=summarize(today, before.dropped_markers),
        problems=problems,
        lost=lost,
    )


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


def _now(view: RunView, claim: Claim, sentence: Sentence | None, evidence: Evidence, off: Collection[str]) -> Check:
    """The verdict of today; what was not checked at all stays so."""
    last = _last(view.checks, claim)
    if last.rule == "off":
        return last
    table = compared(claim.text, sentence.head if sentence else (), evidence, off)
    result = table or check(claim.text, evidence, marked=bool(sentence and sentence.markers), off=off)
    if last.rule == "judge" and result.rule in _WEIGHED:  # its word stands until a rule objects
        return last
    return firsthand(result, evidence)


def _last(checks: Mapping[str, tuple[Check, ...]], claim: Claim) -> Check:
    found = checks.get(claim.id, ())
    return found[-1] if found else Check(rule="", verdict=claim.verdict, reason=claim.reason)
