"""Where in a home things are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.decoders import ready_types
from assay.core.later import later
from assay.settings import Settings
from assay.store.blobs import KeptBlobs, Owner
from assay.store.common import Store

if TYPE_CHECKING:
    from assay.evidence import segment
    from assay.store import memory
    from assay.store.sql import home as sql_home
    from assay.store.sql.backend import DatabaseBackend
else:
    segment = later("assay.evidence.segment")
    memory = later("assay.store.memory")
    sql_home = later("assay.store.sql.home")


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


def store_of(home: Path | None, settings: Settings) -> Store:
    """The store in `home`, or where the settings say that databases and blobs are; without a home, one in memory.

    Raises:
        StoreError: it cannot be made, read or reached.
        ConfigError: what reaches it is not installed.
    """
    if home is None:
        made = memory.memory_store
        ready_types()
        return made()
    opened = sql_home.open_store
    ready_types()  # a store has threads; what it is made of is loaded now
    database = settings.database.get_secret_value() if settings.database else ""
    return opened(home, database=database, blobs=settings.blobs, cache_bytes=cache_bytes(settings))


def database_of(home: Path, settings: Settings) -> Path | DatabaseBackend:
    """The database of a home: its file, or how that is reached which the settings name.

    Raises:
        ConfigError: what reaches it is not installed.
    """
    return sql_home.database_at(home, settings.database.get_secret_value() if settings.database else "")


def blobs_of(home: Path, settings: Settings, owner: Owner | None = None) -> KeptBlobs:
    """What was read, where the settings say that it lies. `owner` tells the id of the library which stores there.

    Raises:
        ConfigError: what reaches it is not installed.
    """
    return sql_home.kept_blobs(home, settings.blobs, cache_bytes(settings), owner)


def cache_bytes(settings: Settings) -> int:
    """How much of an object store is kept on this machine."""
    return int(settings.blobs_cache_gb * 1_000_000_000)


def is_made(home: Path) -> bool:
    """Whether there is a database in `home`, so that opening it makes nothing new."""
    return (home / sql_home.DATABASE).is_file()
