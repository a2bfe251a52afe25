"""Signs that a claim was edited: what it says otherwise than the sentence of the evidence which says most of it.

Nearly all words of a false sentence may stand in the evidence. Some signs tell against a claim whatever else agrees;
others only where it is copied, and are weighed with the rest where it is told in other words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from assay.verify.verifier.claim_words import ClaimWords
from assay.verify.verifier.lexicon import ABSOLUTES, HEDGES, NEGATORS, NEUTRAL, QUALIFIERS
from assay.verify.verifier.opposites import opposites
from assay.verify.verifier.tokens import WordToken

COPIED = 0.7
"""A claim which has so much of its best part's words in their order is a copy: what differs was edited."""
WHOLE = 0.95
"""By weight, how much of a sentence its best part must say to be the same sentence in another order."""


def unsaid(sight: ClaimWords) -> list[WordToken]:
    """The claim's words which the nearest sentences lack; the commonest function words do not count."""
    stems, spelt = {token.stem for token in sight.near}, _spelt(sight.near)
    return [
        token
        for token in sight.words
        if (token.text.lower() not in NEUTRAL | spelt if token.function else token.stem not in stems)
    ]


def slots_unsaid(sight: ClaimWords) -> list[str]:
    """The names and numbers among them."""
    return list(dict.fromkeys(token.text for token in unsaid(sight) if token.name or token.number))


def limits(sight: ClaimWords) -> set[str]:
    """The words of "all", "only", "may" and the like which claim and best part do not share."""
    ours, theirs = _spelt(sight.words), _spelt(sight.best)
    return ((ours ^ theirs) & ABSOLUTES) | ((theirs - ours) & HEDGES) | (_qualified(sight) - ours)


def _qualified(sight: ClaimWords) -> set[str]:
    """Words of the best part which limit one of the claim's words within the next three."""
    stems = {token.stem for token in sight.content}
    return {
        token.text.lower()
        for at, token in enumerate(sight.best)
        if token.text.lower() in QUALIFIERS and any(next.stem in stems for next in sight.best[at + 1 : at + 4])
    }


def denials(sight: ClaimWords) -> int:
    """How many words more of the claim deny something than of the best part."""
    return sum(token.text.lower() in NEGATORS for token in sight.words) - sum(
        token.text.lower() in NEGATORS for token in sight.best
    )


def turnable(sight: ClaimWords) -> list[WordToken]:
    """The claim's words which may have an opposite."""
    return [token for token in sight.words if not token.number and not token.name]


def opposed(sight: ClaimWords) -> list[tuple[WordToken, WordToken]]:
    """Words of the claim which the best part does not say, each with a word there which excludes it."""
    said = {token.stem: token for token in sight.best}
    found: list[tuple[WordToken, WordToken]] = []
    for token in turnable(sight):
        against = opposites(token.stem) & said.keys() if token.stem not in said else ()
        found.extend((token, said[stem]) for stem in sorted(against)[:1])
    return found


def exchanged(sight: ClaimWords) -> bool:
    """Whether what stands around a word of the claim stands there the other way about: "dog bites man".

    A passive is no exchange: of "by" after the word on one side alone, the sides are meant to change.
    """
    return any(_is_exchanged(at, sight) for at, token in enumerate(sight.words) if token.content and not token.name)


def _is_exchanged(at: int, sight: ClaimWords) -> bool:
    word = sight.words[at].stem
    places = [place for place, token in enumerate(sight.best) if token.stem == word]
    if len(places) != 1:
        return False
    said = {token.stem for token in sight.best if token.content}
    before = next((token.stem for token in reversed(sight.words[:at]) if token.content and token.stem in said), word)
    after = next((token.stem for token in sight.words[at + 1 :] if token.content and token.stem in said), word)
    theirs = sight.best[: places[0]], sight.best[places[0] + 1 :]
    stems = [{token.stem for token in side} for side in theirs]
    if word in (before, after) or before == after:
        return False
    turned = after in stems[0] - stems[1] and before in stems[1] - stems[0]
    return turned and _has_by(sight.words[at + 1 :]) == _has_by(theirs[1])


def _has_by(words: Sequence[WordToken]) -> bool:
    return any(token.text.lower() == "by" for token in words[:3])


def is_edited(seen: Iterable[ClaimWords], found: Mapping[str, float]) -> bool:
    """Whether no score calls a claim with these features supported.

    It says the opposite of its best part, denies more or less, or turns it round; or it is copied but for a limit, a
    name, a number or the order. A sentence in words of its own needs others, and other limits: there such signs are
    only weighed.
    """
    moved = found["turned"] > 0 or found["names_turned"] > 0 or found["same_part"] < 1
    if (moved or found["slots_unsaid"] > 0 or found["limits"] > 0) and found["aligned"] >= COPIED:
        return True
    return any(denials(sight) or opposed(sight) or (sight.single >= WHOLE and exchanged(sight)) for sight in seen)


def _spelt(words: Iterable[WordToken]) -> set[str]:
    return {token.text.lower() for token in words}
