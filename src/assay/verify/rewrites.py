"""Which documents say the same in other words: a release which was rewritten is no second source.

Passages are compared by meaning, where an embedder is set. One restates another where it is far nearer to it than to
sentences about anything else, and has the same figures: reports of two years mean nearly the same. A document is a
rewrite of another where nearly all of it is restated there.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import median

import msgspec

from assay.core.text import words

FIGURED, PLAIN = 0.6, 0.75
"""How far above the usual cosine, on the way to 1, two passages say the same: with figures in common, and without.

Of four releases rewritten by hand two embedders find all with these; of 7,140 pairs of XQuAD's paragraphs, many of one
article, they take none for a rewrite.
"""
SHARE = 0.8
"""The share of the shorter document's words in passages which the other restates."""
FEWEST = 8
"""Words of a passage below which it is a heading, a field, a button."""
LEAST = 25
"""Words of a document's passages together below which it is too little to say who rewrote whom."""
MOST_DOCUMENTS, MOST_PASSAGES = 40, 16
ELSEWHERE = (
    "The river rises in the mountains and flows into the sea.",
    "He learned to play the violin when he was a child.",
    "Add the flour slowly and stir until the dough is smooth.",
    "The court decided that the contract was not valid.",
    "Most birds of this kind leave for the south in autumn.",
    "The engine is cooled by water which a pump moves.",
    "Prices of houses rose faster than wages in that year.",
    "The team won the match in the last minute.",
)
"""Sentences about this and that: how near to them passages are with one embedder is how near all texts are."""
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


class Part(msgspec.Struct, frozen=True):
    """A passage of a document: the document's name, the text as an embedder reads it, the passage's own words."""

    document: str
    read: str
    text: str


def parts(document: str, passages: Sequence[tuple[str, str]]) -> list[Part]:
    """The passages of a document which count, at most `MOST_PASSAGES`; each as it is read and as it stands there."""
    found = [Part(document, read, text) for read, text in passages if len(words(text)) >= FEWEST]
    return found[:MOST_PASSAGES] if sum(len(words(each.text)) for each in found) >= LEAST else []


def rewrites(compared: Sequence[Part], rows: Sequence[Sequence[float]]) -> list[tuple[str, str]]:
    """Pairs of documents one of which says what the other says.

    `rows` are the cosines of each passage with all of them, and with the sentences in `ELSEWHERE`.
    """
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, each in enumerate(compared):
        places[each.document].append(at)
    usual = _usual(len(compared), rows)
    if usual >= 1.0:
        return []
    found = []
    for one, other in combinations(places, 2):
        short, long = sorted((places[one], places[other]), key=lambda held: _size(held, compared))
        if _restated(short, long, compared, rows, usual) >= SHARE * _size(short, compared):
            found.append((one, other))
    return found


def joined(groups: Mapping[str, int], pairs: Sequence[tuple[str, str]]) -> dict[str, int]:
    """`groups` with the documents of each pair together; numbered as before, by their first document."""
    leader = {number: number for number in groups.values()}

    def lead(number: int) -> int:
        while leader[number] != number:
            number = leader[number]
        return number

    for one, other in pairs:
        first, second = sorted((lead(groups[one]), lead(groups[other])))
        leader[second] = first
    numbers: dict[int, int] = {}
    return {name: numbers.setdefault(lead(number), len(numbers)) for name, number in groups.items()}


def _usual(count: int, rows: Sequence[Sequence[float]]) -> float:
    """The median cosine of passages with sentences about something else; 1 where there are no passages."""
    return median([each for row in rows for each in row[count:]] or [1.0])


def _size(places: Sequence[int], compared: Sequence[Part]) -> int:
    return sum(len(words(compared[at].text)) for at in places)


def _restated(
    short: Sequence[int], long: Sequence[int], compared: Sequence[Part], rows: Sequence[Sequence[float]], usual: float
) -> int:
    """Words of the passages at `short` which one of those at `long` restates."""
    said = 0
    for at in short:
        figures = _figures(compared[at].text)
        if any(
            rows[at][other] >= usual + _least(figures, _figures(compared[other].text)) * (1.0 - usual) for other in long
        ):
            said += len(words(compared[at].text))
    return said


def _figures(text: str) -> frozenset[str]:
    return frozenset(_FIGURE.findall(text))


def _least(one: frozenset[str], other: frozenset[str]) -> float:
    """How near passages with these figures must be; where each has some which the other lacks, none is near enough."""
    few, many = sorted((one, other), key=len)
    if not few:
        return PLAIN
    return FIGURED if few <= many else math.inf
