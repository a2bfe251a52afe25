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
    theirs = written_as_names(texts)
    for first, last in names(claim, theirs):
        yield _find(claim, first, last, texts, runs)


def written_as_names(texts: Texts) -> set[str]:
    """The stems that the evidence always writes with a capital: a title capitalizes any word."""
    all_words = [word for reading in texts.readings for word in reading.words]
    small = {word.key for word in all_words if word.text[0].islower()}
    return {word.key for word in all_words if word.kind == "name"} - small


def names(reading: AnalyzedText, name_keys: Collection[str] = ()) -> list[tuple[int, int]]:
    """Runs of names, first and last word; small words such as "of" may be inside.

    The first word of a sentence counts as one if its stem is in `name_keys`.
    """
    runs: list[tuple[int, int]] = []
    for index, word in enumerate(reading.words):
        if not _is_name(word, name_keys):
            continue
        if runs and index - runs[-1][1] <= 3 and _joins(reading, runs[-1][1], index):
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    return runs


def _is_name(word: Word, name_keys: Collection[str]) -> bool:
    lower = word.text.lower()
    if word.common or len(word.key) < 2 or lower in _NO_NAMES or (len(lower) > 3 and lower in MONTHS):
        return False
    return word.kind == "name" or (word.kind == "word" and word.text[0].isupper() and word.key in name_keys)


def _joins(reading: AnalyzedText, last: int, index: int) -> bool:
    between = reading.words[last + 1 : index]
    if reading.words[last].sentence != reading.words[index].sentence:
        return False
    small = tuple(word.text for word in between)
    return small in _PAIRS or (len(small) < 2 and all(sign in _SMALL for sign in small))


def _find(claim: AnalyzedText, first: int, last: int, texts: Texts, runs: list[EvidenceSpan]) -> SlotFinding:
    slot = ClaimSlot(claim.plain.text[claim.words[first].start : claim.words[last].end], *claim.origin(first, last))
    keys = [claim.words[index].key for index in range(first, last + 1) if claim.words[index].text[0].isupper()]
    own_spans = [
        EvidenceSpan(passage, index)
        for passage, reading in enumerate(texts.readings)
        for key in keys
        for index in reading.places.get(key, ())
    ]
    is_stated = all(texts.has(key) or any(key in name for name in texts.names) for key in keys)
    slot_fit = bind_slot(
        slot_context(claim, range(first, last + 1)), texts.readings, [*own_spans, *runs], set(own_spans).__contains__
    )
    if first in denied_words(claim):  # "it is not in Norway" says nothing against "it is in Iceland"
        return SlotFinding(rule="name", slot=slot, outcome="stated" if is_stated else "absent")
    if (
        slot_fit.other is None
        or not slot_fit.conflicts(at_least=FITS, ratio=RATIO)
        or _is_in_same_sentence(slot_fit.other, own_spans, texts)
        or is_spelt_otherwise(claim.words[first : last + 1], slot_fit.other, texts)
        or (not _has_article(claim, first) and _is_role(slot_fit.other, texts))
    ):
        return SlotFinding(rule="name", slot=slot, outcome="stated" if is_stated else "absent")
    return conflict_finding("name", slot, texts, slot_fit.other)


def _is_in_same_sentence(other: EvidenceSpan, own_spans: list[EvidenceSpan], texts: Texts) -> bool:
    """True if the claim's own name is also in the sentence of the other one."""
    words = texts.readings[other.passage].words
    sentence = words[other.index].sentence
    return any(span.passage == other.passage and words[span.index].sentence == sentence for span in own_spans)


def _is_role(other: EvidenceSpan, texts: Texts) -> bool:
    """True for one word after "the": "the Supplier", which may be anybody's role."""
    return other.index == max(other.index, other.last) and _has_article(texts.readings[other.passage], other.index)


def _has_article(reading: AnalyzedText, index: int) -> bool:
    return index > 0 and reading.words[index - 1].text.lower() == "the"


def is_spelt_otherwise(own_words: Sequence[Word], other: EvidenceSpan, texts: Texts) -> bool:
    """True if one is the other's initials, or a word of one differs from the other's in a vowel ("Faroe",
    "Faeroes").
    """
    theirs = texts.readings[other.passage].words[other.index : other.last + 1]
    if _initials(own_words) == _letters(theirs) or _letters(own_words) == _initials(theirs):
        return True
    return any(_differ_in_a_vowel(own_word.key, two.key) for own_word, two in product(own_words, theirs))


def _initials(name: Sequence[Word]) -> str:
    """IPL of the Indian Premier League; for a single word, something that no word is."""
    capitals = [word.text[0] for word in name if word.text[0].isupper()]
    return "".join(capitals) if len(capitals) > 1 else "-"


def _letters(name: Sequence[Word]) -> str:
    return name[0].text.replace(".", "") if len(name) == 1 else ""


def _differ_in_a_vowel(word: str, other: str) -> bool:
    short, long = sorted((word, other), key=len)
    if len(long) < _LIKE or len(long) - len(short) > 1 or long.startswith(short):
        return False
    return _VOWELS.sub("", word) == _VOWELS.sub("", other)
