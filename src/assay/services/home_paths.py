"""The paths of files in a home."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.later import later

if TYPE_CHECKING:
    from assay.evidence import segment
else:
    segment = later("assay.evidence.segment")


def index_folder(home: Path) -> Path:
    """The folder of the search index; each version of the segmenter has its own."""
    return home / "index" / segment.SEGMENTER.replace("/", "-")


def runs_folder(home: Path) -> Path:
    """The folder of the index of runs."""
    return home / "index"


def is_indexed(home: Path) -> bool:
    """Whether there is an index of runs."""
    return any(runs_folder(home).glob("runs-*/meta.json"))


def vectors_file(home: Path) -> Path:
    """The vectors of passages, for every segmenter version: a known text is not embedded again."""
    return home / "index" / "vectors.db"


def pages_folder(home: Path) -> Path:
    """Cached pages of the web."""
    return home / "pages"


def log_file(home: Path, run_id: str) -> Path:
    """The log of a process that executes a run without a terminal."""
    return home.expanduser() / "logs" / f"{run_id}.log"
