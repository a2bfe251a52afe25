"""Decides which of several places in the evidence a slot of the claim refers to.

A value somewhere in the evidence is not necessarily about the claim's subject. So every place that could fill the slot
is weighed by how near the claim's other words are to it, each weighted by how near it is to the slot in the claim. The
method needs no grammar; it works for prose in any order, rows and fields alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from assay.verify.analyzed_text import AnalyzedText, Word

# Chosen by hand, not by a bench; `bench mutations` and `bench grounding` measure the effect.

_REACH = 4.0
"""The distance in words at which nearness has fallen to a half."""
_OTHER_SENTENCE = 10
_OTHER_CLAUSE = 2
"""How many words a boundary between clauses counts as."""
_COUNTED = 0.5
"""The weight of the noun after a number, often left out the second time ("40 people ... and the other 50")."""
_COMMON = 0.1
"""The weight of a word that occurs in any text."""
_TELLING = 3
"""The number of significant words of the claim that a conflict must rest on."""


class EvidenceSpan(msgspec.Struct, frozen=True):
    """A word of a passage, or all from `index` to `last`; `passage` is an index of the check's readings."""

    passage: int
    index: int
    last: int = -1


class Bound(msgspec.Struct, frozen=True):
    """The best place with the claim's value, the best with another, and how well each fits (0 to 1).

    `words` is the number of significant words the weighing rests on.
    """

    same: EvidenceSpan | None
    other: EvidenceSpan | None
    fits: float
    misfits: float
    words: int

    def conflicts(self, *, at_least: float, ratio: float) -> bool:
        """Whether the other value fits clearly better: `at_least` so well, and `ratio` times as well as the claim's."""
        return self.words >= _TELLING and self.misfits >= at_least and self.misfits > ratio * self.fits


class SlotContext(msgspec.Struct, frozen=True):
    """The words of a claim around a slot, by stem: a weight each (their sum is 1), and how near each is (0 to 1)."""

    weights: tuple[tuple[str, float, float], ...]
    words: int

    def fit(self, evidence: Sequence[AnalyzedText], place: EvidenceSpan) -> float:
        """How well the words fit around `place`: 1 if all are as near as in the claim, 0 if none is there."""
        reading = evidence[place.passage]
        words, wide = reading.words, place.last > place.index
        fit = 0.0
        for key, weight, near in self.weights:
            at = reading.nearest(key, place.index)
            if at is None:
                continue
            apart = _apart(words, at, place.index)
            if wide:
                after = reading.nearest(key, place.last)
                apart = min(apart, apart if after is None else _apart(words, after, place.last))
            nearness = _nearness(apart)
            fit += weight * (nearness / near if nearness < near else 1.0)
        return fit


def _apart(words: Sequence[Word], one: int, other: int) -> int:
    first, second = words[one], words[other]
    apart = abs(one - other)
    if first.clause != second.clause:  # which every other sentence contains
        apart += min(3, abs(first.clause - second.clause)) * _OTHER_CLAUSE
        apart += 0 if first.sentence == second.sentence else _OTHER_SENTENCE
    return apart


def _nearness(apart: int) -> float:
    return _REACH / (_REACH + apart - 1) if apart > 1 else 1.0


def context(claim: AnalyzedText, slot: Sequence[int]) -> SlotContext:
    """The words of the claim around the words `slot`, in their sentence."""
    first, last = slot[0], slot[-1]
    own = {claim.words[index].key for index in slot}
    sentence = claim.words[first].sentence
    counts = claim.words[last].kind == "number"
    found: dict[str, tuple[float, float]] = {}
    telling: set[str] = set()
    for index, word in enumerate(claim.words):
        if word.kind == "sign" or word.key in own or first <= index <= last or word.sentence != sentence:
            continue
        near = _nearness(_apart(claim.words, index, first if index < first else last))
        weight = _COMMON if word.common else _COUNTED if counts and index == last + 1 else 1.0
        if not word.common:
            telling.add(word.key)
        found[word.key] = max((near * weight, near), found.get(word.key, (0.0, 0.0)))
    total = sum(weight for weight, _ in found.values()) or 1.0
    return SlotContext(
        tuple((key, weight / total, near) for key, (weight, near) in found.items()),
        len(telling),
    )


def bind(
    around: SlotContext,
    evidence: Sequence[AnalyzedText],
    places: Iterable[EvidenceSpan],
    same: Callable[[EvidenceSpan], bool],
) -> Bound:
    """Weigh `places` by the words `around` a slot; `same` says which have the claim's value."""
    best: dict[bool, tuple[float, EvidenceSpan | None]] = {True: (0.0, None), False: (0.0, None)}
    for place in places:
        fit = around.fit(evidence, place)
        kind = same(place)
        if best[kind][1] is None or fit > best[kind][0]:
            best[kind] = (fit, place)
    return Bound(best[True][1], best[False][1], best[True][0], best[False][0], around.words)
