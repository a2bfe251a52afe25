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
from assay.core.log_headings import PRERELEASE, days_named, is_day, version_above
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
_VERSION = regex(rf"(?<![\w.])v?(\d+(?:\.\d+)+{PRERELEASE})(?!\w|\.\d)", re.IGNORECASE)
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
        thing_numbers = {} if _BEYOND.search(question.text) else numbers_of_things(question.text, question.analysis)
        self._question_numbers = {
            thing: numbers for thing, numbers in thing_numbers.items() if thing[0] in question.keys
        }
        self._analysis, self._statements = question.analysis, statements
        mentions = _mentions(question.text, question.analysis) if self._question_numbers else ()
        self._keys = {
            thing: frozenset(keys(phrase, question.analysis)).intersection(question.keys)
            for thing, _, phrase in mentions
        }

    def is_other_number(self, index: int) -> bool:
        """True if a statement is about another one of what the question numbers, and its title is not about that."""
        title_numbers = (
            numbers_of_things(self._statements[index].title, self._analysis) if self._question_numbers else {}
        )
        number_pairs = (
            (self._numbers(thing, index), numbers)
            for thing, numbers in self._question_numbers.items()
            if numbers.isdisjoint(title_numbers.get(thing, ()))
        )
        return any(
            statement_numbers and statement_numbers.isdisjoint(numbers) for statement_numbers, numbers in number_pairs
        )

    def stated_keys(self, index: int) -> frozenset[str]:
        """The question's keys for each of its things that a statement has with that number: "3rd" for "third"."""
        stated_numbers = (
            numbers_of_things(self._statements[index].text, self._analysis) if self._question_numbers else {}
        )
        same = (
            asked_thing
            for asked_thing, numbers in self._question_numbers.items()
            if not numbers.isdisjoint(stated_numbers.get(asked_thing, frozenset()))
        )
        return frozenset(key for thing in same for key in self._keys[thing])

    def subject_keys(self, index: int) -> frozenset[str]:
        """Those that it is about: "It had 64 pages" does not say "the third edition"."""
        question_numbers = self._question_numbers.items()
        same = (thing for thing, numbers in question_numbers if not numbers.isdisjoint(self._numbers(thing, index)))
        return frozenset(key for thing in same for key in self._keys[thing])

    def _numbers(self, thing: Thing, index: int) -> frozenset[int]:
        """The numbers a statement has a thing with; else those of the nearest before it in its passage, or above it."""
        statement = self._statements[index]
        texts = [statement.text]
        for before in range(index - 1, -1, -1):
            previous = self._statements[before]
            if (previous.source, previous.position) != (statement.source, statement.position):
                break
            texts.append(previous.text)
        texts += [statement.label, *reversed(statement.heading.split(" > "))]
        number_sets = (numbers_of_things(text, self._analysis).get(thing, frozenset()) for text in texts)
        return next(filter(None, number_sets), frozenset())


def is_under_another(question: str, heading: str) -> bool:
    """True if a statement stands below another version or day than a question names, as in a log."""
    headings = heading.split(" > ")
    versions, asked_versions = list(filter(None, map(version_above, headings))), _VERSION.findall(question)
    days = [day for title in headings if is_day(title) for day in days_named(title)]
    asked_days = list(days_named(question)) if days else []
    is_other = (versions and asked_versions and versions[-1] not in asked_versions) or (
        asked_days and not any(days[-1].may_equal(asked) for asked in asked_days)
    )
    return bool(is_other) and not _BEYOND.search(question)


def numbers_of_things(text: str, analysis: str) -> Numbers:
    """The numbers with which a text has each thing."""
    numbers_by_thing: dict[Thing, set[int]] = defaultdict(set)
    for thing, number, _ in _mentions(text, analysis):
        numbers_by_thing[thing].add(number)
    return {thing: frozenset(numbers) for thing, numbers in numbers_by_thing.items()}


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


def _number(text: str) -> int:
    return _ORDINALS.get(text.casefold()) or int(re.sub(r"\D+", "", text))
