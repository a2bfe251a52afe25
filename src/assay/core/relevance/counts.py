"""The thing that a question counts ("how many people …?"), and which statements count it.

Not every number is a count: a version, a year and the number of a chapter count nothing, so "Debian 12 was published in
2023" does not say how many people use it. Read in languages whose number words are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from assay.core.lexicon import NUMBER_WORDS, NUMERALS, TENS, stop_terms
from assay.core.patterns import regex
from assay.core.relevance.relevance_constants import COUNTED_WEIGHT
from assay.core.relevance.topic_question import TopicQuestion, keys, near_keys

_LANGUAGES = frozenset(("en", "de", "es"))
_ASKED = regex(
    r"(?<!\w)(?:how\s+(?:many|(?P<mass>much))|what\s+number\s+of|wie\s?viele?|welche\s+anzahl|cuánt[oa]s?)\s+(?P<rest>[^?;:]+)",
    re.IGNORECASE,
)
_PERSONS = (
    "people person inhabitant resident citizen population soldier life victim dead man men woman women member "
    "mensch einwohner bewohner bürger person bevölkerung soldat opfer tote leute mitglied "
    "persona habitante ciudadano población soldado víctima muerto hombre mujer miembro gente vida"
)
"""Words for people, who are counted by one or another of them."""
_FIGURE = regex(
    r"(?<![\w.,:/-])(?P<number>\d{1,3}(?:[ ,.'’\u00a0\u202f]\d{3})+|\d+(?P<part>[.,]\d+)?)(?![.,:]?\d|\w*_)"
)
_SPELT = regex(rf"\b(?:{'|'.join((*NUMBER_WORDS, *TENS, *NUMERALS))})\b", re.IGNORECASE)
_ALL_OR_NONE = regex(
    r"\b(?:both|neither|none|no|single|once|twice|several|dozens?|couple|pair|beide|weder|keine?r?|einmal|zweimal|mehrere|"
    r"dutzend|ambos|ningun[oa]?|varios|docena)\b",
    re.IGNORECASE,
)
"""Words that count only where the thing is named: "neither Mercury nor Venus has moons"."""
_NUMBERED = regex(
    r"\b(?:versions?|releases?|chapters?|sections?|pages?|figures?|tables?|parts?|steps?|protocol|level|line|port|"
    r"kapitel|abschnitt|seiten?|abbildung|tabelle|teil|capítulo|sección|página|figura|tabla|versión|no\.|nr\.|#)\s*$",
    re.IGNORECASE,
)
_YEAR = regex(r"1\d{3}|20\d{2}")
_NAME = regex(
    r"(?:(?<=[\s(\"“„])|^(?!(?:about|almost|around|at|in|just|nearly|only|over|roughly|some|under|etwa|fast|nur|rund|über|casi|"
    r"unos|solo)\b))(?-i:[A-ZÀ-ÖØ-Þ])[\w'’-]*\s$",
    re.IGNORECASE,
)
_WORD = regex(r"[^\W_]+(?:['’-][^\W_]+)*")
_CLAUSES = regex(r"[.;!?](?:\s|$)|\n")
_BEFORE, _BEHIND = 4, 3
"""The words between a thing and a number before it, and behind it."""
_DESCRIBED = 2
"""The words that name the thing: "extra rooms"."""


@lru_cache(maxsize=512)
def counted_thing(question: str, analysis: str) -> frozenset[str]:
    """The keys of what a question counts; empty for any other question."""
    match = _ASKED.search(question)
    found, stop = list[str](), stop_terms(analysis)
    for word in _WORD.findall(match["rest"]) if match else ():
        own = keys(word, analysis)
        if stop.issuperset(own) or len(found) == _DESCRIBED:
            break
        found.extend(own)
    persons = _persons(analysis)
    return frozenset(found) | (persons if persons.intersection(found) else frozenset())


@lru_cache(maxsize=64)
def _persons(analysis: str) -> frozenset[str]:
    return frozenset(keys(_PERSONS, analysis))


def _is_read(question: TopicQuestion) -> bool:
    return not question.measure and {question.language or question.negating, question.negating} <= _LANGUAGES


def counts(question: TopicQuestion, texts: Sequence[str], around: Sequence[str]) -> bool:
    """True if one of the texts may count what a question counts, or if it counts nothing.

    One has to have a number that may be a count, and one, with what is `around` it, has to name the thing, if it can be
    counted: "how much food" is eaten is told by a weight.
    """
    thing = counted_thing(question.text, question.analysis) if _is_read(question) else frozenset[str]()
    if not thing:
        return True
    held = frozenset(key for text in (*texts, *around) for key in keys(text, question.analysis))
    match = _ASKED.search(question.text)
    named = bool(match and match["mass"]) or bool(thing & held) or bool(near_keys(thing, held))
    return named and any(next(_numbers(text, thing, question.analysis), None) is not None for text in texts)


def counting(question: TopicQuestion, texts: Sequence[str]) -> list[float]:
    """What each text gains since its number is beside the thing that a question counts."""
    thing = counted_thing(question.text, question.analysis) if _is_read(question) else frozenset[str]()
    return [COUNTED_WEIGHT * _counts(text, thing, question.analysis) if thing else 0.0 for text in texts]


def _counts(text: str, thing: frozenset[str], analysis: str) -> bool:
    for clause in _CLAUSES.split(text):
        for match in _numbers(clause, thing, analysis):
            behind = _WORD.findall(clause[match.end() :])[:_BEHIND]
            before = _WORD.findall(clause[: match.start()])[-_BEFORE:]
            if _says(" ".join(behind), thing, analysis) or _says(" ".join(before), thing, analysis):
                return True
    return False


def _says(text: str, thing: frozenset[str], analysis: str) -> bool:
    held = keys(text, analysis)
    return not thing.isdisjoint(held) or bool(near_keys(thing, held))


def _numbers(text: str, thing: frozenset[str], analysis: str) -> Iterator[re.Match[str]]:
    """The numbers of a text that may be counts."""
    yield from _SPELT.finditer(text)
    if _says(text, thing, analysis):
        yield from _ALL_OR_NONE.finditer(text)
    for match in _FIGURE.finditer(text):
        if _may_count(match, thing, analysis):
            yield match


def _may_count(figure: re.Match[str], thing: frozenset[str], analysis: str) -> bool:
    """True if a figure may count the thing: it stands beside it, or is no year, no decimal alone, and no number of
    something named.
    """
    before, after = figure.string[: figure.start()], figure.string[figure.end() :]
    follows = _WORD.match(after.lstrip(" %-"))
    word = follows[0] if follows else ""
    beside = [word, *_WORD.findall(before)[-1:]]
    if any(each and _says(each, thing, analysis) for each in beside):
        return True
    if _YEAR.fullmatch(figure["number"]) or _NUMBERED.search(before) or (figure["part"] and not word):
        return False
    last = figure["part"] or not word or stop_terms(analysis).issuperset(keys(word, analysis))
    return not (last and _NAME.search(before))
