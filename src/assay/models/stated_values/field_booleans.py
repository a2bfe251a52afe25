"""Fields that are true or false: filled only if a sentence or a line with a key says or denies them.

A sentence says it if it has all words of the field, beside each other but for words without a topic. Anything that
limits it leaves the field empty: a condition, another part of the same thing, a time that is over, what somebody only
said. Prose is read in English alone, since that needs words of this kind; lines with a key in all languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.core.languages import of_question
from assay.core.lazy import regex
from assay.core.lexicon import NEGATIVES, stop_terms
from assay.core.relevance import read_question
from assay.core.relevance.topic_question import keys
from assay.core.text import words
from assay.models.shown_documents.shelf import SourcePassages
from assay.models.stated_values.field_words import SAMPLE, WORD, FieldAsked

BOTH = "the documents say both yes and no"


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


YES = _set("yes true y ✓ ✔ ja oui sí si sì sim да 是 はい نعم हाँ")
NO = _set("no false n ✗ ✘ nein nee non não нет 否 いいえ لا नहीं")
_PERMITTED = _set(
    "open allow allows allowed permit permits permitted admit admits admitted welcome welcomes accessible"
)
_FORBIDDEN = _set("closed prohibited prohibits forbidden forbids banned bans barred bars excluded excludes disallowed")
_USE = _set("use enter cross ride travel visit access pass come walk drive park")
_LIMITS = _set("""
    if unless except only whether until till once formerly originally previously some most few many several partly
    partially mostly nearly almost largely usually often sometimes rarely hardly seldom might could would should will
    shall planned plans plan proposed proposes proposal expected hope hopes hoped want wants wanted ask asks asked
    claim claims claimed say says said alleged alleges rumour rumours rumoured rumor rumored believe believes believed
    think thinks thought argue argues argued suggest suggests suggested demand demands demanded request requests
    requested applied false untrue instead soon yet otherwise provided during between
""")
"""Words that limit a statement, or say that somebody else makes it."""
_ASKING = _set("whether if true false")
"""Words with which a description asks, and a document says nothing."""
_JOINS = _set("and or und oder")
_NO_CASE = regex(r"\bno (?:time|case|circumstances?|way|account|event|reason|longer)\b")
_PART = regex(r"[;:,()—–]|\b(?:but|while|whereas|although|though)\b", re.IGNORECASE)
_KEYED = regex(r"(?P<key>[^:|]{1,80}?)\s*[:|]\s*(?P<value>\S[^|]*)")
_VERBS = _set("is are was were be been has have had does do did not never longer now still also always")
_PRONOUNS = _set("it this they these")
_PAST = regex(r"\b(?:was|were|had been)\b.*\b(?:1\d{3}|20\d{2}|then|first|century)\b", re.IGNORECASE)
_OF_OTHERS = _set("no without")
"""These deny what is after them, which is not the field if all its words were before."""
PERMITTED, FORBIDDEN, OTHER = "(permitted)", "(forbidden)", "(other)"
"""Stand for any word that permits, any that forbids, and any with a topic that is not the field's."""


class StatedTruth(NamedTuple):
    """True or false, and the passage that says so."""

    value: bool
    passage: str


class _Wording(NamedTuple):
    """The keys that a sentence must have, and those of the subject, which it may have."""

    wanted: frozenset[str]
    subject: frozenset[str]
    analysis: str


def read_boolean(text: str) -> bool | None:
    """The value that a header field or a cell states with its first word: "yes, since 2004"."""
    first = (text.split(",")[0].split() or [""])[0].casefold().strip(".;*_")
    alone = len(text.split(",")[0].split()) == 1
    return True if alone and first in YES else False if alone and first in NO else None


def truths(asked: FieldAsked, books: Sequence[SourcePassages]) -> list[StatedTruth]:
    """Everything that the documents state of a field, in their order."""
    found: list[StatedTruth] = []
    analysis = read_question(asked.text).analysis
    for book in books:
        wordings = list(_wordings(asked, book.title, analysis))
        english = of_question(" ".join(each.text for each in book.passages)[:SAMPLE]) in ("", "en")
        for sentence in book.sentences:  # header fields were read before
            said = (_in_line(sentence.text, each) for each in wordings)
            value = next((each for each in said if each is not None), None)
            if value is None and english and analysis == "en" and sentence.kind == "prose":
                said = (_in_sentence(sentence.text, each) for each in wordings)
                value = next((each for each in said if each is not None), None)
            if value is not None:
                found.append(StatedTruth(value, sentence.passage))
    return found


