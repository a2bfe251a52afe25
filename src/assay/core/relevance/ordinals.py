"""The ordinal that a question asks about ("the third edition"), and the ordinals that a statement has.

A sentence about the second edition does not answer for the third; one about the 3rd, or about "DebConf 3" for the third
DebConf, has the same. Only what the ordinal counts is compared: the word after it, or the name before a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from assay.core.lexicon import ORDINALS, stop_terms
from assay.core.patterns import regex
from assay.core.relevance.topic_question import TopicQuestion, keys

_ENGLISH = {"first": 1, "second": 2, **ORDINALS}
_FORMS = {
    "de": "erste[nrsm]? zweite[nrsm]? dritte[nrsm]? vierte[nrsm]? fünfte[nrsm]? sechste[nrsm]? siebte[nrsm]? "
    "achte[nrsm]? neunte[nrsm]? zehnte[nrsm]?",
    "fr": "premi(?:er|ère) (?:deuxième|seconde?) troisième quatrième cinquième sixième septième huitième neuvième "
    "dixième",
    "es": "primer[oa]? segund[oa] tercer[oa]? cuart[oa] quint[oa] sext[oa] séptim[oa] octav[oa] noven[oa] décim[oa]",
    "ru": "перв(?:ый|ая|ое|ой|ого|ом|ую) втор(?:ой|ая|ое|ого|ом|ую) трет(?:ий|ья|ье|ьей|ьего|ьем|ью) "
    "ч[её]тв[её]рт(?:ый|ая|ое|ой|ого|ом|ую) пят(?:ый|ая|ое|ой|ого|ом|ую) шест(?:ой|ая|ое|ого|ом|ую) "
    "седьм(?:ой|ая|ое|ого|ом|ую) восьм(?:ой|ая|ое|ого|ом|ую) девят(?:ый|ая|ое|ой|ого|ом|ую) "
    "десят(?:ый|ая|ое|ой|ого|ом|ую)",
}
"""Patterns for the ordinals from one to ten in other languages."""
_SPELT = [
    *((regex(form), number) for form, number in _ENGLISH.items()),
    *((regex(form), number) for forms in _FORMS.values() for number, form in enumerate(forms.split(), 1)),
]
_WORD = regex(r"[^\W_]+(?:['’-][^\W_]+)*\.?")
_DIGITS = regex(r"(\d{1,3})(?:st|nd|rd|th|er|ère|e|ème|\.?[ºª]|-?(?:й|я|е|го|м|ю))")
_AFTER_NAME = regex(r"(?<![^\W_])(?P<name>[^\W\d_][\w'’-]+)\s#?(?P<number>\d{1,2}|[IVX]{1,5})(?![\w%]|[.,:]\d)")
_ROMAN = dict(zip("I II III IV V VI VII VIII IX X XI XII".split(), range(1, 13), strict=True))
_CJK = regex(r"第(?P<number>[一二三四五六七八九十]|\d{1,3})(?P<noun>\w)")
_COUNTED = 2
"""The words after an ordinal that may say what it counts: "the first annual meeting"."""


class _Ordinal(NamedTuple):
    """A number with the words after it, and the keys of the words that state it."""

    number: int
    counted: tuple[str, ...]
    said: frozenset[str]


def same_ordinals(question: TopicQuestion, text: str) -> frozenset[str]:
    """The keys of the question's ordinals that a text has, in whatever form."""
    asked = _asked(question.text, question.analysis)
    found = _stated(text, question.analysis) if asked else ()
    held = (each.said for each in asked if any(_counts(each, other, question.analysis) == 0 for other in found))
    return frozenset().union(*held)


def has_other_ordinal(question: TopicQuestion, text: str) -> bool:
    """True if a text has another ordinal of what the question asks about, and not the same one."""
    for each in _asked(question.text, question.analysis):
        found = _stated(text, question.analysis)
        if all(other.number != each.number for other in found) and any(
            _counts(each, other, question.analysis) for other in found
        ):
            return True
    return False


def _counts(asked: _Ordinal, other: _Ordinal, analysis: str) -> int | None:
    """How far another ordinal of the same thing is from the one asked about; None if it counts another thing."""
    noun = asked.counted[0]
    own = frozenset(keys(noun, analysis))
    same = any(own & frozenset(keys(word, analysis)) or _is_short_for(word, noun) for word in other.counted)
    return abs(other.number - asked.number) if same else None


def _is_short_for(word: str, noun: str) -> bool:
    """True if a word abbreviates another: "ed." and "edition"."""
    return len(word) > 2 and word.endswith(".") and noun.casefold().startswith(word[:-1].casefold())


@lru_cache(maxsize=512)
def _asked(question: str, analysis: str) -> tuple[_Ordinal, ...]:
    """The ordinals of a question, of which it says what they count."""
    return tuple(each for each in _in_words(question, analysis) if each.counted)


@lru_cache(maxsize=4096)
def _stated(text: str, analysis: str) -> tuple[_Ordinal, ...]:
    """All ordinals of a text, and the numbers that follow a name."""
    named = (
        _Ordinal(number, (match["name"],), frozenset())
        for match in _AFTER_NAME.finditer(text)
        if match["name"][0].isupper() and (number := _ROMAN.get(match["number"]) or _digits(match["number"]))
    )
    return (*_in_words(text, analysis), *named)


def _digits(text: str) -> int:
    return int(text) if text.isdigit() else 0


def _in_words(text: str, analysis: str) -> Iterator[_Ordinal]:
    words = list(_WORD.finditer(text))
    for at, word in enumerate(words):
        number = _number(word[0].casefold().removesuffix("."))
        if number or _is_counting(text, word):
            said = frozenset(keys(word[0], analysis))
            yield _Ordinal(number or int(word[0][:-1]), _counted(text, words[at:], analysis), said)
    for match in _CJK.finditer(text):
        number = "一二三四五六七八九十".find(match["number"]) + 1 or _digits(match["number"])
        yield _Ordinal(number, (match["noun"],), frozenset(keys(match[0][:-1], analysis)))


def _is_counting(text: str, word: re.Match[str]) -> bool:
    """True if a number with a full stop is one before a noun, as in German: "die 3. Auflage"."""
    after = text[word.end() : word.end() + 2]
    return word[0][-1] == "." and word[0][:-1].isdecimal() and len(word[0]) < 4 and after[:1] == " " and after.istitle()


@lru_cache(maxsize=16384)
def _number(word: str) -> int:
    """The number of an ordinal; 0 for any other word."""
    if digits := _DIGITS.fullmatch(word):
        return int(digits[1])
    return next((number for form, number in _SPELT if form.fullmatch(word)), 0)


def _counted(text: str, words: Sequence[re.Match[str]], analysis: str) -> tuple[str, ...]:
    """The words directly after the first, up to a mark or a word without a topic."""
    found, end = list[str](), words[0].end()
    ended = words[0][0].endswith(".") and not words[0][0][0].isdecimal()
    for word in () if ended else words[1 : 1 + _COUNTED]:
        apart = text[end : word.start()].strip(" \"'“„«’")
        if apart or stop_terms(analysis).issuperset(keys(word[0], analysis)):
            break
        found.append(word[0])
        end = word.end()
        if word[0].endswith("."):
            break
    return tuple(found)
