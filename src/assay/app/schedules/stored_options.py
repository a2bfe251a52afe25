"""Options of a run as a schedule keeps them: what depends on the moment or the place is resolved."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from assay.app.briefs import RunOptions, make_brief
from assay.app.places import sorted_out
from assay.app.texts import MOST_BYTES, text_of
from assay.phases.fields.schema import LARGEST
from assay.settings import Settings


def lasting(question: str, wanted: RunOptions, settings: Settings) -> dict[str, Any]:
    """The options which were said, the texts of files in their place; all of them can be followed.

    Raises:
        UsageError: an option cannot be followed, a file cannot be read, or the question is empty.
    """
    make_brief(question, settings, wanted)
    said = {name: value for name, value in wanted.items() if value is not None and value != () and value != {}}
    for name, value in said.items():
        if isinstance(value, Path):
            said[name] = text_of(value, name, LARGEST if name == "schema" else MOST_BYTES)
    return msgspec.json.decode(msgspec.json.encode(said), type=dict[str, Any])


def lasting_sources(sources: Iterable[str]) -> tuple[str, ...]:
    """Paths which mean the same from any folder; collections (`@NAME`) and addresses as they are."""
    named = sorted_out(sources)
    paths = (path if path.startswith("@") else str(Path(path).expanduser().absolute()) for path in named.paths)
    return (*named.urls, *named.connected, *paths)
