"""A claim held against one text, by all that needs no model: the rules first, then the weight of words."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import msgspec

from assay.core.claims import HOLDING, Check, Nearest, Verdict
from assay.core.sources import Passage
from assay.core.text import sentences
from assay.verify import checks
from assay.verify.evidence import ClaimEvidence, reworded
from assay.verify.quotes import verbatim
from assay.verify.verifier.index import MOST, WordToken, index, tokens, weight
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


# The passage nearest to a claim, and what it lacks of it: where nothing is certain, a reader looks there.

_LISTED = 8


def with_nearest(check: Check, claim: str, passages: Sequence[Passage]) -> Check:
    """`check` with the nearest of `passages`, where the claim does not hold and there is one."""
    if check.verdict in HOLDING or check.nearest is not None:
        return check
    found = nearest(claim, passages)
    return msgspec.structs.replace(check, nearest=found) if found else check


def nearest(claim: str, passages: Sequence[Passage]) -> Nearest | None:
    """The passage which has most of the claim's words by weight, the first of equals; None where no word is shared."""
    telling = _telling(claim)
    best, most = None, 0.0
    for passage in passages:
        missing = _missing(telling, passage)
        said = sum(map(weight, telling)) - sum(map(weight, missing))
        if said > most:
            listed = tuple(token.text for token in missing[:_LISTED])
            best, most = Nearest(passage=passage.id, missing=listed), said
    return best


def _telling(claim: str) -> list[WordToken]:
    """The distinct words, numbers and names of a claim, in order."""
    found: dict[str, WordToken] = {}
    for start, end in sentences(claim):
        for token in tokens(claim[start:end]):
            if token.content:
                found.setdefault(token.stem, token)
    return list(found.values())


def _missing(telling: Sequence[WordToken], passage: Passage) -> list[WordToken]:
    read = index(" \n".join((passage.text, *passage.above)))
    return [
        token for token in telling if token.stem not in read.places and (token.number or not read.alike(token.stem))
    ]
