"""A claim held against one text, by all that needs no model: the rules first, then the weight of words."""

from __future__ import annotations

import hashlib
import re

import msgspec

from assay.core.claims import Check, Verdict
from assay.core.sources import Passage
from assay.verify import checks
from assay.verify.evidence import ClaimEvidence
from assay.verify.restatement import reworded
from assay.verify.verbatim import verbatim
from assay.verify.verifier.index import MOST
from assay.verify.verifier.verdicts import weigh

LONGEST_CLAIM = 5_000
"""Characters; a longer text is no claim, and what compares each figure with each would take long."""
VERBATIM = 0.99
"""The score of a claim which stands in the text word for word."""
_CITATION = re.compile(
    r"(?P<before>[^\s\[【]{0,20})"
    r"(?:[ \t]?(?:\[\^?\d{1,3}(?:[ ]?[,;–-][ ]?\^?\d{1,3}){0,20}\]|【\d{1,3}(?::\d{1,3})?†[^】\n]{0,80}】)){1,9}"
)
_VETOED = 0.49
"""The most a claim scores to which a rule objects."""


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """`rule` names what decided; `score` is the probability that the text supports the claim."""

    verdict: Verdict
    score: float
    rule: str
    reasons: tuple[str, ...]


def decide(claim: str, text: str) -> Decided:
    """Whether `text` supports `claim`. In the order of a run: word for word, the rules which can object, the weight."""
    for what, given, most in (("claim", claim, LONGEST_CLAIM), ("text", text, MOST)):
        if len(given) > most:
            reason = f"the {what} has more than {most:,} characters"
            return Decided(verdict="unchecked", score=0.5, rule="length", reasons=(reason,))
    claim, evidence = without_citations(claim, text), evidence_of(text)
    if verbatim(claim, evidence) is not None:
        return Decided(verdict="quoted", score=VERBATIM, rule="verbatim", reasons=("stands there word for word",))
    findings = checks.examine(claim, evidence)
    veto, doubt = checks.veto(claim, findings, evidence), checks.objection(findings, evidence)
    weighed = weigh(reworded(claim, findings), text, doubted=doubt is not None)
    said = (doubt.reason, *weighed.reasons) if doubt else weighed.reasons
    if veto is None:
        return Decided(verdict=weighed.verdict, score=weighed.score, rule="lexical", reasons=said)
    return Decided(verdict=veto.verdict, score=min(_VETOED, weighed.score), rule=veto.rule, reasons=said)


def without_citations(claim: str, text: str) -> str:
    """`claim` without citations by number (`[4]`, `[1, 3-5]`, `【1†…】`), which are no part of what it says.

    What `text` has just so, `arr[1]` perhaps, stays.
    """
    return _CITATION.sub(lambda found: found[0] if found[0] in text else found["before"], claim)


def objection(claim: str, evidence: ClaimEvidence) -> Check | None:
    """What the deterministic rules object to, if anything."""
    return checks.objection(checks.examine(claim, evidence), evidence)


def evidence_of(text: str) -> ClaimEvidence:
    """`text` as the only passage a claim cites."""
    data = text.encode(errors="surrogatepass")
    digest = hashlib.sha256(data).hexdigest()
    passage = Passage(
        id="the text",
        source="the text",
        document_sha256=digest,
        start=0,
        end=len(data),
        text=text,
        text_sha256=digest,
    )
    return ClaimEvidence(passages=(passage,), sources={})
