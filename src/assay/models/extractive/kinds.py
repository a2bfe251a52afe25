"""What kind of thing a question asks for, and whether a sentence has one: a person, a date, an age, a count.

A sentence which only shares a name with "who invented it?" or "how old is she?" does not answer it: it must also
speak of what is asked (the question's verb or noun, or a near relation of it) and hold something of the kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Literal

from assay.models.extractive.lexicon import FRAMES, KIN
from assay.models.extractive.question import Question
from assay.models.extractive.terms import carries_topic, is_cjk, stem, stems

Kind = Literal["person", "date", "age", "count", "other"]

_DATE = re.compile(
    r"\b(?:1\d|20)\d\d\b|\d{1,2}[./]\d{1,2}[./]\d{2,4}|年|\b(?:in|on|since|until|by|on a) [A-Z][a-z]{2,}"
)
_AGE = re.compile(
    r"\bborn\b|\bage[ds]?\b|\byears?[- ]old\b|\b\d+[- ](?:years?|months?|days?)\b|"
    r"\b(?:since|founded|created|built)\b.*\d{4}|geboren|jahre alt|лет\b|родил|岁|歳|生まれ|出生|عمر|ولد",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"\d|\b(?:no|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?|thousands?|millions?"
    r"|several|single|both|all|keine?|eine?[nrs]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn)\b|[一二三四五六七八九十百千万両]",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"\b\w{3,}(?:ers?|ors?|ists?|ians?)\b|\b(?:team|committee|council|group|company|people|community|members?|staff"
    r"|family|government|anyone|everyone|nobody|king|queen)\b"
)
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_FRAME_STEMS = frozenset(stem(word) for word in FRAMES)
_KIN: dict[str, frozenset[str]] = {}
for _family in KIN:
    _keys = frozenset(stem(word) for word in _family)
    for _key in _keys:
        _KIN[_key] = _KIN.get(_key, frozenset()) | _keys


def asked_for(question: Question) -> Kind:
    """The kind of thing asked for."""
    pairs = set(pairwise(question.words))
    asked = set(question.words)
    if pairs & {("how", "old"), ("wie", "alt")}:
        return "age"
    if pairs & {("how", "many"), ("wie", "viele")} or asked & {"сколько", "wieviele"}:
        return "count"
    if asked & {"who", "whom", "wer", "wem", "wen"}:
        return "person"
    return "date" if asked & {"when", "wann", "когда", "متى"} and question.words[0] not in _ASIDE else "other"


_ASIDE = frozenset(("what", "how", "why", "which", "was", "wie", "warum", "welche", "does", "do", "is", "are", "can"))
"""First words after which "when" only says under which circumstances."""


def answers_kind(question: Question, text: str, held: frozenset[str], topics: Iterable[str]) -> bool:
    """Whether `text`, with the word keys `held`, has the kind asked for and says something of what is asked.

    `topics` are keys of the words which name what the question is about (a title, a number): they ask for nothing.
    """
    kind = asked_for(question)
    if kind == "other":
        return True
    if not _has(kind, question, text):
        return False
    wanted = predicate(question, topics)
    return not wanted or any(related(term, held) for term in wanted)


def _has(kind: Kind, question: Question, text: str) -> bool:
    if kind == "person":
        return not text.isascii() or _has_person(question, text)
    if kind == "date":
        return _DATE.search(text) is not None or (not text.isascii() and any(sign.isdigit() for sign in text))
    if kind == "age":
        return _AGE.search(text) is not None
    counted = _counted(question)
    return _COUNT.search(text) is not None and (not counted or counted in stems(text))


def _has_person(question: Question, text: str) -> bool:
    """Whether a name the question does not have, or a word for a person or a group, stands in the text."""
    known = frozenset(question.terms)
    for match in _WORD.finditer(text):
        word = match[0]
        if word[0].isupper() and carries_topic(word.casefold()) and not set(stems(word)) & known:
            return True
    return _ROLE.search(text) is not None


def _counted(question: Question) -> str:
    """The key of the word after "how many", "" when there is none."""
    for at, pair in enumerate(pairwise(question.words)):
        if pair in {("how", "many"), ("wie", "viele")} and at + 2 < len(question.words):
            return stem(question.words[at + 2])
    return ""


def predicate(question: Question, topics: Iterable[str]) -> tuple[str, ...]:
    """Keys of the words which say what is asked of the subject: neither names nor frames; Latin letters only.

    In other scripts words change too much for a missing one to mean something.
    """
    named = _name_runs(question) | set(topics) | {key for each in question.mentions for key in stems(each.text)}
    own = [term for term in question.terms if term not in named and term not in _FRAME_STEMS]
    return tuple(term for term in own if not is_cjk(term) and term[0] < "\u0370" and not term[0].isdigit())


def _name_runs(question: Question) -> set[str]:
    """Names, with the small words between two of them: "Guido van Rossum"."""
    found = set(question.names)
    keys = [stem(word) for word in question.words]
    for first, middle, last in zip(keys, keys[1:], keys[2:], strict=False):
        if first in question.names and last in question.names:
            found.add(middle)
    return found


def related(term: str, held: frozenset[str]) -> bool:
    """Whether the term or a near relation of it is held."""
    return term in held or bool(_KIN.get(term, frozenset()) & held)
