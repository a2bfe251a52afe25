"""The days and amounts of a statement in the forms that a passage may write them in, as index words.

"14 January 2022" is `14.01.2022` in one table and `2022-01-14` in another, "1.25 million" is `1250000`. A passage has
the value if the words of one form stand together in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import product

import msgspec

from assay.core.document_dates import days_in
from assay.core.lazy import regex
from assay.core.lexicon import MONTHS, SCALES
from assay.core.text import words

_NAMED = "|".join(sorted(map(re.escape, SCALES), key=len, reverse=True))
_AMOUNT = regex(
    r"(?<![\w.,])(?:(?P<grouped>\d{1,3}(?:(?:,\d{3}){1,6}|(?:\.\d{3}){1,6}|(?:['’ \xa0\u202f]\d{3}){1,6})(?!\d))"
    rf"|(?P<plain>\d{{1,18}}))(?:[.,](?P<places>\d{{1,9}}))?(?![.,]?\d)(?: ?(?P<scale>{_NAMED})(?![^\W_]))?",
    re.IGNORECASE,
)
_ENDINGS = ("", "st", "nd", "rd", "th")
_JOINING = frozenset(("of", "de", "del", "di"))
_MIN_SPELLED_VALUE = 1000
"""A smaller whole number is written in one way."""
_LATEST = 2999
"""Digits without separators up to here may be a year, which is written in one way too."""
_MAX_DECIMAL_PLACES = 3
"""Digits after the point of an amount in millions."""


class SpelledValue(msgspec.Struct, frozen=True):
    """A value of a statement, at code points `[start, end)`; `forms` are texts, any of which says it.

    `name` is that of the value, and no word.
    """

    name: str
    start: int
    end: int
    forms: frozenset[str]


def spelled_values(statement: str) -> Iterator[SpelledValue]:
    """The days and the amounts in `statement` that may be written in several ways."""
    free = list(statement)
    for start, end, day in days_in(statement):
        free[start:end] = " " * (end - start)
        yield SpelledValue(f"={day}", start, end, _day_spellings(day))
    for match in _AMOUNT.finditer("".join(free)):
        value, grouped = _value(match), match["grouped"]
        if value < _MIN_SPELLED_VALUE or (value <= _LATEST and not (grouped or match["places"] or match["scale"])):
            continue
        yield SpelledValue(f"={value:f}", match.start(), match.end(), _amount_spellings(value))


def without_values(statement: str, text: str) -> str:
    """A statement with spaces in place of the days and amounts that `text` has, in any form."""
    text_words: list[str] | None = None
    found: dict[str, bool] = {}
    for value in spelled_values(statement):
        text_words = words(text) if text_words is None else text_words
        if value.name not in found:
            found[value.name] = any(contains_phrase(words(form), text_words) for form in value.forms)
        if found[value.name]:
            statement = f"{statement[: value.start]}{' ' * (value.end - value.start)}{statement[value.end :]}"
    return statement


def contains_phrase(form: Sequence[str], text_words: Sequence[str]) -> bool:
    """True if the words of `form` stand in `text_words` in their order, with nothing but a word such as "of" between
    them.
    """
    plain = [word for word in text_words if word not in _JOINING] if len(form) > 1 else text_words
    return any(
        word == form[0] and list(plain[index : index + len(form)]) == list(form) for index, word in enumerate(plain)
    )


def _value(match: re.Match[str]) -> Decimal:
    """The amount; before a word like "million", one point is decimal: "1.234 million"."""
    digits, decimals = match["grouped"] or match["plain"], match["places"] or ""
    if match["scale"] and not decimals and re.fullmatch(r"\d+\.\d{3}", digits):
        digits, decimals = digits.split(".")
    scale = SCALES[match["scale"].casefold()] if match["scale"] else 0
    integer = "".join(filter(str.isdecimal, digits))
    return Decimal(f"{integer}.{decimals or 0}").scaleb(scale).normalize()


@lru_cache(maxsize=256)
def _day_spellings(day: str) -> frozenset[str]:
    year, month, number = day.split("-")
    months = [name for name, index in MONTHS.items() if index == int(month)]
    day_months = product(
        {number, *(f"{int(number)}{ending}" for ending in _ENDINGS)}, {month, str(int(month)), *months}
    )
    orders = (
        order
        for day_form, month_form in day_months
        for order in ((day_form, month_form, year), (year, month_form, day_form), (month_form, day_form, year))
    )
    return frozenset(map(" ".join, orders))


@lru_cache(maxsize=256)
def _amount_spellings(value: Decimal) -> frozenset[str]:
    integer, _, decimals = f"{value:f}".partition(".")
    spellings = set[str]()
    for digits in (integer, f"{int(integer):,}"):
        spellings.add(f"{digits} {decimals}")
        if len(decimals) == 1:
            spellings.add(f"{digits} {decimals}0")
    for power in set(SCALES.values()):
        part = f"{value.scaleb(-power):f}"
        if value >= Decimal(10) ** power and len(part.partition(".")[2]) <= _MAX_DECIMAL_PLACES:
            names = (name for name, scale in SCALES.items() if scale == power)
            spellings.update(f"{part}{'' if len(name) == 1 else ' '}{name}" for name in names)
    return frozenset(spellings)
