"""More words for a question: what the documents found first have in common (pseudo-relevance feedback).

After Rocchio (1971), with the weights of BM25: a word counts the more, the better the documents are which have it, the
more often they have it (with BM25's saturation) and the rarer it is elsewhere.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping

from assay.search.local.words import Frequencies

DOCUMENTS, LEAST = 5, 20
"""Documents whose words are taken, and how many must have been found: of fewer the first say nothing special."""
PASSAGES = 5
"""The best passages of each which are read."""
WORDS = 20
"""Words taken."""
LOOKED_AT = 80
"""Words whose frequency is asked for, those which weigh most in the documents."""
SHARE = 0.3
"""What the words taken count together, of all; the question's own have the rest."""
SATURATION = 1.2
COMMON, RARE = 0.2, 2
"""Words in a larger share of the documents, and in fewer documents, are not taken."""
SHORTEST = 3


def more_words(
    found: Iterable[tuple[float, Collection[str]]], asked: int, leave: Collection[str], known: Frequencies
) -> Mapping[str, float]:
    """Index terms with what each counts beside a word of the question, which counts 1.

    `found` are the best documents: the score of each and the terms of its best passages. `asked` is how many words
    the question has, `leave` are terms not to take.
    """
    weights: dict[str, float] = defaultdict(float)
    for score, terms in found:
        for term, times in Counter(terms).items():
            weights[term] += score * times / (times + SATURATION)
    for term in leave:
        weights.pop(term, None)
    weighed = {}
    for term, weight in heapq.nsmallest(LOOKED_AT, weights.items(), key=_heaviest):
        count = known.doc_freq("body", term) if len(term) >= SHORTEST and not term.isdigit() else 0
        if RARE <= count <= COMMON * known.num_docs:
            weighed[term] = weight * math.log(known.num_docs / count)
    taken = heapq.nsmallest(WORDS, weighed.items(), key=_heaviest)
    total = sum(weight for _, weight in taken)
    return {term: SHARE / (1 - SHARE) * asked * weight / total for term, weight in taken}


def _heaviest(weighed: tuple[str, float]) -> tuple[float, str]:
    return -weighed[1], weighed[0]
