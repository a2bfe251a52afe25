"""Writes docs/events.md from the event types in assay.core.events.

Run `python scripts/generate_events.py` after changing them; a test compares.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import msgspec

from assay.core.events import KINDS, Envelope

TARGET = Path(__file__).parents[1] / "docs" / "events.md"
INTRODUCTION = """\
# Events

*Written by `scripts/generate_events.py` from the types in `assay.core.events`; do not edit.*

A run is its log: every screen, every library result and every export is folded from these events
(`assay.core.view.fold_events`). `assay --events` prints them as they happen, one JSON object a line. `seq` counts
up by one,
so a reader that was away asks for the events after the last it has seen. Readers ignore kinds and fields they do not
know. A field called optional has a default, and older logs may lack it.

If a step is interrupted, a later `step.restarted` takes back its events and names them in `dropped`.
"""

NAMES: dict[object, str] = {
    str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null", Any: "anything",
    msgspec.Raw: "object: the kind's fields, below",
}  # fmt: skip


def text() -> str:
    """The page."""
    kinds = list(KINDS.items())
    parts = [INTRODUCTION, _struct("Envelope", Envelope, level="##")]
    for group, members in groupby(kinds, key=lambda item: item[0].partition(".")[0]):
        parts.append(f"## {group}\n")
        parts += [_struct(f"`{name}`", cls, level="###") for name, cls in members]
    parts.append("## Types\n")
    parts += [_struct(cls.__name__, cls, level="###") for cls in _nested(cls for _, cls in kinds)]
    return "\n".join(parts)


def _struct(title: str, cls: type[msgspec.Struct], level: str) -> str:
    lines = [f"{level} {title}", "", inspect.cleandoc(cls.__doc__ or ""), ""]
    hints = typing.get_type_hints(cls)
    for field in msgspec.structs.fields(cls):
        optional = "" if field.required else ", optional"
        lines.append(f"- `{field.encode_name}`: {_name(hints[field.name])}{optional}")
    return "\n".join(lines).rstrip() + "\n"


def _name(hint: Any) -> str:
    """A type as a reader of JSON calls it."""
    if hint in NAMES:
        return NAMES[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return " or ".join(f'`"{value}"`' for value in arguments)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_name(argument) for argument in arguments if argument is not msgspec.UnsetType)
    if origin is tuple:
        kinds = dict.fromkeys(_name(argument) for argument in arguments if argument is not Ellipsis)
        return f"list of {' or '.join(kinds)}"
    if origin is dict:
        return f"object of {_name(arguments[1])}"
    return f"[{hint.__name__}](#{hint.__name__.lower()})"


def _nested(classes: Iterable[type[msgspec.Struct]]) -> list[type[msgspec.Struct]]:
    """The structs which the fields of `classes` hold, at any depth, by name."""
    found: dict[str, type[msgspec.Struct]] = {}
    waiting = list(classes)
    while waiting:
        for inner in _structs_in(waiting.pop()):
            if inner.__name__ not in found:
                found[inner.__name__] = inner
                waiting.append(inner)
    return [found[name] for name in sorted(found)]


def _structs_in(cls: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    waiting = [hint for name, hint in typing.get_type_hints(cls).items() if name in cls.__struct_fields__]
    while waiting:
        hint = waiting.pop()
        waiting += typing.get_args(hint)
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            yield hint


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
