"""Checks whether the evidence has another name where the claim has one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import product

from assay.core.lazy import regex
from assay.core.lexicon import MONTHS
from assay.verify.analyzed_text import AnalyzedText, Texts, Word
from assay.verify.evidence import ClaimSlot, EvidenceSpan, SlotFinding, bind_slot, conflict_finding, slot_context
from assay.verify.rules.polarity import denied_words

FITS, RATIO = 0.7, 1.2
"""How well another name must fit its place, and how many times as well as the claim's, to be a veto.

Set with `bench mutations --part train` (docs/verification.md, Mutations).
"""
_LIKE = 5
"""Letters. Shorter names that differ in one vowel are different names. Chosen by hand."""
_SMALL = frozenset(("of", "de", "the", "van", "von", "&", "-", "'"))
_PAIRS = frozenset((("of", "the"), ("de", "la"), ("van", "der"), ("van", "de"), ("von", "der")))
"""Words that may occur inside a name."""
_VOWELS = regex(r"[aeiouy]")
_NO_NAMES = frozenset(
    """
    additionally also consequently currently finally furthermore generally hence however initially instead meanwhile
    moreover nevertheless notably originally overall recently similarly specifically subsequently therefore thus
    typically ultimately usually
    monday tuesday wednesday thursday friday saturday sunday
    """.split()
)
"""Capitalized words that are not names: days, and words that begin sentences."""


def find(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """A finding for each name of the claim: a run of capitalized words that the evidence capitalizes too.

    An absent name is only a sign: it may be an alias, or the document's own. A veto is another name that the claim does
    not mention, if everything else of the claim is around it.
    """
    mentioned = {word.key for word in claim.words}
    runs = [
        EvidenceSpan(passage, first, last)
        for passage, reading in enumerate(texts.readings)
        for first, last in names(reading)
        if not any(reading.words[index].key in mentioned for index in range(first, last + 1))
    ]
    theirs = _written_as_names(texts)
    for first, last in names(claim, theirs):
        yield _find(claim, first, last, texts, runs)


def _written_as_names(texts: Texts) -> set[str]:
    """The stems that the evidence always writes with a capital: a title capitalizes any word."""
    written = [word for reading in texts.readings for word in reading.words]
    small = {word.key for word in written if word.text[0].islower()}
    return {word.key for word in written if word.kind == "name"} - small


def names(reading: AnalyzedText, known: Collection[str] = ()) -> list[tuple[int, int]]:
    """Runs of names, first and last word; small words such as "of" may be inside.

    The first word of a sentence counts as one if its stem is in `known`.
    """
    found: list[tuple[int, int]] = []
    for index, word in enumerate(reading.words):
        if not _is_name(word, known):
            continue
        if found and index - found[-1][1] <= 3 and _joins(reading, found[-1][1], index):
            found[-1] = (found[-1][0], index)
        else:
            found.append((index, index))
    return found


def _is_name(word: Word, known: Collection[str]) -> bool:
    lower = word.text.lower()
    if word.common or len(word.key) < 2 or lower in _NO_NAMES or (len(lower) > 3 and lower in MONTHS):
        return False
    return word.kind == "name" or (word.kind == "word" and word.text[0].isupper() and word.key in known)


def _joins(reading: AnalyzedText, last: int, index: int) -> bool:
    between = reading.words[last + 1 : index]
    if reading.words[last].sentence != reading.words[index].sentence:
        return False
    small = tuple(word.text for word in between)
    return small in _PAIRS or (len(small) < 2 and all(sign in _SMALL for sign in small))


def _find(claim: AnalyzedText, first: int, last: int, texts: Texts, runs: list[EvidenceSpan]) -> SlotFinding:
    slot = ClaimSlot(claim.plain.text[claim.words[first].start : claim.words[last].end], *claim.origin(first, last))
    keys = [claim.words[index].key for index in range(first, last + 1) if claim.words[index].text[0].isupper()]
    own = [
        EvidenceSpan(passage, index)
        for passage, reading in enumerate(texts.readings)
        for key in keys
        for index in reading.places.get(key, ())
    ]
    whole = all(texts.has(key) or any(key in name for name in texts.names) for key in keys)
    bound = bind_slot(slot_context(claim, range(first, last + 1)), texts.readings, [*own, *runs], set(own).__contains__)
    if first in denied_words(claim):  # "it is not in Norway" says nothing against "it is in Iceland"
        return SlotFinding(rule="name", slot=slot, outcome="stated" if whole else "absent")
    if (
        bound.other is None
        or not bound.conflicts(at_least=FITS, ratio=RATIO)
        or _is_in_same_sentence(bound.other, own, texts)
        or _is_spelt_otherwise(claim.words[first : last + 1], bound.other, texts)
    ):
        return SlotFinding(rule="name", slot=slot, outcome="stated" if whole else "absent")
    return conflict_finding("name", slot, texts, bound.other)


def _is_in_same_sentence(other: EvidenceSpan, own: list[EvidenceSpan], texts: Texts) -> bool:
    """True if the claim's own name is also in the sentence of the other one."""
    words = texts.readings[other.passage].words
    sentence = words[other.index].sentence
    return any(place.passage == other.passage and words[place.index].sentence == sentence for place in own)


def _is_spelt_otherwise(own: Sequence[Word], other: EvidenceSpan, texts: Texts) -> bool:
    """True if one is the other's initials, or a word of one differs from the other's in a vowel ("Faroe",
    "Faeroes").
    """
    theirs = texts.readings[other.passage].words[other.index : other.last + 1]
    if _initials(own) == _letters(theirs) or _letters(own) == _initials(theirs):
        return True
    return any(_differ_in_a_vowel(one.key, two.key) for one, two in product(own, theirs))


def _initials(name: Sequence[Word]) -> str:
    """IPL of the Indian Premier League; for a single word, something that no word is."""
    capitals = [word.text[0] for word in name if word.text[0].isupper()]
    return "".join(capitals) if len(capitals) > 1 else "-"


def _letters(name: Sequence[Word]) -> str:
    return name[0].text.replace(".", "") if len(name) == 1 else ""


def _differ_in_a_vowel(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(long) < _LIKE or len(long) - len(short) > 1 or long.startswith(short):
        return False
    return _VOWELS.sub("", one) == _VOWELS.sub("", other)
