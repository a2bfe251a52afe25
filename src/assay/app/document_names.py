"""How callers name documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

DEFAULT = "default"
"""The collection of documents which nobody put into another."""

Say = Callable[[str], None]
Sources = str | Path | Iterable[str | Path]


def listed(sources: Sources) -> list[str]:
    """Sources as a list of their names."""
    return [str(sources)] if isinstance(sources, str | Path) else [str(path) for path in sources]
