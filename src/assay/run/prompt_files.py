"""The prompts of a package: Markdown files in its `prompts/`, read once, told apart by their hash."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from assay.core.sources import sha256


@cache
def prompt(package: str, name: str) -> str:
    """The prompt `name` of a package, without the space around it."""
    return (files(package) / "prompts" / f"{name}.md").read_text("utf-8").strip()


def hashes(package: str) -> dict[str, str]:
    """SHA-256 of every prompt of a package by name (`agents.research`)."""
    short = package.rpartition(".")[2]
    names = sorted(entry.name[:-3] for entry in (files(package) / "prompts").iterdir() if entry.name.endswith(".md"))
    return {f"{short}.{name}": sha256(prompt(package, name).encode()) for name in names}
