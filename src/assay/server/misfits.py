"""What a request has that its type does not: where, and which names or values the type has there."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect

from assay.server.problems import Fault, Refusal, refusal

SHOWN = 20
"""So many names or values are told."""

KEY = "`key` in "
"""Begins the place where a key of an object does not fit."""

_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`", re.DOTALL)
_VALUE = re.compile(r"Invalid enum value '?(.*?)'?", re.DOTALL)


def misfit(error: msgspec.ValidationError, kind: type[msgspec.Struct], where: str) -> Refusal:
    """What an error of decoding says, as a problem with a pointer and what would have fitted.

    Args:
        error: `Invalid enum value 'deep' - at $.depth`, or another.
        kind: the type which was wanted of the whole.
        where: what does not fit: "the body".
    """
    said, _, place = str(error).partition(" - at ")
    keyed = place.startswith(KEY)
    pointer = place.removeprefix(KEY).strip("`").removeprefix("$").replace("[", "/").replace("]", "").replace(".", "/")
    there = tuple(_at(inspect.type_info(kind), [part for part in pointer.split("/") if part]))
    if keyed:
        there = tuple(each.key_type for each in there if isinstance(each, inspect.DictType))
    known: tuple[str, ...] = ()
    if found := _UNKNOWN.fullmatch(said):
        known = _fields(there)
        pointer = f"{pointer}/{found[1]}"
    elif found := _MISSING.fullmatch(said):
        pointer = f"{pointer}/{found[1]}"
    elif found := _VALUE.fullmatch(said):
        known = _values(there)
    near = difflib.get_close_matches(found[1], known, n=1) if found and known == _fields(there) else []
    if near:
        detail = f"{said}; did you mean {near[0]!r}?"
    else:
        detail = f"{said}; there is: {', '.join(known[:SHOWN])}" if known else said
    fault = Fault(pointer=pointer, detail=detail)
    return refusal("invalid", f"{where} does not fit: {detail}", errors=(fault,), known=known)


def _at(type: Any, steps: list[str]) -> Iterator[Any]:
    """The types a value at this place may have: of each union all that are in it."""
    if isinstance(type, inspect.UnionType):
        for each in type.types:
            yield from _at(each, steps)
    elif isinstance(type, inspect.Metadata):
        yield from _at(type.type, steps)
    elif not steps:
        yield type
    elif isinstance(type, inspect.StructType):
        for field in type.fields:
            if field.encode_name == steps[0]:
                yield from _at(field.type, steps[1:])
    elif isinstance(type, inspect.VarTupleType | inspect.ListType | inspect.SetType | inspect.FrozenSetType):
        yield from _at(type.item_type, steps[1:])
    elif isinstance(type, inspect.DictType):
        yield from _at(type.value_type, steps[1:])


def _fields(types: tuple[Any, ...]) -> tuple[str, ...]:
    """The fields which structs of these types have."""
    return tuple(field.encode_name for each in types if isinstance(each, inspect.StructType) for field in each.fields)


def _values(types: tuple[Any, ...]) -> tuple[str, ...]:
    """The values which these types list."""
    listed = [str(value) for each in types if isinstance(each, inspect.LiteralType) for value in each.values]
    listed += [str(value.value) for each in types if isinstance(each, inspect.EnumType) for value in each.cls]
    return tuple(listed)