def _wordings(asked: FieldAsked, title: str, analysis: str) -> Iterator[_Wording]:
    """The field by its name, and by its description."""
    subject = frozenset(keys(f"{' '.join(asked.names)} {title}", analysis))
    for text in (asked.label, asked.description):
        permits = not _PERMITTED.isdisjoint(words(text))
        own = {key for word in words(text) if word not in _PERMITTED | _ASKING for key in keys(word, analysis)}
        wanted = frozenset(own) - stop_terms(analysis) - subject
        if wanted or permits:
            yield _Wording(wanted | frozenset({PERMITTED} if permits else ()), subject, analysis)


def _in_line(text: str, wording: _Wording) -> bool | None:
    """The value of a line with a key: "Open to cyclists: yes"."""
    match = _KEYED.fullmatch(text)
    value = read_boolean(match["value"]) if match is not None else None
    if match is None or value is None:
        return None
    parts = words(match["key"])
    said = {PERMITTED if word in _PERMITTED else key for word in parts for key in keys(word, wording.analysis)}
    said -= stop_terms(wording.analysis) | wording.subject
    denied = not NEGATIVES.isdisjoint(parts) or not _FORBIDDEN.isdisjoint(parts)
    return value if said == wording.wanted and not denied else None


def _in_sentence(text: str, wording: _Wording) -> bool | None:
    """What a sentence says: true, false, or nothing certain."""
    if text.rstrip().endswith("?") or _PAST.search(text):
        return None
    limits = {word for word in words(text) if word in _LIMITS}
    if any(wording.wanted.isdisjoint(keys(word, wording.analysis)) for word in limits):
        return None
    for part in _PART.split(text):
        if (value := _in_clause(part, wording)) is not None:
            return value
    return None


def _in_clause(text: str, wording: _Wording) -> bool | None:
    said = [match[0] for match in WORD.finditer(text.replace("’", "'"))]
    small = [word.casefold() for word in said]
    marks = [_mark(small, at, wording) for at in range(len(said))]
    met = [at for at, mark in enumerate(marks) if mark in wording.wanted or mark == FORBIDDEN]
    whole = wording.wanted <= {PERMITTED if marks[at] == FORBIDDEN else marks[at] for at in met}
    if not whole or _NO_CASE.search(" ".join(small[met[-1] :])):
        return None
    first, last = met[0], met[-1]
    if not _stands_alone(said, marks, met, wording):
        return None
    denied = [at for at, word in enumerate(small) if word in NEGATIVES or word.endswith("n't")]
    denied = [at for at in denied if marks[at] != FORBIDDEN and not (at > last and small[at] in _OF_OTHERS)]
    beside = [at for at in denied if first - 2 <= at < last]
    forbidden = FORBIDDEN in marks
    degree = any(word.endswith("ly") for word in small[beside[0] : last]) if beside else False
    if degree or len(denied) > len(beside) or len(beside) + forbidden > 1:
        return None
    return not (beside or forbidden)


def _mark(small: Sequence[str], at: int, wording: _Wording) -> str:
    """What a word of a clause counts as: a key of the field, a word that permits or forbids, or "" for no topic."""
    word = small[at]
    if PERMITTED in wording.wanted:
        near = small[at + 1 : at + 4]
        if word in _PERMITTED or (word in ("may", "can", "cannot") and not _USE.isdisjoint(near)):
            return PERMITTED
        if word == "must" and near[:1] == ["not"] and not _USE.isdisjoint(near):
            return PERMITTED
        if word in _FORBIDDEN:
            return FORBIDDEN
        if word in _USE and not {"may", "can", "cannot", "must"}.isdisjoint(small[max(0, at - 3) : at]):
            return PERMITTED
    found = frozenset(keys(word, wording.analysis))
    met = found & wording.wanted
    if met:
        return min(met)
    silent = not found or found <= stop_terms(wording.analysis) or word in NEGATIVES or word.endswith("ly")
    return "" if silent or word in ("longer", "also", "still", "now", "always", "all", "every", "any") else OTHER


def _stands_alone(said: Sequence[str], marks: Sequence[str], met: Sequence[int], wording: _Wording) -> bool:
    """True if nothing limits the words of the field to a part ("guide dogs"), or says them of another thing.

    What is before them is of the subject, or has no topic. A verb, or a single word, needs the subject before it.
    """
    first, last = met[0], met[-1]
    small = [word.casefold() for word in said]
    if any(marks[at] == OTHER or small[at] in _JOINS for at in range(first, last + 1)):
        return False
    beside = [keys(said[at], wording.analysis) for at in range(first)]
    own = [at for at in range(first) if not wording.subject.isdisjoint(beside[at])]
    if any(marks[at] == OTHER and at not in own for at in range(first)):
        return False
    told = bool(own) or (first > 0 and small[0] in _PRONOUNS)
    predicate = first > 0 and (small[first - 1] in _VERBS or small[first - 1].endswith("n't"))
    return told or not (predicate or len(wording.wanted) == 1)
