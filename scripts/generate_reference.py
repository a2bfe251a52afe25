"""Writes docs/reference/options.md and docs/reference/settings.md from the types which declare them.

Run `python scripts/generate_reference.py` after changing one; a test compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from assay.core.options import DeclaredOption, OptionGroup, declared_options
from assay.core.ports.models import Secret
from assay.core.run_options import ForkOptions, RunOptions
from assay.settings import Settings, default_text
from assay.settings.reader import SettingField, dotted_settings
from assay.settings.sections import SettingsTable

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
DESCRIPTIONS = {name: field.description for name, field in dotted_settings(Settings)}
OPTIONS = """\
# Options of a run

*Written by `scripts/generate_reference.py` from `assay.core.run_options`; do not edit.*

An option has the same name in Python (`assay.research(question, depth="light")`), in the rows of a [batch](../batch.md)
and in a stored schedule. Commands take it as a flag. The column *body* shows its place in the body of `POST /runs`. If
you do not give it, the setting applies. A [fork](../fork.md) may change an option if *fork from* names a point: the
last one from which such a fork may begin. Where a flag or a `Path` names a file, a row or a body has the text itself.
"""
FLAGS = """\
## Flags

The commands that take each flag, by short names: `assay research`, `assay schedule add`, `assay runs fork`, `assay runs
answer`, `assay docs summary` and so on. `judge` is `assay verify` when it asks a model.
"""
SETTINGS = """\
# Settings

*Written by `scripts/generate_reference.py` from `assay.settings`; do not edit.*

[configuration.md](../configuration.md) explains where to write settings and which value wins, and lists the numbers of
each depth. A setting `limits.tokens` is `tokens` under `[limits]` in the file, and `ASSAY_LIMITS_TOKENS` in the
environment.
"""
WORDS: dict[Any, str] = {
    str: "text", int: "whole number", float: "number", bool: "true or false", Path: "path", Secret: "secret text",
    Any: "anything", type: "class",
}  # fmt: skip


def pages() -> dict[Path, str]:
    """Both pages, by their files."""
    return {FOLDER / "options.md": options(), FOLDER / "settings.md": settings()}


def options() -> str:
    """The page of the options."""
    found = list(declared_options(RunOptions).values())
    parts = [OPTIONS]
    for group in get_args(OptionGroup):
        rows = [_option(each) for each in found if each.option.group == group]
        head = ("option", "takes", "flags", "body", "setting", "fork from", "meaning")
        parts.append(f"## {group}\n\n{table(head, rows)}")
    flags = [flag for each in found for flag in each.flags]
    lines = [
        (f"`{name}`", ", ".join(", ".join(flag.on.split()) for flag in same))
        for name, same in groupby(flags, key=lambda flag: flag.name)
    ]
    return "\n".join([*parts, FLAGS, table(("flag", "commands"), lines)])


def _option(each: DeclaredOption) -> Sequence[str]:
    flags = dict.fromkeys(f"`{flag.name}{f' {flag.metavar}' if flag.metavar else ''}`" for flag in each.flags)
    fork = each.option.until if each.name in declared_options(ForkOptions) else ""
    meaning = each.option.description or DESCRIPTIONS.get(each.option.setting, "")
    if not meaning:
        meaning = each.flags[0].help_on("research")
    return (
        f"`{each.name}`",
        takes(each.kind),
        ", ".join(flags),
        _code(each.option.api),
        _code(each.option.setting),
        fork,
        meaning,
    )


def settings() -> str:
    """The page of the settings."""
    parts = [SETTINGS]
    sections: dict[str, list[Sequence[str]]] = {}
    for name, field in dotted_settings(Settings):
        sections.setdefault(name.rpartition(".")[0].partition(".")[0], []).append(_setting(name, field))
    del sections["depths"]  # the page on configuration has them side by side
    for section, rows in sections.items():
        head = ("setting", "takes", "default", "meaning")
        parts.append(f"## {f'[{section}]' if section else 'At the root'}\n\n{table(head, rows)}")
    return "\n".join(parts)


def _setting(name: str, field: SettingField) -> Sequence[str]:
    default = "" if name == "home" else default_text(name)
    return f"`{name}`", _bounded(field), _code(default), field.description


def _bounded(field: SettingField) -> str:
    signs = {"gt": "above", "ge": "from", "lt": "below", "le": "to"}
    limits = {word: field.limit(sign) for sign, word in signs.items()}
    return " ".join([takes(field.kind), *(f"{word} {limit:g}" for word, limit in limits.items() if limit is not None)])


def takes(kind: Any) -> str:
    """What a type takes, in words; None is what is left out."""
    return " or ".join(dict.fromkeys(_parts(kind)))


def _parts(kind: Any) -> Iterator[str]:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        yield ", ".join(f"`{word}`" for word in inner)
    elif origin in (Union, UnionType):
        for each in inner:
            if each is not NoneType:
                yield from _parts(each)
    elif origin is Annotated:
        yield from _parts(inner[0])
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        yield f"table of {takes(inner[1])}"
    elif isinstance(origin, type) and issubclass(origin, Sequence):
        yield f"list of {takes(inner[0])}"
    elif isinstance(kind, type) and issubclass(kind, msgspec.Struct) and not issubclass(kind, SettingsTable):
        yield f"`{kind.__name__}`"
    else:
        yield WORDS.get(kind) or "table"


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


if __name__ == "__main__":
    for target, page in pages().items():
        target.write_text(page, encoding="utf-8")
