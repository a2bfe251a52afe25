"""Which of many texts have a word, and what it weighs for that: the fewer have it, the more it tells.

Inverse document frequency (Spärck Jones 1972), among the texts at hand.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence


class TermPlaces:
    """The places of words in texts, which are counted from 0."""

    def __init__(self, texts: Iterable[Iterable[str]]) -> None:
        """`texts` are the words of each."""
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        self.count = 0
        for at, words in enumerate(texts):
            for word in sorted(set(words)):
                self._places[word].append(at)
            self.count = at + 1

    def places(self, word: str) -> Sequence[int]:
        """The texts which have a word, in order."""
        return self._places.get(word, ())

    def weight(self, word: str) -> float:
        """What the word tells: above 0, also where no text has it."""
        return math.log(1 + self.count / (1 + len(self.places(word))))
