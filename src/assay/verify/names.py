"""Whether the evidence has another name in the place where the claim has one."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from assay.verify.binding import Place, bind, context
from assay.verify.findings import Finding, Slot
from assay.verify.negation import denied
from assay.verify.number_words import MONTHS
from assay.verify.reading import COMMON, Reading, Texts, Word

FITS, RATIO = 0.7, 1.2


def find(claim: Reading, texts: Texts) -> Iterator[Finding]:
    """A finding for each name of the claim: a run of words with capitals which the evidence writes with capitals too.

    That a name is absent is a sign only: it may be an alias, or the document's own. A veto is another name which the
    claim does not mention, where everything else of the claim stands around it.
    """
    mentioned = {word.key for word in claim.words}
    runs = [
        Place(passage, first, last)
        for passage, reading in enumerate(texts.readings)
        for first, last in names(reading)
        if not any(reading.words[index].key in mentioned for index in range(first, last + 1))
    ]
    theirs = {
        reading.words[index].key
        for reading in texts.readings
        for index in range(len(reading.words))
        if reading.words[index].kind == "name"
    }
    for first, last in names(claim, theirs):
        yield _find(claim, first, last, texts, runs)


def names(reading: Reading, known: Collection[str] = ()) -> list[tuple[int, int]]:
    """Runs of names, first and last word; small words such as "of" may stand inside.

    The first word of a sentence counts as one where its stem is in `known`.
    """
    found: list[tuple[int, int]] = []
    for index, word in enumerate(reading.words):
        if not _is_name(word, known):
            continue
        if found and index - found[-1][1] <= 2 and _joins(reading, found[-1][1], index):
            found[-1] = (found[-1][0], index)
        else:
            found.append((index, index))
    return found


def _is_name(word: Word, known: Collection[str]) -> bool:
    if word.key in COMMON or len(word.key) < 2:
        return False
    if len(word.text) > 3 and word.text.lower() in MONTHS:
        return False
    return word.kind == "name" or (word.kind == "word" and word.text[0].isupper() and word.key in known)


def _joins(reading: Reading, last: int, index: int) -> bool:
    between = reading.words[last + 1 : index]
    return reading.words[last].sentence == reading.words[index].sentence and all(
        word.text in {"of", "de", "the", "van", "von", "&", "-", "'"} for word in between
    )


def _find(claim: Reading, first: int, last: int, texts: Texts, runs: list[Place]) -> Finding:
    slot = Slot(claim.plain.text[claim.words[first].start : claim.words[last].end], *claim.origin(first, last))
    keys = [claim.words[index].key for index in range(first, last + 1) if claim.words[index].text[0].isupper()]
    own = [
        Place(passage, index)
        for passage, reading in enumerate(texts.readings)
        for key in keys
        for index in reading.places.get(key, ())
    ]
    whole = all(texts.has(key) or _named(key, texts) for key in keys)
    bound = bind(context(claim, range(first, last + 1)), texts.readings, [*own, *runs], set(own).__contains__)
    if first in denied(claim):  # "it is not in Norway" says nothing against "it is in Iceland"
        return Finding(rule="name", slot=slot, outcome="stated" if whole else "absent")
    if bound.other is None or not bound.conflicts(at_least=FITS, ratio=RATIO) or _beside(bound.other, own, texts):
        return Finding(rule="name", slot=slot, outcome="stated" if whole else "absent")
    reading = texts.readings[bound.other.passage]
    said = reading.plain.text[reading.words[bound.other.index].start : reading.words[bound.other.last].end]
    passage = texts.passages[bound.other.passage]
    return Finding(rule="name", slot=slot, outcome="conflict", said=said, passage=passage, veto=True)


def _beside(other: Place, own: list[Place], texts: Texts) -> bool:
    """Whether the claim's own name stands in the sentence of the other one too."""
    words = texts.readings[other.passage].words
    sentence = words[other.index].sentence
    return any(place.passage == other.passage and words[place.index].sentence == sentence for place in own)


def _named(key: str, texts: Texts) -> bool:
    return any(key in name for name in texts.names)
