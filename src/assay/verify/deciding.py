"""A claim held against one text, by all that needs no model: the rules first, then the weight of words."""

from __future__ import annotations

import hashlib

import msgspec

from assay.core.claims import Check, Verdict
from assay.core.sources import Passage
from assay.verify import checks
from assay.verify.embedded.index import MOST
from assay.verify.embedded.model import model
from assay.verify.embedded.verdicts import weigh
from assay.verify.evidence import Evidence
from assay.verify.verbatim import verbatim

LONGEST_CLAIM = 5_000
"""Characters; a longer text is no claim, and what compares each figure with each would take long."""
VERBATIM = 0.99
"""The score of a claim which stands in the text word for word."""
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
    evidence = evidence_of(text)
    if verbatim(claim, evidence) is not None:
        return Decided(verdict="quoted", score=VERBATIM, rule="verbatim", reasons=("stands there word for word",))
    veto = objection(claim, evidence)
    weighed = weigh(claim, text)
    if veto is None:
        return Decided(verdict=weighed.verdict, score=weighed.score, rule="lexical", reasons=weighed.reasons)
    score = min(_VETOED, model().vetoed(weighed.score))
    return Decided(verdict=veto.verdict, score=score, rule=veto.rule, reasons=(veto.reason, *weighed.reasons))


def objection(claim: str, evidence: Evidence) -> Check | None:
    """What the deterministic rules object to, if anything."""
    return checks.veto(checks.examine(claim, evidence), evidence)


def evidence_of(text: str) -> Evidence:
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
    return Evidence(passages=(passage,), sources={})
