"""The prompts of a package: Markdown files in its `prompts/`, read once and identified by their hash.

Another package may replace one by its name (`phases.write`); then the run's world has its text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from assay.core.errors import ConfigError
from assay.core.lazy import regex
from assay.core.sources import sha256

_PLACE = regex(r"^- \{([a-z_]+)\} ", re.MULTILINE)


@cache
def prompt(package: str, name: str) -> str:
    """The prompt `name` of a package, without surrounding space."""
    return (files(package) / "prompts" / f"{name}.md").read_text("utf-8").strip()


def prompt_hashes(package: str) -> dict[str, str]:
    """SHA-256 of every prompt of a package by name (`agents.research`)."""
    short = package.rpartition(".")[2]
    names = sorted(entry.name[:-3] for entry in (files(package) / "prompts").iterdir() if entry.name.endswith(".md"))
    return {f"{short}.{name}": sha256(prompt(package, name).encode()) for name in names}


def prompt_key(package: str, name: str) -> str:
    """The name by which a prompt is replaced: `phases.write`."""
    return f"{package.rpartition('.')[2]}.{name}"


def prompt_in_use(replacements: Mapping[str, str], package: str, name: str) -> str:
    """The prompt that a run uses: the replacement if there is one, else ours."""
    return replacements.get(prompt_key(package, name)) or prompt(package, name)


def check_prompt(name: str, text: object, ours: str, origin: str) -> str:
    """Return `text` if it may replace our prompt `name`.

    Raises:
        ConfigError: it is not text, or its items about tools and places (`- {open} …`) differ from ours.
    """
    subject = f"the prompt {name!r} of {origin}"
    if not isinstance(text, str) or not text.strip():
        raise ConfigError(f"{subject} is not text: its entry point must name a string")
    expected, actual = set(_PLACE.findall(ours)), set(_PLACE.findall(text))
    if missing := sorted(expected - actual):
        raise ConfigError(
            f"{subject} lacks {_format_places(missing)}: begin an item with each, as Assay's own text does"
        )
    if unknown := sorted(actual - expected):
        raise ConfigError(f"{subject} has {_format_places(unknown)}, which Assay's own text lacks: remove it")
    return text.strip()


def _format_places(placeholders: list[str]) -> str:
    return ", ".join(f"{{{placeholder}}}" for placeholder in placeholders)
