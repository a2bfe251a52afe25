"""Checks whether the claim denies what the evidence says, or says what it denies."""

from __future__ import annotations

from collections.abc import Iterator

from assay.core.lexicon import NEGATIONS
from assay.verify.analyzed_text import AnalyzedText, Texts, Word
from assay.verify.evidence import ClaimSlot, EvidenceSpan, SlotFinding, bind, context

FITS, RATIO = 0.6, 1.1
"""How well the other place must fit, and how many times as well as one that agrees, to be a veto.

Set with `bench mutations --part train` (docs/verification.md, Mutations).
"""
_NEGATORS = frozenset(NEGATIONS["en"].split())
_REACH = 4
"""How many words after a negator it still governs. Chosen by hand."""
_TURNS = frozenset(
    """
    but although though however whereas while only merely until unless afraid hesitate necessarily where why how
    """.split()
)
"""Words that end a denial, or after which it denies nothing ("not afraid to")."""
_NOW = frozenset(("currently", "now", "longer", "today", "anymore", "presently"))
_PAST = frozenset(("was", "were", "had", "until", "formerly", "once"))


def find(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """A finding for each word that the claim negates and the evidence does not, or the other way round."""
    governed = denied(claim)
    theirs = [denied(reading) for reading in texts.readings]
    if not governed and not any(theirs):
        return
    for index, word in enumerate(claim.words):
        if word.kind in ("sign", "number") or word.common or _is_negator(word):
            continue
        if index in governed or any(
            place in found
            for reading, found in zip(texts.readings, theirs, strict=True)
            for place in reading.places.get(word.key, ())
        ):
            finding = _find(claim, index, governed, texts, theirs)
            if finding is not None:
                yield finding


def _find(
    claim: AnalyzedText, index: int, governed: dict[int, int], texts: Texts, theirs: list[dict[int, int]]
) -> SlotFinding | None:
    key, negated = claim.words[index].key, index in governed
    places = [
        EvidenceSpan(at, place) for at, reading in enumerate(texts.readings) for place in reading.places.get(key, ())
    ]
    bound = bind(
        context(claim, (index,)),
        texts.readings,
        places,
        lambda place: (place.index in theirs[place.passage]) == negated,
    )
    if not places:
        return None
    slot = ClaimSlot(claim.words[index].text, *claim.origin(index, index))
    if (
        bound.other is None
        or not bound.conflicts(at_least=FITS, ratio=RATIO)
        or _both_deny(claim, index, texts, bound.other)
        or _denies_rank(claim, index, governed, texts, bound.other)
        or _is_over(claim, index, texts, bound.other)
    ):
        return SlotFinding(rule="negation", slot=slot, outcome="stated")
    reading = texts.readings[bound.other.passage]
    negator = theirs[bound.other.passage].get(bound.other.index, bound.other.index)
    text = reading.plain.text[reading.words[negator].start : reading.words[bound.other.index].end]
    passage = texts.passages[bound.other.passage]
    return SlotFinding(rule="negation", slot=slot, outcome="conflict", said=text, passage=passage, veto=True)


def _is_negator(word: Word) -> bool:
    return word.key == "not" or word.text.lower() in _NEGATORS


def _both_deny(claim: AnalyzedText, index: int, texts: Texts, other: EvidenceSpan) -> bool:
    """True if both sentences have a negator: it may only be in another place ("he was not seen", "nobody saw him")."""
    reading = texts.readings[other.passage]
    return all(
        any(_is_negator(word) and word.sentence == words[at].sentence for word in words)
        for words, at in ((claim.words, index), (reading.words, other.index))
    )


def _denies_rank(claim: AnalyzedText, index: int, governed: dict[int, int], texts: Texts, other: EvidenceSpan) -> bool:
    """True if only the rank is denied: "not the first woman to", if the evidence says "the second"."""
    negator = governed.get(index)
    ranks = {word.key for word in claim.words[negator:index] if _is_rank(word)} if negator is not None else set()
    return bool(ranks) and not any(word.key in ranks for word in _sentence(texts, other))


def _is_rank(word: Word) -> bool:
    return word.text.lower() in ("first", "last", "only", "second") or getattr(word.token, "ordinal", False)


def _is_over(claim: AnalyzedText, index: int, texts: Texts, other: EvidenceSpan) -> bool:
    """True if the claim denies that something is so now, and the evidence says that it was."""
    own = {word.text.lower() for word in claim.words if word.sentence == claim.words[index].sentence}
    theirs = {word.text.lower() for word in _sentence(texts, other)}
    return bool(own & _NOW and theirs & _PAST) and not theirs & _NOW


def _sentence(texts: Texts, place: EvidenceSpan) -> list[Word]:
    words = texts.readings[place.passage].words
    return [word for word in words if word.sentence == words[place.index].sentence]


def denied(reading: AnalyzedText) -> dict[int, int]:
    """The words a negator governs, each with its negator's index: those shortly after it in its clause."""
    found: dict[int, int] = {}
    for index, word in enumerate(reading.words):
        if not _is_negator(word):
            continue
        content = 0
        for after in range(index + 1, len(reading.words)):
            other = reading.words[after]
            if (
                other.sentence != word.sentence
                or other.kind == "sign"
                or other.text.lower() in _TURNS
                or content == _REACH
            ):
                break
            if _is_negator(other):
                break
            content += not other.common
            found[after] = index
    return found
