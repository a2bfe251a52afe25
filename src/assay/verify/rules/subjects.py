"""Checks whether a sentence of the evidence has another name, and else all that the claim says.

"Kerr said that the bridge was safe" against "Osei said that the bridge was safe. Kerr asked for a second report." Where
both names stand near each other, the words around them cannot tell whose words or deeds they are; the sentences can.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from itertools import product

import msgspec

from assay.core.lazy import regex
from assay.core.relevance.topic_question import CAPITALIZING
from assay.verify.analyzed_text import AnalyzedText, Texts, stem
from assay.verify.evidence import ClaimSlot, EvidenceSpan, SlotFinding, conflict_finding
from assay.verify.rules.names import is_spelt_otherwise, names, written_as_names
from assay.verify.rules.polarity import denied_words

_SAID = 0.9
"""The share of the claim's other words that the sentence about another must have, with all numbers. By hand."""
_LEAST = 2
"""How many words that is at least; fewer if the sentence says nothing else."""
_WHOLE = 3
"""How many times as many words that sentence may have, which may tell of several. By hand."""
_HEAD = 7
"""How many words and signs may stand before a subject's name: "the leader of the opposition, Rita Holm". By hand."""
_PRONOUNS = frozenset("i you he she it we they who this that these those there".split())
"""Words that are subjects themselves."""
_ALIKE = 6
"""The distance in words of two names that may be one person's. By hand."""
_ALIAS = frozenset("known as called also or alias aka formerly born the a an is was".split())
"""Words that may join them."""
_SPEECH = frozenset(
    map(
        stem,
        """
        said say says tell told tells announced announces argued argues replied replies claimed claims stated states
        wrote writes explained explains noted notes added adds declared declares confirmed confirms reported reports
        insisted insists maintained maintains remarked observed commented according
        """.split(),
    )
)
"""Verbs of speech, of which any may stand for another."""
_OF_A_PLACE = regex(r"\w{2,}(?:ese|ish|an|ch)")
"""A single name that may only describe what follows: "Portuguese striker"."""


class _Subject(msgspec.Struct, frozen=True):
    """A name that begins a sentence or speaks in it, first and last word, by its keys; `told` has those of the rest."""

    first: int
    last: int
    name: frozenset[str]
    told: frozenset[str]


