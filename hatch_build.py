"""Compiles the catalogues of messages (`.po` to `.mo`) when a wheel, or an editable install, is built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CATALOGUES = Path(__file__).parent / "src" / "assay" / "locale"


def compile_all() -> list[Path]:
    """Write the `.mo` file beside each `.po` file; those written."""
    return [compile_one(source) for source in sorted(CATALOGUES.glob("*/LC_MESSAGES/*.po"))]


def compile_one(source: Path) -> Path:
    """Write the `.mo` file beside a `.po` file."""
    with source.open("rb") as file:
        catalogue = read_po(file, locale=source.parent.parent.name)
    target = source.with_suffix(".mo")
    with target.open("wb") as file:
        write_mo(file, catalogue)
    return target


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """What hatchling calls."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before files are collected."""
        compile_all()
