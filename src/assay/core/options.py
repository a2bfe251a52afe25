"""Declares an option of a run once, with everything that commands, settings, bodies and briefs need to know."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import UNSET

from assay.core.brief import ForkPoint

OptionGroup = Literal["Sources", "Web", "Model", "Budget", "Report", "Run"]
"""The headings of options in the help of a command."""
ServedProtocol = Literal["openai", "mcp"]
"""Protocols beside our own API: the field `assay` of OpenAI's requests, and MCP's tool `research`."""

_WHAT = {
    "ask": "the answer",
    "chat": "the answer",
    "batch": "each run",
    "table": "each cell",
    "judge": "the judge",
    "check": "the judge",
    "summary": "the summary",
}
"""The work a command limits, if it is not the run."""


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """The default of an option, what it sets, and where else than on the command line it can be given.

    `group` is its heading in help, `position` its place there (equal ones in the order of declaration). `setting` is
    the dotted name of its setting. `sets` are the fields of the brief that follow from it alone, by default its own
    name. `api` is its field in the body of a run (dotted; empty: none), `api_type` that field's type, if it differs.
    `until` is the last point of a fork from which it still has an effect. `description` is its meaning, if neither a
    setting nor a flag explains it.
    """

    group: OptionGroup
    position: int = 50
    setting: str = ""
    sets: tuple[str, ...] = ()
    api: str = ""
    api_type: Any = UNSET
    until: ForkPoint = "write"
    description: str = ""


class Flag(msgspec.Struct, frozen=True):
    """A flag of the command line for an option.

    `on` are its commands (`judge`: those that name a judge). `reads` names how its argument is read (`cli.run_options`
    has the readers); a flag without one stands for `value`. In `help`, `{what}` is what the command limits.
    """

    name: str
    on: str
    help: str
    metavar: str | None = None
    reads: str = ""
    choices: tuple[str, ...] = ()
    value: str | bool | msgspec.UnsetType = UNSET
    default: str | None = None

    def help_on(self, command: str) -> str:
        return self.help.format(what=_WHAT.get(command, "the run"))


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A protocol that accepts an option, under its own name.

    `description` describes it for readers of the schema, `api_type` is its type there, if it differs.
    """

    protocol: ServedProtocol
    description: str = ""
    api_type: Any = UNSET


class DeclaredOption(msgspec.Struct, frozen=True):
    """An option as declared in a table, with its name, type, flags and the protocols that offer it."""

    name: str
    kind: Any
    option: Option
    flags: tuple[Flag, ...]
    offers: tuple[Offer, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of the brief that follow from it alone, dotted."""
        return self.option.sets or (self.name,)

    @property
    def data(self) -> Any:
        """Its type in data: text instead of a file's path, lists and objects as in JSON."""
        parts = get_args(self.kind) if get_origin(self.kind) in (Union, UnionType) else (self.kind,)
        return Union[tuple(part for part in parts if part not in (Path, type))]  # noqa: UP007 - made of several

    def flags_on(self, command: str) -> tuple[Flag, ...]:
        return tuple(flag for flag in self.flags if command in flag.on.split())


@cache
def declared_options(table: type) -> Mapping[str, DeclaredOption]:
    """The options of a table by name: a `TypedDict` whose keys have an `Option`, flags and offers."""
    options = {}
    for name, hint in typing.get_type_hints(table, include_extras=True).items():
        kind, option, *metadata = get_args(hint)
        flags = tuple(item for item in metadata if isinstance(item, Flag))
        offers = tuple(item for item in metadata if isinstance(item, Offer))
        options[name] = DeclaredOption(name, kind, option, flags, offers)
    return options


def offered_options(table: type, protocol: ServedProtocol) -> dict[str, tuple[DeclaredOption, Offer]]:
    """The options of a table that a protocol offers, by name."""
    pairs = (
        (option, offer)
        for option in declared_options(table).values()
        for offer in option.offers
        if offer.protocol == protocol
    )
    return {option.name: (option, offer) for option, offer in pairs}


def nest_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by dotted names as objects in objects."""
    nested: dict[str, Any] = {}
    for dotted_name, value in values.items():
        *path, last = dotted_name.split(".")
        inner = nested
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return nested
