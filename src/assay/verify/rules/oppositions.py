"""Checks whether the claim says up where the evidence says down, or all, first, most for some, last, least.

Directions and quantifiers are compared in the same way: each word has a sense from a small set, and the word of the
evidence that best fits the claim's other words counts (`verify.evidence`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import msgspec

from assay.verify.analyzed_text import AnalyzedText, Texts
from assay.verify.evidence import ClaimSlot, EvidenceSpan, SlotFinding, bind, context
from assay.verify.rules.negation import denied

DIRECTION_FITS = 0.7
QUANTIFIER_FITS = 0.6
"""How well an opposing word must fit its place to be a veto.

Set like `RATIO`; directions were made stricter after totals of its report part had been seen.
"""
RATIO = 1.1
"""How many times as well as the claim's sense another must fit.

Set with `bench mutations --part train` (docs/verification.md, Mutations).
"""

_UP = """
rise rises rose risen rising increase increases increased increasing grow grows grew grown growing growth gain gains
gained climb climbs climbed surge surges surged soar soared jump jumped expand expanded expansion accelerate
accelerated improve improved improvement higher upward upwards uptick raise raised double doubled triple tripled more
warmer
"""
_DOWN = """
fall falls fell fallen falling decrease decreases decreased decreasing decline declines declined declining drop drops
dropped shrink shrinks shrank shrunk plunge plunged plummet plummeted slump slumped contract contracted contraction
slow slowed lower downward downwards downturn reduce reduced reduction worsen worsened dip dipped halve halved lose
lost loss less fewer cooler
"""
_SENSES = {
    word: sense
    for sense, words in {
        "all": "all every each entire whole always everyone everything everywhere",
        "most": "most mostly majority usually generally often largely",
        "some": "some several sometimes partly certain occasionally",
        "few": "few rarely seldom minority hardly",
        "none": "none nobody never neither",
        "highest": "highest largest biggest greatest best longest oldest strongest fastest heaviest tallest maximum",
        "lowest": "lowest smallest least worst shortest youngest weakest slowest lightest minimum",
        "first": "first earliest",
        "last": "last latest final",
        "before": "before prior",
        "after": "after following",
    }.items()
    for word in words.split()
}
_AGAINST = {
    "all": frozenset({"some", "few", "none", "most"}),
    "most": frozenset({"few", "none", "all", "some"}),
    "some": frozenset({"all", "none", "most"}),
    "few": frozenset({"all", "most"}),
    "none": frozenset({"all", "most", "some"}),
    "highest": frozenset({"lowest"}),
    "lowest": frozenset({"highest"}),
    "first": frozenset({"last"}),
    "last": frozenset({"first"}),
    "before": frozenset({"after"}),
    "after": frozenset({"before"}),
}


class OpposedWords(msgspec.Struct, frozen=True, kw_only=True):
    """The words one rule compares.

    `senses` has the sense of each relevant word, in lower case; `against` the senses that exclude a sense; `at_least`
    is how well an excluding word must fit its place to be a veto.
    """

    rule: str
    senses: Mapping[str, str]
    against: Mapping[str, frozenset[str]]
    at_least: float


_DIRECTIONS = OpposedWords(
    rule="direction",
    senses=dict.fromkeys(_UP.split(), "up") | dict.fromkeys(_DOWN.split(), "down"),
    against={"up": frozenset({"down"}), "down": frozenset({"up"})},
    at_least=DIRECTION_FITS,
)
_QUANTIFIERS = OpposedWords(rule="quantifier", senses=_SENSES, against=_AGAINST, at_least=QUANTIFIER_FITS)


def find(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """A finding for each word that says that something rose or fell, then for each quantifier and superlative."""
    turned = denied(claim)  # "it did not rise" says nothing against "it fell"
    for opposed in (_DIRECTIONS, _QUANTIFIERS):
        yield from _opposed(opposed, claim, texts, turned)


def _opposed(
    opposed: OpposedWords, claim: AnalyzedText, texts: Texts, turned: Collection[int]
) -> Iterator[SlotFinding]:
    """A finding for each word of the claim, except negated ones, if the evidence has a comparable word."""
    senses = opposed.senses
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
        same = {place: other == meant for place, other in places if other == meant or other in opposed.against[meant]}
        if same:
            yield _opposition_finding(opposed, claim, index, texts, same)


def _sense(reading: AnalyzedText, index: int, senses: Mapping[str, str]) -> str:
    word = reading.words[index]
    return senses.get(word.text.lower(), "") if word.kind in ("word", "name") else ""


def _opposition_finding(
    opposed: OpposedWords, claim: AnalyzedText, index: int, texts: Texts, same: dict[EvidenceSpan, bool]
) -> SlotFinding:
    """The finding for a word; `same` says of each place whether it has the word's sense, or an opposing one."""
    bound = bind(context(claim, (index,)), texts.readings, same, same.__getitem__)
    slot = ClaimSlot(claim.words[index].text, *claim.origin(index, index))
    if bound.other is None or not bound.conflicts(at_least=opposed.at_least, ratio=RATIO):
        return SlotFinding(rule=opposed.rule, slot=slot, outcome="stated" if bound.same else "absent")
    reading = texts.readings[bound.other.passage]
    text, passage = reading.words[bound.other.index].text, texts.passages[bound.other.passage]
    return SlotFinding(rule=opposed.rule, slot=slot, outcome="conflict", said=text, passage=passage, veto=True)
