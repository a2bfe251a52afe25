"""Checks whether a number measures in the claim what the evidence sets against it: profit and loss, height and length.

"The net profit was 42 million" has all its words in "The net loss was 42 million, after a net profit of 8 million".
Only words that stand in one clause with the number count, and no place of the number may have the claim's word. A
clause with the same names in another order may say the same from the other side: "Ribe lies 42 km south of Varde".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import takewhile

from assay.core.lazy import regex
from assay.verify.amounts import Amount, Token
from assay.verify.analyzed_text import AnalyzedText, Texts, stem
from assay.verify.evidence import EvidenceSpan, SlotFinding, conflict_finding, word_slot
from assay.verify.number_matches import states

_GROUPS = """
profit profits | loss losses
surplus surpluses | deficit deficits
import imports imported | export exports exported
asset assets | liability liabilities
income | expenditure expenditures expenses
birth births born | death deaths died
high height tall | long length | wide width | deep depth
male males men man boys | female females women woman girls
minimum | maximum | average mean | median
winter | spring | summer | autumn
north northern | south southern | east eastern | west western
gross | net
urban | rural
domestic | foreign
"""
"""Words that name what a number measures, in groups of which one excludes the others."""


_NEAR = 12
"""How many words of a clause count on each side of a number."""
MAX_COMPARISONS = 100_000
"""The product of numbers in the claim and in the evidence; above it, which would take seconds, nothing is compared."""
_BEFORE_YEAR = 4
"""How many words after a number its year may begin."""
_TOWARDS = frozenset(("on", "for", "to", "from", "with"))
_YEAR = regex(r"1[5-9]\d\d|20\d\d")


@cache
def _exclusions() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """For each stem, those that say the same, and those that it excludes."""
    table: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for line in _GROUPS.split("\n"):
        senses = [frozenset(stem(word) for word in sense.split()) for sense in line.split("|")]
        for sense in senses:
            others = frozenset[str]().union(*(other for other in senses if other is not sense))
            table |= dict.fromkeys(sense, (sense, others))
    return table


def find(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """A conflict for each word that the evidence replaces by one it excludes, wherever it states the number."""
    amounts = [
        (index, word.token)
        for index, word in enumerate(claim.words)
        if isinstance(word.token, Amount) and not (word.token.word or _YEAR.fullmatch(word.token.text))
    ]
    every = [word.token for reading in texts.readings for word in reading.words if word.token]
    if len(amounts) * len(every) <= MAX_COMPARISONS:
        for index, amount in amounts:
            yield from _conflicts(claim, index, amount, texts, every)
            yield from _other_years(claim, index, amount, texts, every)
            yield from _other_objects(claim, index, amount, texts, every)


def _other_years(
    claim: AnalyzedText, index: int, amount: Amount, texts: Texts, every: Sequence[Token]
) -> Iterator[SlotFinding]:
    """A conflict for the year of a number ("3,120 in 2025"), if the evidence states it only beside other years."""
    year = _year_after(claim, index)
    spans = list(_stating_spans(amount, texts, every)) if year is not None else []
    years = [_year_after(texts.readings[span.passage], span.index) for span in spans]
    if year is None or not years or None in years:
        return
    theirs = EvidenceSpan(spans[0].passage, years[0] or 0)
    if all(
        texts.readings[span.passage].words[each or 0].text != claim.words[year].text
        for span, each in zip(spans, years, strict=True)
    ):
        yield conflict_finding("date", word_slot(claim, year), texts, theirs)


def _other_objects(
    claim: AnalyzedText, index: int, amount: Amount, texts: Texts, every: Sequence[Token]
) -> Iterator[SlotFinding]:
    """A conflict for what a number goes to ("84,000 on books"), if that has another number in the same sentence."""
    own = _object_after(claim, index)
    spans = list(_stating_spans(amount, texts, every)) if own is not None else []
    if own is None or len(spans) != 1:
        return
    reading, place = texts.readings[spans[0].passage], spans[0].index
    beside = [
        _object_after(reading, other)
        for other, word in enumerate(reading.words)
        if word.token and word.sentence == reading.words[place].sentence
    ]
    theirs, preposition = _object_after(reading, place), claim.words[index + 1].text
    if (
        theirs is None
        or reading.words[place + 1].text != preposition
        or claim.words[own].key in _phrase(reading, theirs)
    ):
        return
    if any(other is not None and reading.words[other].key == claim.words[own].key for other in beside):
        yield conflict_finding("number", word_slot(claim, own), texts, EvidenceSpan(spans[0].passage, theirs))


def _object_after(reading: AnalyzedText, index: int) -> int | None:
    """The first significant word after a preposition that follows a number directly."""
    if index + 1 >= len(reading.words) or reading.words[index + 1].text.lower() not in _TOWARDS:
        return None
    after = range(index + 2, min(index + _BEFORE_YEAR + 1, len(reading.words)))
    found = next((each for each in after if not reading.words[each].common), None)
    return found if found is not None and reading.words[found].kind in ("word", "name") else None


def _phrase(reading: AnalyzedText, index: int) -> set[str]:
    """The keys of a few words from `index` on, up to a sign or a number."""
    words = reading.words[index : index + _BEFORE_YEAR]
    return {word.key for word in takewhile(lambda word: word.kind in ("word", "name"), words)}


def _year_after(reading: AnalyzedText, index: int) -> int | None:
    """The year that follows a number, perhaps after a word for what it counts: "3,120 pupils in 2025"."""
    for place in range(index + 1, min(index + _BEFORE_YEAR, len(reading.words) - 1)):
        if reading.words[place].text.lower() == "in":
            return place + 1 if _YEAR.fullmatch(reading.words[place + 1].text) else None
    return None


def _conflicts(
    claim: AnalyzedText, index: int, amount: Amount, texts: Texts, every: Sequence[Token]
) -> Iterator[SlotFinding]:
    clause = [each for each in _clause(claim, index) if claim.words[each].kind == "word"]
    things = [each for each in clause if claim.words[each].key in _exclusions()]
    spans = list(_stating_spans(amount, texts, every)) if things else []
    for thing in things:
        sense, others = _exclusions()[claim.words[thing].key]
        instead = [_first_with(others, span, texts) for span in spans]
        if not spans or None in instead or any(_first_with(sense, span, texts) is not None for span in spans):
            continue
        if any(_is_from_other_side(claim, index, texts.readings[span.passage], span.index) for span in spans):
            continue
        yield from (
            conflict_finding("number", word_slot(claim, thing), texts, span) for span in instead[:1] if span is not None
        )


def _stating_spans(amount: Amount, texts: Texts, every: Sequence[Token]) -> Iterator[EvidenceSpan]:
    for passage, reading in enumerate(texts.readings):
        for index, word in enumerate(reading.words):
            if word.token and states(word.token, amount, every):
                yield EvidenceSpan(passage, index)


def _first_with(keys: frozenset[str], span: EvidenceSpan, texts: Texts) -> EvidenceSpan | None:
    """The first word with one of `keys` in the clause of a number."""
    reading = texts.readings[span.passage]
    found = next((each for each in _clause(reading, span.index) if reading.words[each].key in keys), None)
    return None if found is None else EvidenceSpan(span.passage, found)


def _is_from_other_side(claim: AnalyzedText, index: int, reading: AnalyzedText, their_index: int) -> bool:
    """True if the clauses of two numbers have the same names in another order."""
    names, theirs = _names(claim, index), _names(reading, their_index)
    return [name for name in names if name in theirs] != [name for name in theirs if name in names]


def _names(reading: AnalyzedText, index: int) -> list[str]:
    """The keys of the words in capitals in a clause, which may begin with one."""
    near = (reading.words[each] for each in _clause(reading, index))
    return list(dict.fromkeys(word.key for word in near if word.text[:1].isupper() and not word.common))


def _clause(reading: AnalyzedText, index: int) -> list[int]:
    """The indices of the words near a word in its clause."""
    near = range(max(0, index - _NEAR), min(len(reading.words), index + _NEAR + 1))
    return [each for each in near if reading.words[each].clause == reading.words[index].clause]
