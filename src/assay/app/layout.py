"""Where in a home things are."""

from __future__ import annotations

from pathlib import Path

from assay.evidence.segment import SEGMENTER
from assay.settings import Settings
from assay.store.common import Store
from assay.store.memory import memory_store
from assay.store.sql.home import DATABASE, open_store


def index_folder(home: Path) -> Path:
    """The folder of the search index; another segmenter's passages lie in another."""
    return home / "index" / SEGMENTER.replace("/", "-")


def pages_folder(home: Path) -> Path:
    """Pages of the web which were read, kept for the next time they are asked for."""
    return home / "pages"


def log_file(home: Path, run_id: str) -> Path:
    """What a process says which executes a run apart from any terminal."""
    return home.expanduser() / "logs" / f"{run_id}.log"


def store_of(home: Path | None, settings: Settings) -> Store:
    """The store in `home`, or where the settings say that databases and blobs are; without a home, one in memory.

    Raises:
        StoreError: it cannot be made, read or reached.
        ConfigError: what reaches it is not installed.
    """
    if home is None:
        return memory_store()
    database = settings.database.get_secret_value() if settings.database else ""
    return open_store(home, database=database, blobs=settings.blobs)


def is_made(home: Path) -> bool:
    """Whether there is a database in `home`, so that opening it makes nothing new."""
    return (home / DATABASE).is_file()
