"""Which texts may state what a cited passage states: told by their words, before they are read.

Reading a text (its sentences, numbers, names) takes thirty times as long as looking at its words, and most passages of
a run have little in common with any that is cited. No statement is lost: two are only held against each other where
they share a part of their words (`disagreeing.ALIKE`), and all words of a statement stand in its text.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from functools import lru_cache
from itertools import chain

from assay.verify.analyzed_text import WORD, stem
from assay.verify.number_words import ORDINALS, SCALES, TENS, WORDS

_SPELLED = frozenset(stem(word) for word in (*WORDS, *TENS, *ORDINALS, *SCALES))
_ASCII_WORD = re.compile(r"(?:[A-Za-z]\.){2,}|[A-Za-z]+(?:'[A-Za-z]+)?")
"""What `WORD` finds in ASCII text, signs apart, in half the time."""
_DIGIT = re.compile(r"\d")
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))


class Likely:
    """Texts which share enough words with one of some statements.

    Args:
        keys: of each statement, what its words are compared by; one which is no word (a number, a version) begins
            with "#", and one of a word and a number has a space between them.
        share: the share of its keys which another statement must have at least.
    """

    def __init__(self, keys: Iterable[Collection[str]], share: float) -> None:
        self._needed: list[int] = []
        self._places: dict[str, list[int]] = defaultdict(list)
        self._all = False
        for at, own in enumerate(set(map(frozenset, keys))):
            words = [key.partition(" ")[0] for key in own if not key.startswith("#")]
            needed = math.ceil(share * len(own)) - (len(own) - len(words))
            self._all = self._all or needed <= 0
            self._needed.append(needed)
            for word in words:
                self._places[word].append(at)

    def may(self, text: str) -> bool:
        """Whether `text` has a figure, and words enough."""
        found = _stems(text)
        if not (_DIGIT.search(text) or not text.isascii() or not _SPELLED.isdisjoint(found)):
            return False
        if self._all:
            return True
        counts = Counter(chain.from_iterable(map(self._places.__getitem__, self._places.keys() & found)))
        return any(count >= self._needed[at] for at, count in counts.items())


@lru_cache(maxsize=1024)
def _stems(text: str) -> frozenset[str]:
    """The stems of the words of a text; kept, since a later run on the same sources looks at the same texts."""
    if text.isascii():
        return frozenset(map(stem, _ASCII_WORD.findall(text)))
    return frozenset(map(stem, WORD.findall(unicodedata.normalize("NFKC", text).translate(_INVISIBLE))))
