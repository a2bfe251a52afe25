"""Where in a home things are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.later import later

if TYPE_CHECKING:
    from assay.evidence import segment
else:
    segment = later("assay.evidence.segment")


def index_folder(home: Path) -> Path:
    """The folder of the search index; another segmenter's passages lie in another."""
    return home / "index" / segment.SEGMENTER.replace("/", "-")


def runs_folder(home: Path) -> Path:
    """The folder of the index of runs."""
    return home / "index"


def is_indexed(home: Path) -> bool:
    """Whether there is an index of runs."""
    return any(runs_folder(home).glob("runs-*/meta.json"))


def vectors_file(home: Path) -> Path:
    """The vectors of passages, whatever segmenter cut them: a text which is known is not embedded again."""
    return home / "index" / "vectors.db"


def pages_folder(home: Path) -> Path:
    """Pages of the web which were read, kept for the next time they are asked for."""
    return home / "pages"


def log_file(home: Path, run_id: str) -> Path:
    """What a process says which executes a run apart from any terminal."""
    return home.expanduser() / "logs" / f"{run_id}.log"
