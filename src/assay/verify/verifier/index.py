"""Evidence as the embedded verifier looks things up in it: sentences, and where each word stands."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise

import msgspec

from assay.core.text import sentences
from assay.verify.verifier.tokens import WordToken, tokens

LONGEST = 60
"""Words; what has no sentence ends (tables, code, lists) is cut into pieces of this many."""
MOST = 400_000
"""Characters; of longer evidence only the beginning is read."""
RARE = 11.0
"""The weight of a word the table does not know."""
_ALIKE = 0.7
_HEAD = 4


class StemIndex(msgspec.Struct, frozen=True, gc=False):
    """`parts` are sentences or pieces of them; `places` the parts each stem stands in, ascending.

    `neighbours` are pairs of stems which follow each other, function words included; `skipping` pairs of content stems
    with at most one content word between them; `heads` the stems by their first letters.
    """

    parts: tuple[tuple[WordToken, ...], ...]
    places: dict[str, tuple[int, ...]]
    neighbours: frozenset[tuple[str, str]]
    skipping: frozenset[tuple[str, str]]
    heads: dict[str, tuple[str, ...]]

    def around(self, part: int, reach: int = 1) -> tuple[WordToken, ...]:
        """The words of a part and of `reach` parts before and after it."""
        return tuple(token for each in self.parts[max(0, part - reach) : part + reach + 1] for token in each)

    def alike(self, stem: str) -> float:
        """How much of `stem` the most similar stem shares from its beginning on (Dice's measure), 0 below 0.7."""
        near = max((_shared(stem, other) for other in self.heads.get(stem[:_HEAD], ())), default=0.0)
        return near if near >= _ALIKE else 0.0


@lru_cache(maxsize=16)
def index(evidence: str) -> StemIndex:
    """`evidence` made ready; that of the last texts is kept."""
    parts = tuple(_parts(evidence[:MOST]))
    places: dict[str, list[int]] = {}
    for at, part in enumerate(parts):
        for stem in dict.fromkeys(token.stem for token in part):
            places.setdefault(stem, []).append(at)
    heads: dict[str, list[str]] = {}
    for stem in places:
        if len(stem) >= _HEAD and not stem[0].isdecimal():
            heads.setdefault(stem[:_HEAD], []).append(stem)
    stems = [token.stem for part in parts for token in part]
    content = [token.stem for part in parts for token in part if token.content]
    return StemIndex(
        parts=parts,
        places={stem: tuple(found) for stem, found in places.items()},
        neighbours=frozenset(pairwise(stems)),
        skipping=frozenset([*pairwise(content), *zip(content, content[2:], strict=False)]),
        heads={head: tuple(found) for head, found in heads.items()},
    )


def _parts(text: str) -> list[tuple[WordToken, ...]]:
    found: list[tuple[WordToken, ...]] = []
    for start, end in sentences(text):
        words = tokens(text[start:end])
        found.extend(words[at : at + LONGEST] for at in range(0, len(words), LONGEST))
    return found


def _shared(one: str, other: str) -> float:
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return 2 * same / (len(one) + len(other))


def weight(token: WordToken) -> float:
    """How much a word tells: its inverse document frequency over sentences, in nats; of numbers between 6 and 9."""
    known = _weights().get(token.stem, RARE)
    return min(9.0, max(6.0, known)) if token.number else known


@cache
def _weights() -> dict[str, float]:
    """The shipped table: each line a weight in tenths of nats, and the stems which have it."""
    text = resources.files(__package__).joinpath("frequencies.txt").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines():
        tenths, *stems = line.split()
        found.update(dict.fromkeys(stems, int(tenths) / 10))
    return found
