"""Checks whether cause and effect, or before and after, have changed places.

"The trains run late because the bridge is closed" against "The bridge is closed because the trains run late": all words
of the claim stand in the evidence, on the other sides of "because".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from assay.verify.analyzed_text import AnalyzedText, Texts, Word
from assay.verify.evidence import ClaimSlot, EvidenceSpan, SlotFinding, conflict_finding
from assay.verify.rules.polarity import denied_words
from assay.verify.verifier.index import same_sense

_Kind = Literal["cause", "time"]

_CONNECTIVES: dict[tuple[str, ...], tuple[_Kind, bool]] = {("after",): ("time", True), ("before",): ("time", False)}
"""What joins two statements: its kind, and whether the effect, or what is later, stands before it."""
_CONNECTIVES |= {
    tuple(phrase.split()): ("cause", True)
    for phrase in """
    because; because of; due to; owing to; as a result of; as a consequence of; thanks to; caused by; attributed to;
    attributable to; result of; resulted from; results from; resulting from; stems from; stemmed from; brought about by;
    driven by; down to
    """.split(";")
}
_CONNECTIVES |= {
    tuple(phrase.split()): ("cause", False)
    for phrase in """
    led to; leads to; lead to; leading to; resulted in; results in; result in; resulting in; caused; causes; causing;
    gave rise to; gives rise to; triggered; triggers; brought about; , so
    """.split(";")
}
_LONGEST = max(map(len, _CONNECTIVES))
_COVERED = 0.5
"""How much of each side of the claim the other side of the evidence must say. By hand."""
_SHARED = 3
"""How many words both sides must share with the other ones. By hand."""
_BREAKS = frozenset(("but", "while", "whereas", "although", "though", "which", "who", ";", "(", ")", ":"))
"""Signs and words at which a side ends."""
_NO_VERBS = frozenset("a an the of no its their any this that other".split())
"""Words before a noun: "the causes"."""
_DENIED_REACH = 2
"""How many words before what joins two statements may deny it: "not simply because"."""


class Relation(msgspec.Struct, frozen=True):
    """Two statements, each by the keys of its words, and the first and last word of both.

    `first` is the cause, or what came earlier.
    """

    kind: _Kind
    first: frozenset[str]
    then: frozenset[str]
    start: int
    end: int


def find(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """A conflict for each relation of the claim that the evidence states the other way round, and never so."""
    ours = list(_relations(claim))
    distinct: dict[tuple[_Kind, frozenset[str], frozenset[str]], tuple[int, Relation]] = {}
    for passage, reading in enumerate(texts.readings if ours else ()):
        for each in _relations(reading):
            distinct.setdefault((each.kind, each.first, each.then), (passage, each))
    for own in ours:
        alike = [(passage, each) for passage, each in distinct.values() if each.kind == own.kind]
        turned = [(passage, each) for passage, each in alike if _is_turned(own, each)]
        if turned and not any(all(_agreement(own, each)) for _, each in alike):
            passage, each = turned[0]
            text = claim.plain.text[claim.words[own.start].start : claim.words[own.end].end]
            slot = ClaimSlot(text, *claim.origin(own.start, own.end))
            yield conflict_finding("order", slot, texts, EvidenceSpan(passage, each.start, each.end))


def _is_turned(own: Relation, theirs: Relation) -> bool:
    first, then = (
        _shared_count(own.first, theirs.then - theirs.first),
        _shared_count(own.then, theirs.first - theirs.then),
    )
    is_covered = first >= _COVERED * len(own.first) and then >= _COVERED * len(own.then)
    return is_covered and first + then >= _SHARED and not any(_agreement(own, theirs))


def _shared_count(side: frozenset[str], keys: frozenset[str]) -> int:
    return sum(not same_sense(key).isdisjoint(keys) for key in side)


def _agreement(own: Relation, theirs: Relation) -> tuple[bool, bool]:
    """Whether each side of the claim has a word that only the same side of the evidence has."""
    first = (own.first - own.then) & (theirs.first - theirs.then)
    then = (own.then - own.first) & (theirs.then - theirs.first)
    return bool(first), bool(then)


def _relations(reading: AnalyzedText) -> Iterator[Relation]:
    words, denied = reading.words, denied_words(reading)
    for indices in reading.sentence_ranges():
        joints = list(_joints(words, indices))
        for position, joint in enumerate(joints):
            near = words[max(indices.start, joint.start - _DENIED_REACH) : joint.start]
            if joint.start in denied or any(word.key == "not" for word in near):
                continue
            start = joints[position - 1].end if position else indices.start
            end = joints[position + 1].start if position + 1 < len(joints) else indices.stop
            before, after = range(start, joint.start), range(joint.end, end)
            if not _keys(words, before):  # "Because of rain, the match was stopped."
                comma = next((index for index in after if words[index].text == ","), end)
                before, after = range(comma, end), range(joint.end, comma)
            sides = _keys(words, _last_part(words, before)), _keys(words, _first_part(words, after))
            if all(sides):
                first, then = reversed(sides) if joint.is_after_effect else sides
                yield Relation(joint.kind, first, then, min(start, joint.start), end - 1)


class _Joint(msgspec.Struct, frozen=True):
    """The words `[start, end)` that join two statements."""

    start: int
    end: int
    kind: _Kind
    is_after_effect: bool


def _joints(words: Sequence[Word], indices: range) -> Iterator[_Joint]:
    until = indices.start
    for start in indices:
        for length in range(_LONGEST, 0, -1) if start >= until else ():
            phrase = tuple(word.text.lower() for word in words[start : min(start + length, indices.stop)])
            is_noun = length == 1 and start > indices.start and words[start - 1].text.lower() in _NO_VERBS
            if phrase in _CONNECTIVES and not is_noun:
                until = start + len(phrase)
                yield _Joint(start, until, *_CONNECTIVES[phrase])
                break


def _last_part(words: Sequence[Word], indices: range) -> range:
    """What follows the last break; one at the end of the side ("…, which led to") is passed over."""
    breaks = [index + 1 for index in indices[:-2] if _is_break(words, index)]
    return range(max(breaks, default=indices.start), indices.stop)


def _first_part(words: Sequence[Word], indices: range) -> range:
    breaks = (index for index in indices if _is_break(words, index))
    return range(indices.start, next(breaks, indices.stop))


def _is_break(words: Sequence[Word], index: int) -> bool:
    follows = words[index + 1].text.lower() if index + 1 < len(words) else ""
    return words[index].text.lower() in _BREAKS or (words[index].text == "," and follows in ("and", "or"))


def _keys(words: Sequence[Word], indices: range) -> frozenset[str]:
    return frozenset(words[index].key for index in indices if words[index].kind != "sign" and not words[index].common)
