"""How an option of a run is declared: once, with all that commands, settings, bodies and briefs need to know of it."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import UNSET

from assay.core.brief import Point

Group = Literal["Sources", "Web", "Model", "Budget", "Report", "Run"]
"""The headings under which the help of a command shows options."""
Protocol = Literal["openai", "mcp"]
"""Who offers options beside our own API: the field `assay` of OpenAI's requests, and MCP's tool `research`."""

_WHAT = {
    "ask": "the answer",
    "chat": "the answer",
    "batch": "each run",
    "table": "each cell",
    "judge": "the judge",
    "check": "the judge",
    "summary": "the summary",
}
"""What a command limits, where that is not the run."""


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """What an option goes by where nobody says it, what it sets, and where it is said besides the command line.

    `group` is its heading in help, `place` its place there: of equal ones, that declared first. `setting` is the dotted
    name of its setting. `sets` are the fields of the brief which come of it alone, its own name where it is empty.
    `api` is its field in the body of a run (dotted; empty: none), `sent` that field's type, where it is not the
    option's. `until` is the last point of a fork from which it still changes something. `about` is its meaning, where
    neither a setting nor a flag says it.
    """

    group: Group
    place: int = 50
    setting: str = ""
    sets: tuple[str, ...] = ()
    api: str = ""
    sent: Any = UNSET
    until: Point = "write"
    about: str = ""


class Flag(msgspec.Struct, frozen=True):
    """A flag of the command line by which an option is said.

    `on` are its commands (`judge`: those which name a judge). `reads` names how its argument is read (`cli.run_options`
    has the readers); one which takes none stands for `value`. In `help` `{what}` is what the command limits.
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
        """Its help on a command."""
        return self.help.format(what=_WHAT.get(command, "the run"))


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A protocol by which an option may be sent, under its own name.

    `about` describes it to who reads the schema, `sent` is its type there, where it is not the option's.
    """

    by: Protocol
    about: str = ""
    sent: Any = UNSET


class Declared(msgspec.Struct, frozen=True):
    """An option as a table declares it, with its name, its type, its flags and the protocols which offer it."""

    name: str
    kind: Any
    option: Option
    flags: tuple[Flag, ...]
    offers: tuple[Offer, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of the brief which come of it alone, dotted."""
        return self.option.sets or (self.name,)

    @property
    def data(self) -> Any:
        """Its type in data: the text itself in place of a file's path, lists and objects as JSON has them."""
        parts = get_args(self.kind) if get_origin(self.kind) in (Union, UnionType) else (self.kind,)
        return Union[tuple(part for part in parts if part is not Path)]  # noqa: UP007 - made of several

    def flags_on(self, command: str) -> tuple[Flag, ...]:
        """The flags by which a command takes it."""
        return tuple(flag for flag in self.flags if command in flag.on.split())


@cache
def declared(table: type) -> Mapping[str, Declared]:
    """The options of a table by name: a `TypedDict` whose keys have an `Option`, their flags and their offers."""
    found = {}
    for name, hint in typing.get_type_hints(table, include_extras=True).items():
        kind, option, *rest = get_args(hint)
        flags = tuple(each for each in rest if isinstance(each, Flag))
        offers = tuple(each for each in rest if isinstance(each, Offer))
        found[name] = Declared(name, kind, option, flags, offers)
    return found


def offered(table: type, by: Protocol) -> dict[str, tuple[Declared, Offer]]:
    """The options of a table which a protocol offers, by name."""
    found = ((each, offer) for each in declared(table).values() for offer in each.offers if offer.by == by)
    return {each.name: (each, offer) for each, offer in found}


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by dotted names as objects in objects."""
    whole: dict[str, Any] = {}
    for dotted, value in values.items():
        *path, last = dotted.split(".")
        inner = whole
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return whole
