"""Where in a home things are."""

from __future__ import annotations

from pathlib import Path

from assay.evidence.segment import SEGMENTER
from assay.store.sql.home import DATABASE


def index_folder(home: Path) -> Path:
    """The folder of the search index; another segmenter's passages lie in another."""
    return home / "index" / SEGMENTER.replace("/", "-")


def is_made(home: Path) -> bool:
    """Whether there is a database in `home`, so that opening it makes nothing new."""
    return (home / DATABASE).is_file()
