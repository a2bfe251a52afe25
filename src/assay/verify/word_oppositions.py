"""Whether the evidence says, in the place where the claim says one of a few words, another of them.

Direction, quantifiers and negation are compared in one way: each word has a sense out of a small set, and the word of
the evidence which fits the claim's other words best is what counts (`verify.slot_places`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.verify.analyzed_text import AnalyzedText, Texts
from assay.verify.evidence import ClaimSlot, Rule, SlotFinding
from assay.verify.negation import denied
from assay.verify.slot_places import EvidenceSpan, bind, context

RATIO = 1.1
"""How many times as well as the claim's sense another must fit."""


def find(
    rule: Rule,
    senses: Mapping[str, str],
    against: Mapping[str, frozenset[str]],
    claim: AnalyzedText,
    texts: Texts,
    at_least: float,
) -> Iterator[SlotFinding]:
    """A finding for each word of the claim which has a sense, where the evidence has a word for it at all.

    Args:
        rule: whose findings these are.
        senses: the sense of each word, in lower case, which has one that matters here.
        against: the senses which exclude a sense.
        claim: the claim, read.
        texts: what it is held against.
        at_least: how well an excluding word must fit its place to be a veto.
    """
    turned = denied(claim)  # "it did not rise" says nothing against "it fell"
    slots = [
        (index, meant)
        for index in range(len(claim.words))
        if index not in turned and (meant := _sense(claim, index, senses))
    ]
    if not slots:
        return
    places = [
        (EvidenceSpan(passage, index), meant)
        for passage, reading in enumerate(texts.readings)
        for index in range(len(reading.words))
        if (meant := _sense(reading, index, senses))
    ]
    for index, meant in slots:
        same = {place: other == meant for place, other in places if other == meant or other in against[meant]}
        if same:
            yield _find(rule, claim, index, texts, same, at_least)


def _sense(reading: AnalyzedText, index: int, senses: Mapping[str, str]) -> str:
    word = reading.words[index]
    return senses.get(word.text.lower(), "") if word.kind in ("word", "name") else ""


def _find(
    rule: Rule, claim: AnalyzedText, index: int, texts: Texts, same: dict[EvidenceSpan, bool], at_least: float
) -> SlotFinding:
    """What was found of a word; `same` says of each place whether it has the word's sense, or one against it."""
    bound = bind(context(claim, (index,)), texts.readings, same, same.__getitem__)
    slot = ClaimSlot(claim.words[index].text, *claim.origin(index, index))
    if bound.other is None or not bound.conflicts(at_least=at_least, ratio=RATIO):
        return SlotFinding(rule=rule, slot=slot, outcome="stated" if bound.same else "absent")
    reading = texts.readings[bound.other.passage]
    said, passage = reading.words[bound.other.index].text, texts.passages[bound.other.passage]
    return SlotFinding(rule=rule, slot=slot, outcome="conflict", said=said, passage=passage, veto=True)
