"""Things told apart by a number ("the second edition", "version 3", "the 1889 flood"), and statements about others.

An ordinal is the same in words and in digits. A statement that numbers nothing is about what the sentences before it in
its passage number, or its heading: "It had 64 pages." behind "The second edition came out in 1851."
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from assay.core.lazy import regex
from assay.core.lexicon import stop_terms
from assay.core.relevance.topic_question import QuotableStatement, TopicQuestion, keys

_FORMS = {
    "": "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth"
    " fifteenth sixteenth seventeenth eighteenth nineteenth twentieth",
    "e er es en em": "erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft",
    "e": "premièr deuxièm troisièm quatrièm cinquièm sixièm septièm huitièm neuvièm dixièm onzièm douzièm",
    "o a": "primer segund tercer cuart quint sext séptim octav noven décim",
}
"""Ordinals from the first on by their endings, in English, German, French and Spanish."""
_ORDINALS = {
    f"{stem}{ending}": number
    for endings, stems in _FORMS.items()
    for number, stem in enumerate(stems.split(), 1)
    for ending in endings.split() or [""]
} | {"premier": 1, "primer": 1, "tercer": 3}
_YEAR = r"(?:1\d|20)\d\d"
_BEFORE = regex(
    rf"(?<![\w.,-])(?P<number>{'|'.join(sorted(_ORDINALS, key=len, reverse=True))}"
    rf"|\d{{1,3}}(?:st|nd|rd|th|ème|e|º|ª|\.(?=\s[A-ZÄÖÜ]))|{_YEAR})[\s-]+(?P<thing>[^\W\d_]{{3,}})",
    re.IGNORECASE,
)
"""A number before its thing: "third edition", "3rd edition", "1889 flood"."""
_BEHIND = regex(
    rf"(?<![\w.,-])(?P<thing>[^\W\d_]{{3,}})\s+(?:(?:of|von|de|del)\s+(?={_YEAR}\b)|(?:no\.?|nr\.?|number)\s+)?"
    r"(?P<number>\d{1,4})(?![\w%]|[.,:/-]\d)",
    re.IGNORECASE,
)
"""A number behind it: "version 3", "flood of 1889"."""
_BEYOND = regex(
    r"\b(?:after|before|since|until|between|than|follow\w*|preced\w*|nach|vor|seit|après|avant|después|antes)\b", re.I
)
"""Words in questions that may be answered by another number."""
Thing = tuple[str, bool]
"""The key of a thing, and whether it has a year: an edition of 1851 may be the second one."""
Numbers = Mapping[Thing, frozenset[int]]
"""The numbers with which a text has each thing."""
FIRST_YEAR = 1000
_YEARS = "year years jahr jahre jahres jahren année années año años"
"""Words for a year, which is no thing with a number: statements of other years are told by `Features.figures`."""


class NumberedThings:
    """The things that a question numbers, compared with statements."""

    def __init__(self, question: TopicQuestion, statements: Sequence[QuotableStatement]) -> None:
        told = {} if _BEYOND.search(question.text) else numbers_of_things(question.text, question.analysis)
        self._asked = {thing: numbers for thing, numbers in told.items() if thing[0] in question.keys}
        self._analysis, self._statements = question.analysis, statements
        mentions = _mentions(question.text, question.analysis) if self._asked else ()
        self._keys = {
            thing: frozenset(keys(written, question.analysis)).intersection(question.keys)
            for thing, _, written in mentions
        }

    def is_other_number(self, at: int) -> bool:
        """True if a statement is about another one of what the question numbers, and its title is not about that."""
        titled = numbers_of_things(self._statements[at].title, self._analysis) if self._asked else {}
        told = (
            (self._numbers(thing, at), numbers)
            for thing, numbers in self._asked.items()
            if numbers.isdisjoint(titled.get(thing, ()))
        )
        return any(found and found.isdisjoint(numbers) for found, numbers in told)

    def stated_keys(self, at: int) -> frozenset[str]:
        """The question's keys for each of its things that a statement has with that number: "3rd" for "third"."""
        told = numbers_of_things(self._statements[at].text, self._analysis) if self._asked else {}
        same = (each for each, numbers in self._asked.items() if not numbers.isdisjoint(told.get(each, frozenset())))
        return frozenset(key for thing in same for key in self._keys[thing])

    def subject_keys(self, at: int) -> frozenset[str]:
        """Those that it is about: "It had 64 pages" does not say "the third edition"."""
        asked = self._asked.items()
        same = (thing for thing, numbers in asked if not numbers.isdisjoint(self._numbers(thing, at)))
        return frozenset(key for thing in same for key in self._keys[thing])

    def _numbers(self, thing: Thing, at: int) -> frozenset[int]:
        """The numbers a statement has a thing with; else those of the nearest before it in its passage, or above it."""
        each = self._statements[at]
        texts = [each.text]
        for before in range(at - 1, -1, -1):
            other = self._statements[before]
            if (other.source, other.place) != (each.source, each.place):
                break
            texts.append(other.text)
        texts += [each.label, *reversed(each.heading.split(" > "))]
        found = (numbers_of_things(text, self._analysis).get(thing, frozenset()) for text in texts)
        return next(filter(None, found), frozenset())


def numbers_of_things(text: str, analysis: str) -> Numbers:
    """The numbers with which a text has each thing."""
    found: dict[Thing, set[int]] = defaultdict(set)
    for thing, number, _ in _mentions(text, analysis):
        found[thing].add(number)
    return {thing: frozenset(numbers) for thing, numbers in found.items()}


@lru_cache(maxsize=16384)
def _mentions(text: str, analysis: str) -> tuple[tuple[Thing, int, str], ...]:
    """Each thing of a text with its number, and both as written."""
    matches = (match for form in (_BEFORE, _BEHIND) for match in form.finditer(text))
    stop = stop_terms(analysis) | frozenset(keys(_YEARS, analysis))
    return tuple(
        ((thing, number >= FIRST_YEAR), number, match[0])
        for match in matches
        for number in [_number(match["number"])]
        for thing in keys(match["thing"], analysis)
        if thing not in stop
    )


def _number(written: str) -> int:
    return _ORDINALS.get(written.casefold()) or int(re.sub(r"\D+", "", written))
