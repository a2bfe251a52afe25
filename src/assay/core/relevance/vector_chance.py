"""What meaning counts beside words, where an embedder has compared statements with the question.

Cosines of one model lie elsewhere than those of another: those of e5 between 0.7 and 0.9, those of MiniLM between 0
and 0.7. So none counts as it is. In the order of statements a cosine counts by where it lies between the least and
the best; in the chance that they answer, by how far it stands above the usual one on the way to 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

Cosine = float | None

ORDER = 4.0
"""What the nearest statement gains on the farthest. Among 1, 2, 3, 4, 6, 8 and 12 on the training half of XQuAD's
English questions (278; all-MiniLM-L6-v2): of the best three statements one answers in 264 (258 by words alone)."""
CHANCE, USUAL = 5.0, 0.25
"""What the chance gains, in log-odds, by the nearest of the best statements, and where it neither gains nor loses.

On the same half (139 questions with no answer among them), with two embedders: at 5 % of the answerable lost 96 and
98 % of the others are refused, by words alone 89 %.
"""
FEWEST = 8
"""Statements below which none is the usual one: the chance is that by words then."""
SURE, EVEN = 0.5, 0.5
"""How far above the usual one a statement is an answer whatever its words, and the chance it has then at least.

Of the same 139 questions none comes further than 0.47. Of 278 with an answer two more get it; of 276 whose own
paragraph was taken away two more get another.
"""


def reordered(scores: Sequence[float], cosines: Sequence[Cosine]) -> list[float]:
    """Scores by words with what meaning adds. A statement which was not compared stands in the middle."""
    known = [each for each in cosines if each is not None]
    if not known or max(known) == min(known):
        return list(scores)
    low, high = min(known), max(known)
    parts = (0.5 if each is None else (each - low) / (high - low) for each in cosines)
    return [score + ORDER * part for score, part in zip(scores, parts, strict=True)]


def mixed(shares: Sequence[float], cosines: Sequence[float]) -> list[int]:
    """The places of passages, best first: half by what each has of the words asked for, half by meaning."""
    if not shares:
        return []
    most, high, low = max(shares) or 1.0, max(cosines), min(cosines)
    near = [(each - low) / (high - low) if high > low else 0.0 for each in cosines]
    scores = [share / most + part for share, part in zip(shares, near, strict=True)]
    return sorted(range(len(scores)), key=lambda at: (-scores[at], at))


def likelier(chance: float, cosines: Sequence[Cosine], best: Sequence[int], first: int) -> float:
    """The chance that statements answer, with what meaning says of it.

    Args:
        chance: that by words.
        cosines: how near each statement is to the question.
        best: the places of the best by words.
        first: the place of the best by words and meaning.
    """
    known = [each for each in cosines if each is not None]
    if len(known) < FEWEST or median(known) >= 1.0:
        return chance
    usual = median(known)
    above = {at: (each - usual) / (1.0 - usual) for at in {*best, first} if (each := cosines[at]) is not None}
    held = [above[at] for at in best if at in above]
    if held and 0.0 < chance < 1.0:
        odds = math.log(chance / (1.0 - chance)) + CHANCE * (max(held) - USUAL)
        chance = 1.0 / (1.0 + math.exp(-odds))
    return max(chance, EVEN) if above.get(first, 0.0) >= SURE else chance
