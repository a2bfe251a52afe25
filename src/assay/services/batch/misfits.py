"""Why a line of a batch is not a question, in words for the person who wrote the file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from assay.core.errors import UnknownName
from assay.core.patterns import regex

_UNKNOWN = regex(r"Object contains unknown field `(?P<name>[^`]*)`")
_MISSING = regex(r"Object missing required field `(?P<name>[^`]*)`")
_VALUE = regex(r"Invalid enum value (?P<value>.*) - at `\$\.(?P<name>\w+)`")
_TYPE = regex(r"Expected `(?P<wanted>[^`]*)`, got `(?P<given>[^`]*)` - at `\$\.(?P<name>[^`]+)`")
_TYPES = {
    "int": "a whole number", "float": "a number", "bool": "true or false", "str": "a text", "array": "a list",
    "object": "an object", "null": "nothing",
}  # fmt: skip


def reason(error: Exception, shape: type[msgspec.Struct]) -> str:
    """The reason in an error of decoding a line of this shape: the field, and what it may be."""
    text = str(error)
    if found := _MISSING.match(text):
        return f"there is no {found['name']}"
    if found := _UNKNOWN.match(text):
        names = [each.name for each in msgspec.structs.fields(shape)]
        return str(UnknownName("option of a run", found["name"], names))
    if found := _VALUE.match(text):
        known = _values(shape, found["name"])
        return f"{found['name']}: {found['value']} is not one of {', '.join(known)}" if known else text
    if found := _TYPE.match(text):
        wanted = " or ".join(_TYPES.get(each, each) for each in found["wanted"].split(" | ") if each != "null")
        return f"{found['name']}: {_TYPES.get(found['given'], found['given'])} was given, {wanted} is needed"
    return f"not JSON: {text}" if not isinstance(error, msgspec.ValidationError) else text


def given_twice(names: Iterable[str]) -> str:
    """The reason if a line, or the header of a table, gives a name twice; "" if none."""
    twice = next((name for name, times in Counter(names).items() if times > 1), "")
    return f"{twice} is given twice: leave one out" if twice else ""


def names_in(line: str) -> list[str]:
    """The names that a line in JSON gives; msgspec keeps the last value of each.

    Raises:
        ValueError, RecursionError: it cannot be read.
    """
    return [name for name, _ in json.loads(line, object_pairs_hook=list, parse_int=str)]


def _values(shape: type[msgspec.Struct], name: str) -> list[str]:
    """The words that a field may be."""
    types = [each.type for each in msgspec.structs.fields(shape) if each.name == name]
    found: list[str] = []
    for each in map(msgspec.inspect.type_info, types):
        members: tuple[Any, ...] = each.types if isinstance(each, msgspec.inspect.UnionType) else (each,)
        for member in members:
            if isinstance(member, msgspec.inspect.LiteralType):
                found += map(str, member.values)
    return found
