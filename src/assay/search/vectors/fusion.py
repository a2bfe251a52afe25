"""Two rankings made one: that by words, and that by meaning.

Scores are mixed (a convex combination: Bruch, Gai and Ingber 2023, "An Analysis of Fusion Functions for Hybrid
Retrieval"): a score by words as a share of the best one, a cosine by where it lies between the least and the best of
the candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

T = TypeVar("T")

K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""


class Fused(msgspec.Struct, frozen=True):
    """Why a document stands where it stands: score and rank by words, cosine and rank by meaning, and what both make.

    `document` is its hash. What a ranking does not know of it is None.
    """

    document: str
    score: float
    lexical: float | None
    lexical_rank: int | None
    cosine: float | None
    cosine_rank: int | None


def mixed(lexical: Mapping[str, float], cosines: Mapping[str, float], weight: float) -> list[Fused]:
    """All candidates, best first. `weight` is what meaning counts, from 0 to 1.

    Where a document has no vectors it is taken to be as near as its words say: it neither gains nor loses.
    """
    most = max(lexical.values(), default=0.0)
    high, low = max(cosines.values(), default=0.0), min(cosines.values(), default=0.0)
    scores = {}
    for each in lexical.keys() | cosines.keys():
        words = lexical.get(each, 0.0) / most if most else 0.0
        meaning = (cosines[each] - low) / (high - low) if each in cosines and high > low else words
        scores[each] = (1 - weight) * words + weight * meaning
    by_words, by_meaning = _ranks(lexical), _ranks(cosines)
    ordered = sorted(scores, key=lambda each: (-scores[each], each))
    return [
        Fused(each, scores[each], lexical.get(each), by_words.get(each), cosines.get(each), by_meaning.get(each))
        for each in ordered
    ]


def merged(first: Sequence[T], second: Sequence[T]) -> list[T]:
    """Two rankings of things as one, by reciprocal ranks; what both have is there once."""
    scores: dict[T, float] = {}
    for ranking in (first, second):
        for rank, each in enumerate(ranking, 1):
            scores[each] = scores.get(each, 0.0) + 1 / (K + rank)
    return sorted(scores, key=lambda each: -scores[each])


def _ranks(scores: Mapping[str, float]) -> dict[str, int]:
    ordered = sorted(scores, key=lambda each: (-scores[each], each))
    return {each: rank for rank, each in enumerate(ordered, 1)}
