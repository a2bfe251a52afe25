"""Checks whether two parties have changed places: who did something to whom, or which of two is denied.

"Harlow sold it to Brent" against "Brent sold it to Harlow", "Paris, not Lyon" against "Lyon, not Paris". All words
of such a sentence stand in the evidence. Both parties must be in one sentence of it, and none may say it as the claim
does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from assay.core.lazy import regex
from assay.verify.analyzed_text import AnalyzedText, Texts, Word
from assay.verify.evidence import ClaimSlot, EvidenceSpan, SlotFinding, conflict_finding
from assay.verify.rules.names import names
from assay.verify.verifier.index import same_sense

_SHARED = 1
"""How many other words the two sentences must share to be about the same thing. By hand."""
_PAST = regex(
    r"[a-z]{3,}ed|beat|bought|brought|built|chose|drove|gave|held|hit|hurt|kept|led|left|lent|lost|made|paid|put|"
    r"sent|shot|sold|sued|taught|told|took|won|wrote"
)
"""Forms of verbs that do something to something."""
_MUTUAL = frozenset(
    "married remarried divorced wedded joined resembled equaled equalled matched adjoined bordered faced accompanied "
    "allied encountered played debated neighbored neighboured".split()
)
"""Those of which both parties do the same: "Ann married Bo", "Bo married Ann"."""
_AUXILIARIES = frozenset(("had", "has", "have", "also", "then", "later", "first"))
_DETERMINERS = frozenset("a an the its his her their all both each every some any no this that these those".split())
_PASSIVE_REACH = 6
"""How many words after a verb its "by" may stand."""
_SPAN = 40
"""How many words of a sentence count on each side of a verb or "not"."""
_TURNS = frozenset((",", "but", "and"))


class _Deed(msgspec.Struct, frozen=True):
    """A verb in its sentence: the word before it that tells who acts, and the words before and after it, by key."""

    verb: int
    actor: int
    before: frozenset[str]
    after: frozenset[str]
    is_passive: bool


def find(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """A conflict for each party of the claim that has changed places with another."""
    yield from _exchanged_actors(claim, texts)
    yield from _exchanged_denials(claim, texts)


def _exchanged_actors(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    found: dict[frozenset[str], list[tuple[int, _Deed]]] = {}
    for deed in _deeds(claim):
        senses = same_sense(claim.words[deed.verb].key)
        if senses not in found:
            readings = enumerate(texts.readings)
            found[senses] = [(passage, theirs) for passage, reading in readings for theirs in _deeds(reading, senses)]
        alike = found[senses]
        if any(claim.words[deed.actor].key in theirs.before for _, theirs in alike):
            continue
        for passage, theirs in alike:
            if _have_changed_places(claim.words[deed.actor].key, deed, _key(texts, passage, theirs.actor), theirs):
                yield _conflict(claim, deed.actor, texts, passage, theirs.actor)
                break


def _conflict(claim: AnalyzedText, index: int, texts: Texts, passage: int, instead: int) -> SlotFinding:
    """The finding about a word of the claim and the one in its place, each with the name it belongs to."""
    first, last = _name_around(claim, index)
    slot = ClaimSlot(claim.plain.text[claim.words[first].start : claim.words[last].end], *claim.origin(first, last))
    return conflict_finding(
        "order", slot, texts, EvidenceSpan(passage, *_name_around(texts.readings[passage], instead))
    )


def _name_around(reading: AnalyzedText, index: int) -> tuple[int, int]:
    return next(((first, last) for first, last in names(reading) if first <= index <= last), (index, index))


def _key(texts: Texts, passage: int, index: int) -> str:
    return texts.readings[passage].words[index].key


def _have_changed_places(actor: str, deed: _Deed, their_actor: str, theirs: _Deed) -> bool:
    is_exchanged = actor in theirs.after and their_actor in deed.after - deed.before
    shared = ((deed.before | deed.after) & (theirs.before | theirs.after)) - {actor, their_actor}
    return is_exchanged and deed.is_passive == theirs.is_passive and len(shared) >= _SHARED


def _deeds(reading: AnalyzedText, senses: frozenset[str] = frozenset()) -> Iterator[_Deed]:
    """The words with one of `senses` that may be verbs: in small letters, next to a word that may tell who acts.

    Without `senses`, those which look like a past tense with an object: "sold the dam", "warned Pia".
    """
    for words in reading.sentence_ranges():
        for position, index in enumerate(words):
            word = reading.words[index]
            before, after = words[max(0, position - _SPAN) : position], words[position + 1 : position + _SPAN]
            if senses:
                is_meant = word.key in senses
            else:
                is_meant = _is_past_deed(word.text) and _begins_object(reading, after)
            actor = _actor(reading, before) if is_meant and word.kind == "word" and word.text.islower() else None
            if actor is not None and _is_telling(word):
                yield _Deed(
                    verb=index,
                    actor=actor,
                    before=_keys(reading, before),
                    after=_keys(reading, after),
                    is_passive=any(reading.words[each].text.lower() == "by" for each in after[:_PASSIVE_REACH]),
                )


def _is_past_deed(word: str) -> bool:
    return _PAST.fullmatch(word) is not None and word not in _MUTUAL


def _actor(reading: AnalyzedText, before: Sequence[int]) -> int | None:
    """The word directly before a verb, or before its auxiliary."""
    if before and reading.words[before[-1]].text.lower() in _AUXILIARIES:
        before = before[:-1]
    return before[-1] if before and _is_telling(reading.words[before[-1]]) else None


def _begins_object(reading: AnalyzedText, after: Sequence[int]) -> bool:
    first = reading.words[after[0]] if after else None
    return first is not None and (first.kind in ("name", "number") or first.text.lower() in _DETERMINERS)


def _is_telling(word: Word) -> bool:
    return word.kind in ("word", "name") and not word.common


def _keys(reading: AnalyzedText, indices: Sequence[int]) -> frozenset[str]:
    return frozenset(reading.words[index].key for index in indices if _is_telling(reading.words[index]))


def _exchanged_denials(claim: AnalyzedText, texts: Texts) -> Iterator[SlotFinding]:
    """A conflict if the claim denies what a sentence affirms instead of what it denies itself."""
    contrasts = [(passage, each) for passage, reading in enumerate(texts.readings) for each in _contrasts(reading)]
    for ours in _contrasts(claim) if contrasts else ():
        key = claim.words[ours.denied].key
        if any(_key(texts, passage, theirs.denied) == key for passage, theirs in contrasts):
            continue
        for passage, theirs in contrasts:
            their_key = _key(texts, passage, theirs.denied)
            if key in theirs.affirmed and their_key in ours.affirmed:
                yield _conflict(claim, ours.affirmed[their_key], texts, passage, theirs.affirmed[key])
                return


class _Contrast(msgspec.Struct, frozen=True):
    """The word that a sentence denies ("A, not B"), and its other words, by key."""

    denied: int
    affirmed: dict[str, int]


def _contrasts(reading: AnalyzedText) -> Iterator[_Contrast]:
    for words in reading.sentence_ranges():
        for position in range(1, len(words)):
            before, index = reading.words[words[position - 1]], words[position]
            if reading.words[index].text.lower() != "not" or before.text.lower() not in _TURNS:
                continue
            after = words[position + 1 : position + 4]
            denied = next((each for each in after if _is_telling(reading.words[each])), None)
            if denied is not None:
                near = words[max(0, position - _SPAN) : position + _SPAN]
                others = (each for each in near if each != denied and _is_telling(reading.words[each]))
                yield _Contrast(denied, {reading.words[each].key: each for each in others})
