"""Signs that a claim was edited: how it differs from the sentence of the evidence that says most of it.

Nearly all words of a false sentence may be in the evidence. Some signs count against a claim whatever else agrees;
others only if it is copied, and are weighed with the rest if it is rephrased.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import SequenceMatcher

import msgspec

from assay.core.lexicon import ABSOLUTES, HEDGES, NEGATIVES, NEUTRAL_WORDS, QUALIFIERS, UNIVERSALS
from assay.core.text import sentences
from assay.verify.verifier.index import (
    COPIED_ORDER,
    MAX_PARTS,
    PART_COST,
    WHOLE_SENTENCE,
    StemIndex,
    WordToken,
    opposites,
    tokens,
    weight,
)

# A sentence of a claim, beside the part of the evidence that says most of it.


class ClaimWords(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """`words` of the claim's sentence; `weighted_words` its distinct content words with their weights, `total` their
    sum.

    `best` is the part of the evidence that says most of it, `nearby_words` that part with its neighbours. The four
    shares are of `total`: said by the best part, by the second best, by the best three in a row, by the best two
    anywhere.
    """

    words: tuple[WordToken, ...]
    weighted_words: tuple[tuple[WordToken, float], ...]
    total: float
    best: tuple[WordToken, ...] = ()
    nearby_words: tuple[WordToken, ...] = ()
    single: float = 0.0
    second: float = 0.0
    row: float = 0.0
    two: float = 0.0

    @property
    def content(self) -> list[WordToken]:
        return [token for token in self.words if token.content]

    def share(self, stems: Collection[str]) -> float:
        """The weighted share of the significant words that are among `stems`."""
        return sum(weight for token, weight in self.weighted_words if token.stem in stems) / self.total


def claim_words(claim: str, index: StemIndex) -> tuple[ClaimWords, ...]:
    """One record for each sentence of `claim` with content words; empty for a claim without."""
    token_lists = (tokens(claim[start:end]) for start, end in sentences(claim))
    return tuple(_sentence_words(words, index) for words in token_lists if any(token.content for token in words))


def _sentence_words(words: tuple[WordToken, ...], index: StemIndex) -> ClaimWords:
    distinct: dict[str, WordToken] = {}
    for token in words:
        if token.content:
            distinct.setdefault(token.stem, token)
    weighted_words = tuple((token, weight(token)) for token in distinct.values())
    draft = ClaimWords(
        words=words, weighted_words=weighted_words, total=sum(weight for _, weight in weighted_words) or 1.0
    )
    order = _rank_parts(draft, index)
    return _with_best_parts(draft, index, order) if order else draft


def copied_share(claim: str, index: StemIndex, in_background: Collection[str]) -> float:
    """How much of a sentence of the claim, without the words `in_background`, the nearest part says in the same order.

    Of the sentences with a word of `in_background`, the one that is said most. 1 means that nothing else was changed.
    """
    stems = {token.stem for words in in_background for token in tokens(words)}
    matching = [sight for sight in claim_words(claim, index) if any(token.stem in stems for token in sight.words)]
    return max((_sentence_copied_share(sight, stems) for sight in matching), default=0.0)


def _sentence_copied_share(sight: ClaimWords, in_background: Collection[str]) -> float:
    ours = [token.stem for token in sight.words if token.stem not in in_background]
    matcher = SequenceMatcher(None, [token.stem for token in sight.best], ours, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()) / max(1, len(ours))


def _rank_parts(sight: ClaimWords, index: StemIndex) -> list[tuple[float, int]]:
    """The parts that share words with the claim, with the share of its weight they say; best first."""
    scores: dict[int, float] = {}
    for token, value in sight.weighted_words:
        for part in index.parts_by_stem.get(token.stem, ()):
            scores[part] = scores.get(part, 0.0) + value
    order = sorted(scores, key=lambda part: (PART_COST * len(index.parts[part]) - scores[part], part))
    return [(scores[part] / sight.total, part) for part in order[:MAX_PARTS]]


def _with_best_parts(sight: ClaimWords, index: StemIndex, order: list[tuple[float, int]]) -> ClaimWords:
    single, best = order[0]
    stems = {token.stem for token in index.parts[best]}
    rows = [
        (sight.share({token.stem for token in index.around(part)}), -rank, part) for rank, (_, part) in enumerate(order)
    ]
    row, _, middle = max(rows)
    two = max(
        (sight.share(stems | {token.stem for token in index.parts[part]}) for _, part in order[1:]), default=single
    )
    return msgspec.structs.replace(
        sight,
        best=index.parts[best],
        nearby_words=index.around(middle),
        single=single,
        second=order[1][0] if len(order) > 1 else 0.0,
        row=row,
        two=two,
    )


def unsaid_words(sight: ClaimWords) -> list[WordToken]:
    """The claim's words that the nearest sentences lack, without the commonest function words."""
    stems, known_texts = (
        {token.stem for token in sight.nearby_words},
        NEUTRAL_WORDS | word_spellings(sight.nearby_words),
    )
    return [
        token
        for token in sight.words
        if (token.text.lower() not in known_texts if token.function else token.stem not in stems)
    ]


