"""What a model gives for a field, as the value its schema asks for."""

from __future__ import annotations

import re
from datetime import date, datetime

from assay.core.clean import one_line
from assay.core.markers import strip
from assay.core.typed_answers import Scalar
from assay.phases.fields.schema import FieldSlot, Leaf
from assay.verify.amounts import Day, tokens
from assay.verify.plain import plain

LONGEST = 2_000
"""Code points of a text."""
MOST = 200
"""Values of a list."""
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:[,_ \u00a0\u202f'’]\d{3})+(?:\.\d+)?")
_YES, _NO = frozenset(("true", "yes")), frozenset(("false", "no"))


class Unfit(ValueError):
    """A value which is not what the schema asks for; the message says why."""


def convert(leaf: Leaf, value: object) -> Scalar:
    """`value` as what `leaf` asks for; numbers and booleans written as text, and dates however written, are read.

    Raises:
        Unfit: it cannot be, or lies outside its bounds.
    """
    made = _typed(leaf, value)
    if leaf.enum:
        made = _chosen(leaf, made)
    _bounded(leaf, made)
    return made


def listed(slot: FieldSlot, value: object) -> tuple[Scalar, ...]:
    """The values of a list, each once; a single value stands for a list of one.

    Raises:
        Unfit: one is not what its schema asks for, or there are too few or too many.
    """
    given = value if isinstance(value, list) else [value]
    made = tuple(dict.fromkeys(convert(slot.leaf, each) for each in given[: MOST + 1]))
    most = MOST if slot.most is None else min(slot.most, MOST)
    if not slot.least <= len(made) <= most:
        raise Unfit(f"{len(made)} values are not from {slot.least} to {most}")
    return made


def _typed(leaf: Leaf, value: object) -> Scalar:
    if leaf.type == "boolean":
        return _boolean(value)
    if leaf.type in ("integer", "number"):
        return _number(leaf, value)
    text = one_line(strip(str(value))) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    if not text:
        raise Unfit(f"{_said(value)} is no text")
    if len(text) > LONGEST:
        raise Unfit(f"the text is longer than {LONGEST:,} characters")
    if leaf.format == "date":
        return _date(text)
    return _moment(text) if leaf.format == "date-time" else text


def _boolean(value: object) -> bool:
    word = value.strip().casefold() if isinstance(value, str) else ""
    if isinstance(value, bool):
        return value
    if word in _YES | _NO:
        return word in _YES
    raise Unfit(f"{_said(value)} is neither true nor false")


def _number(leaf: Leaf, value: object) -> int | float:
    number: object = value
    if isinstance(value, str):
        text = value.strip().replace("\u2212", "-")
        text = re.sub(r"[,_ \u00a0\u202f'’]", "", text) if _GROUPED.fullmatch(text) else text
        number = _parsed(text)
    if (
        isinstance(number, bool)
        or not isinstance(number, int | float)
        or number != number
        or abs(number) == float("inf")
    ):
        raise Unfit(f"{_said(value)} is no number")
    if leaf.type == "number":
        return number
    if number != int(number):
        raise Unfit(f"{_said(value)} is no whole number")
    return int(number)


def _parsed(text: str) -> int | float | None:
    if len(text) > 60 or not text.isascii():
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None


def _date(text: str) -> str:
    """An ISO date."""
    try:
        return date.fromisoformat(text[:10] if text[10:11] == "T" else text).isoformat()
    except ValueError:
        pass
    days = [token for token in tokens(plain(text).text) if isinstance(token, Day)]
    if len(days) == 1 and days[0].year and days[0].month and days[0].day:
        try:
            return date(days[0].year, days[0].month, days[0].day).isoformat()
        except ValueError:
            pass
    raise Unfit(f"{_said(text)} is no whole date")


def _moment(text: str) -> str:
    try:
        return datetime.fromisoformat(text).isoformat()
    except ValueError:
        raise Unfit(f"{_said(text)} is no date with a time") from None


def _chosen(leaf: Leaf, value: Scalar) -> Scalar:
    wanted = _folded(value)
    for member in leaf.enum:
        if member == value and isinstance(member, bool) == isinstance(value, bool):
            return member
    for member in leaf.enum:
        if isinstance(member, str) and _folded(member) == wanted:
            return member
    raise Unfit(f"{_said(value)} is none of {', '.join(map(str, leaf.enum))[:200]}")


def _folded(value: Scalar) -> str:
    return " ".join(str(value).casefold().split())


def _bounded(leaf: Leaf, value: Scalar) -> None:
    if isinstance(value, str):
        if not (leaf.min_length or 0) <= len(value) <= (LONGEST if leaf.max_length is None else leaf.max_length):
            raise Unfit(f"the text has {len(value)} characters, which its bounds do not allow")
    elif not isinstance(value, bool) and not _within(leaf, value):
        raise Unfit(f"{value} is outside its bounds")


def _within(leaf: Leaf, value: float) -> bool:
    low = leaf.minimum is None or value >= leaf.minimum
    high = leaf.maximum is None or value <= leaf.maximum
    above = leaf.exclusive_minimum is None or value > leaf.exclusive_minimum
    below = leaf.exclusive_maximum is None or value < leaf.exclusive_maximum
    return low and high and above and below


def _said(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:80]}…"