def find(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """A conflict for each name that begins a sentence of the claim or speaks in it, if another said or did the rest.

    Not where nouns have capitals as names do.
    """
    if texts.language(claim) in CAPITALIZING:
        return
    as_names, denied = written_as_names(texts), denied_words(claim)
    ours = [own for own in _subjects(claim, as_names) if own.told and own.first not in denied]
    distinct: dict[tuple[frozenset[str], frozenset[str]], tuple[int, _Subject]] = {}
    for passage, reading in enumerate(texts.readings if ours else ()):
        for each in _subjects(reading, as_names):
            distinct.setdefault((each.name, each.told), (passage, each))
    for own in ours:
        other = next(
            (pair for pair in distinct.values() if _is_told_of(own, pair[1]) and _is_another(claim, own, *pair, texts)),
            None,
        )
        if other is not None:
            passage, each = other
            text = claim.plain.text[claim.words[own.first].start : claim.words[own.last].end]
            slot = ClaimSlot(text, *claim.origin(own.first, own.last))
            finding = conflict_finding("name", slot, texts, EvidenceSpan(passage, each.first, each.last))
            yield msgspec.structs.replace(finding, certain=True)


def _is_told_of(own: _Subject, each: _Subject) -> bool:
    """True if `each` has what is told of `own`, and neither sentence has the other's name."""
    shared = own.told & each.told
    return (
        len(shared) >= _SAID * len(own.told)
        and (len(own.told) >= _LEAST or own.told == each.told)
        and _WHOLE * len(own.told) >= len(each.told)
        and all(key in shared for key in own.told if key.startswith("#"))
        and not own.name & each.told
        and not each.name & own.told
    )


def _is_another(claim: AnalyzedText, own: _Subject, passage: int, each: _Subject, texts: Texts) -> bool:
    """True if the evidence has the claim's name, too, but not near the other or in a question, and says less of it."""
    own_name, their_name = own.name - each.name, each.name - own.name
    span = EvidenceSpan(passage, each.first, each.last)
    runs = ((claim, own), (texts.readings[passage], each))
    if any(run.first == run.last and _OF_A_PLACE.fullmatch(reading.words[run.first].text) for reading, run in runs):
        return False
    articles = {run.first > 0 and reading.words[run.first - 1].text.lower() == "the" for reading, run in runs}
    if len(articles) > 1:  # an office, which may speak through a person: "the White House"
        return False
    if not own_name or not their_name or is_spelt_otherwise(claim.words[own.first : own.last + 1], span, texts):
        return False
    about = [(reading, indices) for reading in texts.readings for indices in _statements_about(reading, own_name)]
    return bool(about) and not any(
        reading.words[indices[-1]].text == "?"
        or _may_be_one(reading, indices, own_name, their_name)
        or 2 * len(own.told & _keys(reading, indices)) >= len(own.told)
        for reading, indices in about
    )


def _statements_about(reading: AnalyzedText, name: Collection[str]) -> Iterator[range]:
    """The statements with a word of a name, and those after them that begin with a pronoun."""
    is_about = False
    for indices in _statements(reading):
        is_pronoun = reading.words[indices.start].text.lower() in _PRONOUNS
        is_about = (is_about and is_pronoun) or any(reading.words[index].key in name for index in indices)
        if is_about:
            yield indices


def _may_be_one(reading: AnalyzedText, indices: range, one: Collection[str], other: Collection[str]) -> bool:
    """True if two names stand beside each other as those of one person may: "Agnes Bojaxhiu, known as Teresa"."""
    ones = [index for index in indices if reading.words[index].key in one]
    others = [index for index in indices if reading.words[index].key in other]
    pairs = (sorted(pair) for pair in product(ones, others))
    between = (reading.words[first + 1 : last] for first, last in pairs if last - first <= _ALIKE)
    return any(all(word.kind in ("sign", "name") or word.text.lower() in _ALIAS for word in words) for words in between)


def _subjects(reading: AnalyzedText, as_names: Collection[str]) -> Iterator[_Subject]:
    """The name that speaks in each sentence, else the one that begins it."""
    runs = names(reading, as_names)
    starts = [first for first, _ in runs]
    for indices in _statements(reading) if runs else ():
        named = runs[bisect_left(starts, indices.start) : bisect_left(starts, indices.stop)]
        is_whole = indices.start == 0 or reading.words[indices.start - 1].text != ";"
        before = {word.text.lower() for word in reading.words[indices.start : named[0][0]]} if named else set()
        is_head = len(before) <= (_HEAD if is_whole else 0) and before.isdisjoint(_PRONOUNS)
        heads = named[:1] if is_head else []
        for first, last in [run for run in named if _speaks(reading, *run)][:1] or heads:
            name = _keys(reading, range(first, last + 1))
            rest = [index for index in indices if not first <= index <= last]
            if name:
                yield _Subject(first, last, name, _keys(reading, rest))


def _statements(reading: AnalyzedText) -> Iterator[range]:
    """The sentences of a text, cut at semicolons."""
    for indices in reading.sentence_ranges():
        start = indices.start
        for end in (*(index for index in indices if reading.words[index].text == ";"), indices.stop):
            if end > start:
                yield range(start, end)
            start = end + 1


def _speaks(reading: AnalyzedText, first: int, last: int) -> bool:
    """True if a verb of speech stands directly before or after a name."""
    beside = (reading.words[index] for index in (first - 1, last + 1) if 0 <= index < len(reading.words))
    return any(word.kind == "word" and word.key in _SPEECH for word in beside)


def _keys(reading: AnalyzedText, indices: Sequence[int]) -> frozenset[str]:
    """The keys of significant words."""
    words = (reading.words[index] for index in indices)
    return frozenset(word.key for word in words if word.kind != "sign" and not word.common and word.key not in _SPEECH)
