"""Another passage for a claim: the best of those which may say it, checked like any citation."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import msgspec

from assay.core.claims import HOLDING
from assay.core.markers import parse
from assay.core.sources import Passage
from assay.run.run import Run
from assay.verify.claim_check import CheckRules, ClaimResult, check_claim, decided
from assay.verify.claims import ReportSentence
from assay.verify.evidence import ClaimEvidence
from assay.verify.evidence_index import EvidenceIndex
from assay.verify.verifier.verdicts import weigh

TRIED = 3
"""Passages tried for one claim."""
JUDGED = 2
"""Of the ways to cite a claim anew which code does not decide, so many are put to the judge."""
LIKELY = 0.5
"""The score of words from which a passage is better than what was objected to, though nothing is certain."""


async def recited(
    run: Run, held: EvidenceIndex, rules: CheckRules, checked: ClaimResult, passages: Sequence[Passage], *, asks: bool
) -> ClaimResult | None:
    """The claim with another citation, where that supports it; None where none does.

    Without a judge, what cited nothing or the wrong thing may come to rest on a passage which no rule objects to and
    whose words make it likely: it is `unchecked` then. What is contradicted needs to be supported elsewhere, and keeps
    what it cited as evidence against it. With `asks` False no judge is asked: only what code certifies counts.
    """
    open_ways: list[tuple[ReportSentence, ClaimEvidence]] = []
    for evidence in _ways(held, checked, passages[:TRIED]):
        sentence = citing(checked.sentence, [passage.id for passage in evidence.passages])
        check, findings = await asyncio.to_thread(decided, sentence, evidence, rules)
        if check is not None and check.verdict in HOLDING:
            after = ClaimResult(id=checked.id, sentence=sentence, evidence=evidence, check=check, findings=findings)
            return _disputed(checked, after)
        if check is None:
            open_ways.append((sentence, evidence))
    if rules.judged:
        open_ways = open_ways[: JUDGED if asks else 0]
    tried: list[ClaimResult] = []
    for sentence, evidence in open_ways:
        tried.append(await check_claim(run, checked.id, sentence, evidence, rules))
        if tried[-1].check.verdict in HOLDING:
            return _disputed(checked, tried[-1])
    return _likely(rules, checked, tried)


def _disputed(before: ClaimResult, after: ClaimResult) -> ClaimResult:
    """With what contradicted the claim before as evidence against it."""
    if before.check.verdict != "contradicted":
        return after
    against = tuple(each for each in before.evidence.passages if each.id not in after.passages)
    return msgspec.structs.replace(after, against=against)


def _likely(rules: CheckRules, checked: ClaimResult, tried: Sequence[ClaimResult]) -> ClaimResult | None:
    """The likeliest of what could not be decided, where nothing better may be had."""
    if rules.judged or checked.check.verdict != "unsupported" or checked.check.rule == "lexical":
        return None
    scored = [(_score(each), each) for each in tried if each.check.verdict == "unchecked"]
    best = max(scored, key=lambda pair: pair[0], default=(0.0, None))
    return best[1] if best[0] >= LIKELY else None


def _score(checked: ClaimResult) -> float:
    return weigh(checked.sentence.text, "\n\n".join(checked.evidence.texts)).score


def _ways(held: EvidenceIndex, checked: ClaimResult, passages: Sequence[Passage]) -> Iterator[ClaimEvidence]:
    """What the claim may cite instead: each passage alone, then two together, its own with the best among them."""
    for passage in passages:
        yield held.evidence([passage])
    if passages and checked.evidence.passages and checked.check.verdict != "contradicted":
        yield held.evidence([*checked.evidence.passages[:2], passages[0]])
    if len(passages) > 1:
        yield held.evidence(passages[:2])


def citing(sentence: ReportSentence, ids: Sequence[str]) -> ReportSentence:
    """The sentence with one marker of these passages in the place of its own; where it will stand is not known yet."""
    return msgspec.structs.replace(sentence, markers=tuple(parse(f"[{', '.join(ids)}]")))
