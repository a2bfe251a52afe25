"""A sentence of a claim, held beside the part of the evidence which says most of it."""

from __future__ import annotations

from collections.abc import Collection
from difflib import SequenceMatcher

import msgspec

from assay.core.text import sentences
from assay.verify.verifier.index import StemIndex, weight
from assay.verify.verifier.tokens import WordToken, tokens

_CANDIDATES = 40


class ClaimWords(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """`words` of the claim's sentence; `telling` its distinct content words with their weights, `total` their sum.

    `best` is the part of the evidence which says most of it, `near` the best part with its neighbours. The four shares
    are of `total`: said by the best part, by the second best, by the best three in a row, by the best two anywhere.
    """

    words: tuple[WordToken, ...]
    telling: tuple[tuple[WordToken, float], ...]
    total: float
    best: tuple[WordToken, ...]
    near: tuple[WordToken, ...]
    single: float
    second: float
    row: float
    two: float

    @property
    def content(self) -> list[WordToken]:
        return [token for token in self.words if token.content]

    def share(self, stems: Collection[str]) -> float:
        """The weighted share of the telling words which are among `stems`."""
        return sum(weight for token, weight in self.telling if token.stem in stems) / self.total


def sights(claim: str, index: StemIndex) -> tuple[ClaimWords, ...]:
    """A sight for each sentence of `claim` which has content words; none for a claim without."""
    found = (tokens(claim[start:end]) for start, end in sentences(claim))
    return tuple(_sight(words, index) for words in found if any(token.content for token in words))


def _sight(words: tuple[WordToken, ...], index: StemIndex) -> ClaimWords:
    distinct: dict[str, WordToken] = {}
    for token in words:
        if token.content:
            distinct.setdefault(token.stem, token)
    telling = tuple((token, weight(token)) for token in distinct.values())
    draft = ClaimWords(
        words=words,
        telling=telling,
        total=sum(weight for _, weight in telling) or 1.0,
        best=(),
        near=(),
        single=0.0,
        second=0.0,
        row=0.0,
        two=0.0,
    )
    order = _ranked(draft, index)
    return _placed(draft, index, order) if order else draft


def sameness(claim: str, index: StemIndex, in_background: Collection[str]) -> float:
    """How much of a sentence of the claim, the words `in_background` left out, the nearest part says in the same order.

    Of the sentences with a word of `in_background` the one which is said most. 1: nothing else was changed.
    """
    stems = {token.stem for words in in_background for token in tokens(words)}
    touched = [sight for sight in sights(claim, index) if any(token.stem in stems for token in sight.words)]
    return max((_same(sight, stems) for sight in touched), default=0.0)


def _same(sight: ClaimWords, in_background: Collection[str]) -> float:
    ours = [token.stem for token in sight.words if token.stem not in in_background]
    matcher = SequenceMatcher(None, [token.stem for token in sight.best], ours, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()) / max(1, len(ours))


def _ranked(sight: ClaimWords, index: StemIndex) -> list[tuple[float, int]]:
    """The parts which share words with the claim, with the share of its weight they say; the best first."""
    scores: dict[int, float] = {}
    for token, value in sight.telling:
        for part in index.places.get(token.stem, ()):
            scores[part] = scores.get(part, 0.0) + value
    order = sorted(scores, key=lambda part: (0.01 * len(index.parts[part]) - scores[part], part))
    return [(scores[part] / sight.total, part) for part in order[:_CANDIDATES]]


def _placed(sight: ClaimWords, index: StemIndex, order: list[tuple[float, int]]) -> ClaimWords:
    single, best = order[0]
    said = {token.stem for token in index.parts[best]}
    rows = [
        (sight.share({token.stem for token in index.around(part)}), -at, part) for at, (_, part) in enumerate(order)
    ]
    row, _, middle = max(rows)
    two = max(
        (sight.share(said | {token.stem for token in index.parts[part]}) for _, part in order[1:]), default=single
    )
    return msgspec.structs.replace(
        sight,
        best=index.parts[best],
        near=index.around(middle),
        single=single,
        second=order[1][0] if len(order) > 1 else 0.0,
        row=row,
        two=two,
    )