def unsaid_slots(sight: ClaimWords) -> list[str]:
    """The names and numbers among them."""
    return list(dict.fromkeys(token.text for token in unsaid_words(sight) if token.name or token.number))


def unshared_limits(sight: ClaimWords) -> set[str]:
    """Words such as "all", "only" and "may" that claim and best part do not share."""
    ours, theirs = word_spellings(sight.words), word_spellings(sight.best)
    return ((ours ^ theirs) & ABSOLUTES) | ((theirs - ours) & HEDGES) | (_qualifiers(sight) - ours)


def added_universals(sight: ClaimWords) -> set[str]:
    """Words such as "all" and "only" that the nearest sentences lack."""
    return (word_spellings(sight.words) - word_spellings(sight.nearby_words)) & UNIVERSALS


def _qualifiers(sight: ClaimWords) -> set[str]:
    """Words of the best part that limit one of the claim's words within the next three."""
    stems = {token.stem for token in sight.content}
    return {
        token.text.lower()
        for index, token in enumerate(sight.best)
        if token.text.lower() in QUALIFIERS and any(next.stem in stems for next in sight.best[index + 1 : index + 4])
    }


def extra_negations(sight: ClaimWords) -> int:
    """How many more negating words the claim has than the best part."""
    ours, theirs = (sum(token.text.lower() in NEGATIVES for token in words) for words in (sight.words, sight.best))
    return ours - theirs


def words_with_opposites(sight: ClaimWords) -> list[WordToken]:
    """The claim's words that may have an opposite."""
    return [token for token in sight.words if not token.number and not token.name]


def opposed_words(sight: ClaimWords) -> list[tuple[WordToken, WordToken]]:
    """Words of the claim that the best part does not say, each with a word there that excludes it."""
    by_stem = {token.stem: token for token in sight.best}
    pairs: list[tuple[WordToken, WordToken]] = []
    for token in words_with_opposites(sight):
        excluding = opposites(token.stem) & by_stem.keys() if token.stem not in by_stem else ()
        pairs.extend((token, by_stem[stem]) for stem in sorted(excluding)[:1])
    return pairs


def has_exchanged_words(sight: ClaimWords) -> bool:
    """True if the neighbours of a word of the claim are swapped there: "dog bites man".

    A passive does not count: with "by" after the word on one side only, the neighbours should be swapped.
    """
    return any(
        _is_exchanged(index, sight) for index, token in enumerate(sight.words) if token.content and not token.name
    )


def _is_exchanged(index: int, sight: ClaimWords) -> bool:
    word = sight.words[index].stem
    positions = [position for position, token in enumerate(sight.best) if token.stem == word]
    if len(positions) != 1:
        return False
    best = {token.stem for token in sight.best if token.content}
    before = next((token.stem for token in reversed(sight.words[:index]) if token.content and token.stem in best), word)
    after = next((token.stem for token in sight.words[index + 1 :] if token.content and token.stem in best), word)
    theirs = sight.best[: positions[0]], sight.best[positions[0] + 1 :]
    stems = [{token.stem for token in side} for side in theirs]
    if word in (before, after) or before == after:
        return False
    is_swapped = after in stems[0] - stems[1] and before in stems[1] - stems[0]
    return is_swapped and _has_by(sight.words[index + 1 :]) == _has_by(theirs[1])


def _has_by(words: Sequence[WordToken]) -> bool:
    return any(token.text.lower() == "by" for token in words[:3])


def is_edited(sights: Iterable[ClaimWords], claim_features: Mapping[str, float]) -> bool:
    """True if no score may call a claim with these features supported.

    It says the opposite of its best part, negates more or less, or swaps words; or it is copied except for a limit, a
    name, a number or the order. In a rephrased sentence such signs are only weighed, since it needs other words and
    limits.
    """
    is_reordered = claim_features["turned"] > 0 or claim_features["names_turned"] > 0 or claim_features["same_part"] < 1
    if (is_reordered or claim_features["slots_unsaid"] > 0 or claim_features["limits"] > 0) and claim_features[
        "aligned"
    ] >= COPIED_ORDER:
        return True
    return any(
        extra_negations(sight)
        or opposed_words(sight)
        or (sight.single >= WHOLE_SENTENCE and (has_exchanged_words(sight) or added_universals(sight)))
        for sight in sights
    )


def word_spellings(words: Iterable[WordToken]) -> set[str]:
    """The words as written, in lower case."""
    return {token.text.lower() for token in words}
