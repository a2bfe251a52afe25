"""Values of a wrong type, and of none that can be stored, which whoever reads an option does not expect."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path
from types import UnionType
from typing import Any, Literal, SupportsIndex, Union, cast, get_args, get_origin

from assay.core.errors import UsageError, WrongType

MAX_WHOLE = 2**63
_TYPE_NAMES: dict[Any, str] = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "text",
    Path: "a Path",
    type: "a class",
}


def check_types(
    values: Mapping[str, object], kinds: Mapping[str, Any], *, takes_none: bool = True
) -> dict[str, object]:
    """Make sure that each value is of its type in `kinds`, if it has one; numbers of other packages become Python's.

    With `takes_none` None is the same as leaving an option out.

    Raises:
        WrongType: one is not. The message says which, and what may be written instead.
        UsageError: text that is no path is not UTF-8, or a whole number has more than 64 bits.
    """
    checked = dict[str, object]()
    for name, given in values.items():
        parts = alternatives(kinds.get(name, object))
        checked[name] = value = _plain_number(given, parts)
        if not ((value is None and takes_none) or any(_matches_type(value, part) for part in parts)):
            accepted = [_describe_type(part) for part in parts if part is not type(None)]
            raise WrongType(f"{name} cannot be {describe_value(value)}: write {join_with_or(accepted)}")
        members = [kind for part in parts for member in get_args(part) for kind in alternatives(member)]
        if not any(kind is float or kind is Path for kind in (*parts, *members)):
            _check_storable(name, value)
    return checked


def _check_storable(name: str, value: object) -> None:
    for each in value if isinstance(value, list | tuple | AbstractSet) else (value,):
        if is_storable(each):
            continue
        if isinstance(each, str):
            raise UsageError(f"{describe_value(each)} is not text in UTF-8: correct its encoding, or leave it out")
        raise UsageError(f"{name} cannot be {describe_value(each)}: write a number of at most 18 digits")


def describe_value(value: object) -> str:
    """The beginning of a value as code, for a message; its class if it cannot be written."""
    try:
        return f"{value!r:.80}"
    except ValueError:  # a number of more than 4,300 digits
        return f"this {type(value).__name__}"


def is_one_of(value: object, words: Iterable[object]) -> bool:
    """True if a value is one of the words that may be written; arrays, whose comparison is none, are not."""
    return isinstance(value, str | int) and value in words


def is_storable(value: object) -> bool:
    """False for text that is none in UTF-8, and whole numbers of more than 64 bits."""
    if isinstance(value, str):
        try:
            return value.isascii() or bool(value.encode())
        except UnicodeEncodeError:
            return False
    return not isinstance(value, int) or abs(value) < MAX_WHOLE


def check_least(least: int, **values: int) -> None:
    """Make sure that each number is at least `least`.

    Raises:
        UsageError: one is less.
    """
    for name, value in values.items():
        if value < least:
            raise UsageError(f"{name} cannot be {value}: write at least {least}")


def _plain_number(value: object, parts: tuple[Any, ...]) -> object:
    """A number of another package (`numpy.int64`) as Python's own where a number is wanted; other values unchanged."""
    if not ({int, float} & set(parts)) or isinstance(value, (int, float)):
        return value
    with suppress(TypeError):  # arrays have the methods of numbers
        if isinstance(value, SupportsIndex):
            return operator.index(value)
        if float in parts and isinstance(value, numbers.Real):
            return float(value)
    return value


def alternatives(kind: Any) -> tuple[Any, ...]:
    """The parts of a union; any other type is its only part."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def _matches_type(value: object, kind: Any) -> bool:
    """True if a value is of a type; the members of a list are looked at, those of a mapping are left to its reader."""
    origin = get_origin(kind)
    if origin is Literal:
        return is_one_of(value, get_args(kind))
    if kind in (int, float):
        is_number = isinstance(value, (int, kind)) and not isinstance(value, bool)
        return is_number and not (isinstance(value, float) and math.isnan(value))
    if origin is None:
        return not isinstance(kind, type) or getattr(kind, "_is_protocol", False) or isinstance(value, kind)
    if not issubclass(origin, Iterable) or issubclass(origin, Mapping):
        return isinstance(value, origin)
    if not isinstance(value, Sequence | AbstractSet) or isinstance(value, str | bytes):
        return isinstance(value, origin) and not isinstance(value, str | bytes)  # an iterator can be read once
    members = alternatives(get_args(kind)[0])
    return all(any(_matches_type(item, member) for member in members) for item in cast("Iterable[object]", value))


def _describe_type(kind: Any) -> str:
    """What to write for a type."""
    origin = get_origin(kind)
    if origin is Literal:
        return format_choices(get_args(kind))
    if origin is None:
        return _TYPE_NAMES.get(kind) or str(kind.__name__)
    if not issubclass(origin, Iterable):
        return "a function" if origin is Callable else str(origin.__name__)
    return (
        "a mapping"
        if issubclass(origin, Mapping)
        else f"a list of {join_with_or(map(_describe_type, alternatives(get_args(kind)[0])))}"
    )


def join_with_or(words: Iterable[str]) -> str:
    """`a, b or c`."""
    *before, last = words
    return f"{', '.join(before)} or {last}" if before else last


def format_choices(words: tuple[object, ...]) -> str:
    """The words that may be written, in quotes."""
    return join_with_or(map(repr, words))
