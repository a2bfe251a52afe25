"""The passages of cited documents a claim is held against: those which together have most of its words.

A word counts the more the fewer passages have it (`verify.rarity`); passages are taken one after another for the words
which those before do not have. Forms of a word are one, as in search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.core.relevance.statements import analysis_for, keys
from assay.core.sources import Passage
from assay.verify.rarity import TermPlaces

MOST = 4
SAMPLE = 5
"""Passages by which their language is told."""
_WORTH = 0.08
"""A further passage must add this share of the claim's weight."""


class Picker:
    """The passages of one reference."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = passages
        self._analysis = analysis_for("\n".join(passage.text for passage in passages[:SAMPLE]))
        self._rarity = TermPlaces(keys(" ".join((*each.heading, each.text)), self._analysis) for each in passages)

    def pick(self, claim: str) -> tuple[Passage, ...]:
        """At most `MOST` passages for `claim`, the best first; none where no word is shared."""
        weights = {word: self._rarity.weight(word) for word in set(keys(claim, self._analysis))}
        total = sum(weights.values())
        picked: list[int] = []
        while weights and len(picked) < MOST:
            best, gain = self._best(weights)
            if best < 0 or gain < _WORTH * total or (picked and best in picked):
                break
            picked.append(best)
            weights = {word: weight for word, weight in weights.items() if best not in self._rarity.places(word)}
        return tuple(self.passages[at] for at in picked)

    def _best(self, weights: Mapping[str, float]) -> tuple[int, float]:
        """The passage with most weight, the first of equals, and its weight."""
        scores: dict[int, float] = {}
        for word in sorted(weights):
            for at in self._rarity.places(word):
                scores[at] = scores.get(at, 0.0) + weights[word]
        return max(scores.items(), key=lambda found: (round(found[1], 9), -found[0]), default=(-1, 0.0))
