"""Fields that are true or false: filled only if a sentence or a line with a key says or denies them.

A clause says it if it has all words of the field, and of others only the subject's and words without a topic. Anything
that limits it leaves the field empty: a condition, another part of the same thing, a time that is over, what somebody
only said. Prose is read in English alone, since that needs words of this kind; lines with a key in all languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.core.languages import question_language
from assay.core.lazy import regex
from assay.core.lexicon import NEGATIVES, stop_terms
from assay.core.relevance import read_question
from assay.core.relevance.topic_question import keys
from assay.core.text import words
from assay.models.questions.words import word_set
from assay.models.shown_documents.shelf import SourcePassages
from assay.models.stated_values.field_words import LANGUAGE_SAMPLE_CHARS, WORD, TargetField

BOTH_STATED = "the documents say both yes and no"


YES = word_set("yes true y ✓ ✔ ja oui sí si sì sim да 是 はい نعم हाँ")
NO = word_set("no false n ✗ ✘ nein nee non não нет 否 いいえ لا नहीं")
_PERMITTED = word_set(
    "open allow allows allowed permit permits permitted admit admits admitted welcome welcomes accessible"
)
_FORBIDDEN = word_set(
    "closed prohibited prohibits forbidden forbids banned bans barred bars excluded excludes disallowed"
)
_MODALS = word_set("may can cannot must")
_USE = word_set("use enter cross ride travel visit access pass come walk drive park")
_LIMITS = word_set("""
    if unless except only whether until till once formerly originally previously some most few many several partly
    partially mostly nearly almost largely usually often sometimes rarely hardly seldom might could would should will
    shall planned plans plan proposed proposes proposal expected hope hopes hoped want wants wanted ask asks asked
    claim claims claimed say says said alleged alleges rumour rumours rumoured rumor rumored believe believes believed
    think thinks thought argue argues argued suggest suggests suggested demand demands demanded request requests
    requested applied false untrue instead soon yet otherwise provided during between then first
""")
"""Words that limit a statement, or say that somebody else makes it."""
_ASKING = word_set("whether if true false")
"""Words with which a description asks, and a document says nothing."""
_PART = regex(r"[;:,()—–]|\b(?:but|while|whereas|although|though)\b", re.IGNORECASE)
_KEYED = regex(r"(?P<key>[^:|]{1,80}?)\s*[:|]\s*(?P<value>\S[^|]*)")
_VERBS = word_set("is are was were be been has have had does do did")
_PRONOUNS = word_set("it this they these")
_SILENT = word_set("longer also still now always all every any")
PERMITTED = "(permitted)"
"""Stands for any word that permits or forbids."""


class StatedTruth(NamedTuple):
    """True or false, and the passage that says so."""

    value: bool
    passage: str


class _Wording(NamedTuple):
    """The keys that a sentence must have, and those of the subject, which it may have."""

    required: frozenset[str]
    subject: frozenset[str]
    analysis: str


def read_boolean(text: str) -> bool | None:
    """The value that a header field or a cell states with its first word: "yes, since 2004"."""
    first = (text.split(",")[0].split() or [""])[0].casefold().strip(".;*_")
    alone = len(text.split(",")[0].split()) == 1
    return True if alone and first in YES else False if alone and first in NO else None


def stated_truths(target: TargetField, books: Sequence[SourcePassages]) -> list[StatedTruth]:
    """Everything that the documents state of a field, in their order."""
    truths: list[StatedTruth] = []
    analysis = read_question(target.text).analysis
    for book in books:
        wordings = list(_wordings(target, book.title, analysis))
        english = question_language(" ".join(passage.text for passage in book.passages)[:LANGUAGE_SAMPLE_CHARS]) in (
            "",
            "en",
        )
        for sentence in book.sentences:  # header fields were read before
            values = (_boolean_in_line(sentence.text, wording) for wording in wordings)
            value = next((truth for truth in values if truth is not None), None)
            if value is None and english and analysis == "en" and sentence.kind == "prose":
                values = (_boolean_in_sentence(sentence.text, wording) for wording in wordings)
                value = next((truth for truth in values if truth is not None), None)
            if value is not None:
                truths.append(StatedTruth(value, sentence.passage))
    return truths


def _wordings(target: TargetField, title: str, analysis: str) -> Iterator[_Wording]:
    """The field by its name, and by its description."""
    subject = frozenset(keys(f"{' '.join(target.names)} {title}", analysis))
    for text in (target.label, target.description):
        permits = not _PERMITTED.isdisjoint(words(text))
        text_keys = {key for word in words(text) if word not in _PERMITTED | _ASKING for key in keys(word, analysis)}
        required = frozenset(text_keys) - stop_terms(analysis) - subject
        if required or permits:
            yield _Wording(required | frozenset({PERMITTED} if permits else ()), subject, analysis)


def _boolean_in_line(text: str, wording: _Wording) -> bool | None:
    """The value of a line with a key: "Open to cyclists: yes"."""
    match = _KEYED.fullmatch(text)
    value = read_boolean(match["value"]) if match is not None else None
    return (
        value if match is not None and value is not None and _denials(match["key"], wording, entire=True) == 0 else None
    )


def _boolean_in_sentence(text: str, wording: _Wording) -> bool | None:
    """What a sentence says: true, false, or nothing certain."""
    limits = (word for word in words(text) if word in _LIMITS)
    if text.rstrip().endswith("?") or any(wording.required.isdisjoint(keys(word, wording.analysis)) for word in limits):
        return None
    for part in _PART.split(text):
        part_words = words(part)
        names_subject = len(wording.required) > 1 or not wording.subject.isdisjoint(keys(part, wording.analysis))
        if part_words and part_words[0] not in _VERBS and (names_subject or part_words[0] in _PRONOUNS):
            denials = _denials(part, wording)
            if denials in (0, 1):
                return not denials
    return None


def _denials(text: str, wording: _Wording, *, entire: bool = False) -> int:
    """How often a clause denies the field; -1 if it lacks a word of it, or says more before its last word, or anywhere
    if `entire`, than that of the subject.
    """
    clause_words = [match[0].casefold() for match in WORD.finditer(text.replace("’", "'"))]
    use = (
        index
        for index, word in enumerate(clause_words)
        if word in _USE and not _MODALS.isdisjoint(clause_words[max(0, index - 3) : index])
    )
    if PERMITTED in wording.required and (index := next(use, None)) is not None:
        clause_words = [*clause_words[:index], "allowed"]
    marks = [frozenset(_keys(word, wording)) for word in clause_words]
    last = max((index for index, mark in enumerate(marks) if mark & wording.required), default=-1)
    denial_indexes = [
        index for index, word in enumerate(clause_words) if word in NEGATIVES | _FORBIDDEN or word.endswith("n't")
    ]
    if any(index > last for index in denial_indexes):
        return -1
    clause_keys = frozenset[str]().union(*(marks if entire else marks[: last + 1]))
    return (
        len(denial_indexes) if clause_keys - stop_terms(wording.analysis) - wording.subject == wording.required else -1
    )


def _keys(word: str, wording: _Wording) -> Sequence[str]:
    """The keys of a word; none of those that deny or go with a verb."""
    if word in NEGATIVES | _SILENT | _MODALS or word.endswith("n't"):
        return ()
    permits = PERMITTED in wording.required and word in _PERMITTED | _FORBIDDEN
    return (PERMITTED,) if permits else keys(word, wording.analysis)
