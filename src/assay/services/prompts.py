"""The prompts of models: ours, and the texts with which packages replace them."""

from __future__ import annotations

from assay import agents, phases, plugins, verify
from assay.core.errors import UnknownName
from assay.core.sources import sha256
from assay.run.prompt_files import checked, prompt


def replaced() -> dict[str, str]:
    """The texts of other packages that replace ours, by name (`phases.write`).

    Raises:
        UnknownName: one replaces a prompt that does not exist; the message suggests the nearest.
        ConfigError: one is not text, or lacks something of ours.
    """
    return {name: _text(name) for name in plugins.names("prompts")}


def hashes() -> dict[str, str]:
    """SHA-256 of every prompt of a run by name.

    Raises:
        UnknownName, ConfigError: as `replaced`.
    """
    return _ours() | {name: sha256(text.encode()) for name, text in replaced().items()}


def _ours() -> dict[str, str]:
    return phases.prompts() | agents.prompts() | verify.prompts()


def _text(name: str) -> str:
    known = _ours()
    if name not in known:
        raise UnknownName(plugins.NOUNS["prompts"], name, known)
    package, _, short = name.partition(".")
    ours, origin = prompt(f"assay.{package}", short), plugins.package("prompts", name)
    return checked(name, plugins.load("prompts", name), ours, f"the package {origin}")
