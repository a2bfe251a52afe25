"""The operations a question asks for, by the words each language has for them (`operations.json`).

The file names operations and degrees ("longest": the largest of a length), never what tables are about. A word ending
in `*` stands for all words with that beginning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Literal

import msgspec

from assay.core.languages import question_language
from assay.core.lazy import regex
from assay.core.periods import spell_periods
from assay.core.tables.figures import read_figure

Operation = Literal["cell", "sum", "mean", "count", "max", "min"]
NamedOperation = Literal["sum", "mean", "count", "max", "min"]
OverGroups = Literal["", "sum", "mean", "count"]
"""What is computed over each group of rows before the extreme is taken; nothing if rows are compared."""
NAMED_OPERATIONS: tuple[NamedOperation, ...] = ("sum", "mean", "count", "max", "min")

QUANTITY_SIGN = "@"
"""Begins a quantity among the measures of a degree that a column may have whatever its header (`quantities`)."""
_NUMBER = r"(?P<number>[+\-−]?\d[\d.,'\u00a0\u202f]*\d|\d)(?:\s*(?P<scale>[^\W\d_]+\.?))?"
_WORD = regex(r"[^\W_]+")
_ENGLISH_NOUN = regex(r"[^\W_]+(?: [^\W\d_]+[^\W\d_s]s(?!\w))?")
"""A word, or two of which the second is a plural, so the first is a part of its name: "rain gardens"."""


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """One language's words: phrases separated by commas; `degrees` map one to operations with the nouns they measure.

    `inverse` are words for what is not computed here, or that reverse a condition. `adding` are those of `max` and
    `min` that ask for sums of groups, `often` those that ask for their numbers of rows. `paying` are verbs of which
    amounts are asked, whose columns have `paid` in their headers. `money` are nouns for an amount of any such column.
    `within` stands before a month that is meant whole. `persons` are headers of those whom "who" asks for, `doing`
    words that tell nothing but that it was done, or among what. `joining` stands between alternatives. `times` ask how
    often, `clock` are the units of durations.
    """

    sum: str
    mean: str
    count: str
    max: str
    min: str
    above: str
    below: str
    inverse: str
    rows: str
    adding: str
    often: str
    paying: str
    paid: str
    money: str
    within: str
    persons: str
    doing: str
    joining: str
    times: str
    clock: str
    degrees: dict[str, str]


class MeasuredOperation(msgspec.Struct, frozen=True):
    """An operation that words ask for, and the nouns it measures; none if the question itself names them."""

    operation: Operation
    measures: tuple[str, ...] = ()


class Limit(msgspec.Struct, frozen=True):
    """A condition on a figure: above (1) or below (-1) a number."""

    direction: int
    number: Decimal


class AskedOperation(msgspec.Struct, frozen=True, kw_only=True):
    """A question's operation, with the words for it, and `remaining_text`, the question without them.

    `operations` are the operations it may mean: only one, unless words of degree have several measures. `phrases` are
    the words that named them; `noun` is what follows "how many". `beyond` are words for what is not computed here.
    `group_operation` is what may be computed over each group of rows before the extreme is taken, as
    `grouping_phrases` say; it is `implied` by "most". `payment_words` are the verbs of an amount, and nouns for
    money.
    """

    operations: tuple[MeasuredOperation, ...]
    remaining_text: str
    phrases: tuple[str, ...] = ()
    noun: str = ""
    limits: tuple[Limit, ...] = ()
    beyond: tuple[str, ...] = ()
    group_operation: OverGroups = ""
    grouping_phrases: tuple[str, ...] = ()
    implied: bool = False
    payment_words: tuple[str, ...] = ()


@cache
def languages() -> dict[str, Language]:
    """The words of every language, by its code."""
    data = resources.files(__package__).joinpath("operations.json").read_bytes()
    return msgspec.json.decode(data, type=dict[str, Language])


class _Phrase(msgspec.Struct, frozen=True):
    pattern: re.Pattern[str]
    operations: tuple[MeasuredOperation, ...]


@cache
def _phrases(language: str) -> tuple[_Phrase, ...]:
    language_words = languages()[language]
    phrases: list[tuple[str, tuple[MeasuredOperation, ...]]] = [
        (phrase, (MeasuredOperation(name),))
        for name in NAMED_OPERATIONS
        for phrase in _split(getattr(language_words, name))
    ]
    phrases += [(phrase, tuple(_parse_degrees(text))) for phrase, text in language_words.degrees.items()]
    phrases.sort(key=lambda pair: -len(pair[0]))
    return tuple(_Phrase(_pattern(phrase), operations) for phrase, operations in phrases)


def _parse_degrees(text: str) -> Iterator[MeasuredOperation]:
    for part in _split(text):
        name, *measures = part.split()
        yield MeasuredOperation("min" if name == "min" else "max", tuple(measures))


def _split(phrases: str) -> list[str]:
    return [phrase.strip() for phrase in phrases.split(",")]


@cache
def _pattern(phrase: str) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word).replace(r"\*", r"\w*") for word in phrase.split())
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


@cache
def phrase_pattern(language: str, name: str) -> re.Pattern[str]:
    """The pattern for the phrases of a field of `Language`."""
    phrases = sorted(_split(getattr(languages()[language], name)), key=len, reverse=True)
    return re.compile("|".join(f"(?:{_pattern(phrase).pattern})" for phrase in phrases), re.IGNORECASE)


def read_language(question: str) -> str:
    """The language whose words a question uses: the one detected, else the first that names an operation in it."""
    return _choose_language(question)[0]


def read_asking(question: str) -> AskedOperation:
    """Read what a question asks of a table, in its language if that is detected, else in each in turn.

    "The second quarter" asks for no second highest: weeks, quarters and the like are in one form.
    """
    return _choose_language(spell_periods(question))[1]


def _choose_language(question: str) -> tuple[str, AskedOperation]:
    detected = question_language(question)
    readings = [
        (language, _read_in_language(question, language))
        for language in ([detected] if detected in languages() else languages())
    ]
    return next((reading for reading in readings if reading[1].operations[0].operation != "cell"), readings[0])


def _read_in_language(question: str, language: str) -> AskedOperation:
    limits, text = _limits(question, language)
    matches: list[tuple[int, int, _Phrase]] = []
    for phrase in _phrases(language):
        for match in phrase.pattern.finditer(text):
            if all(match.end() <= start or match.start() >= end for start, end, _ in matches):
                matches.append((*match.span(), phrase))
    matches.sort(key=lambda candidate: candidate[0])
    chosen_match = next(
        (candidate for candidate in matches if candidate[2].operations[0].operation != "count"),
        matches[0] if matches else None,
    )
    used = [
        candidate
        for candidate in matches
        if candidate is chosen_match or candidate[2].operations[0].operation == "count"
    ]
    paying_pattern, money = phrase_pattern(language, "paying"), phrase_pattern(language, "money")
    group_operation, grouping_phrases = _read_group_operation(text, language, matches)
    remaining_text = text
    for start, end, _phrase in reversed(used):
        remaining_text = f"{remaining_text[:start]} {remaining_text[end:]}"
    count_match = next((candidate for candidate in matches if candidate[2].operations[0].operation == "count"), None)
    noun_pattern = _ENGLISH_NOUN if language == "en" else _WORD
    noun = noun_pattern.search(text, count_match[1]) if count_match is not None else None
    return AskedOperation(
        operations=chosen_match[2].operations if chosen_match is not None else (MeasuredOperation("cell"),),
        remaining_text=remaining_text,
        phrases=tuple(text[start:end] for start, end, _ in used),
        noun=noun[0] if noun is not None else "",
        limits=limits,
        beyond=tuple(match[0] for match in phrase_pattern(language, "inverse").finditer(remaining_text)),
        group_operation=group_operation,
        grouping_phrases=grouping_phrases,
        implied=bool(group_operation) and not grouping_phrases,
        payment_words=tuple(
            match[0] for pattern in (paying_pattern, money) for match in pattern.finditer(remaining_text)
        ),
    )


def _read_group_operation(
    text: str, language: str, matches: Sequence[tuple[int, int, _Phrase]]
) -> tuple[OverGroups, tuple[str, ...]]:
    """What a question for an extreme computes over groups, and the words that say so (none for "most")."""
    phrases_by_operation = {phrase.operations[0].operation: text[start:end] for start, end, phrase in matches}
    if phrases_by_operation.keys().isdisjoint(("max", "min")):
        return "", ()
    if often := phrase_pattern(language, "often").search(text):
        return "count", (often[0],)
    if "sum" in phrases_by_operation:
        return "sum", (phrases_by_operation["sum"],)
    if "mean" in phrases_by_operation:
        return "mean", (phrases_by_operation["mean"],)
    adding_pattern = phrase_pattern(language, "adding")
    is_added = any(
        adding_pattern.fullmatch(text[start:end]) for start, end, phrase in matches if not phrase.operations[0].measures
    )
    return ("sum" if is_added else ""), ()


def _limits(question: str, language: str) -> tuple[tuple[Limit, ...], str]:
    """The bounds a question sets on figures, and the question without them."""
    limits: list[Limit] = []
    text = question
    for direction, phrases in ((1, phrase_pattern(language, "above")), (-1, phrase_pattern(language, "below"))):
        pattern = re.compile(rf"(?:{phrases.pattern})\s+{_NUMBER}", re.IGNORECASE)
        for match in reversed(list(pattern.finditer(text))):
            figure = read_figure(f"{match['number']} {match['scale'] or ''}".strip())
            figure = figure or read_figure(match["number"], ",")
            if figure is not None:
                limits.append(Limit(direction, figure.value))
                unit = f" {match['scale']} " if match["scale"] and figure.unit else " "
                text = text[: match.start()] + unit + text[match.end() :]
    return tuple(limits), text


def asked_kind(text: str) -> str:
    """What a question calls the things that it chooses from: "hut" for "which hut is the oldest?"; "" without one."""
    match = _WHICH.match(text.strip())
    return match["kind"] if match is not None else ""


_WHICH = regex(
    r"(?:which|what(?! is\b)|welche\w*|quel\w*|cuál\w*|qué|qual[ei]?|quais|welke?)\s+"
    r"(?:(?:is|are|was|one|of|the|these|those|ist|sind|war|von|den|der|die|das|dieser|unter|est|sont|de|des|du|le|la|les|"
    r"ces|es|son|los|las|el|è|sono|il|i|dei|delle|o|a|os|as|dos|das|het|van)\s+)*(?P<kind>[^\W\d_][\w-]*)",
    re.IGNORECASE,
)
