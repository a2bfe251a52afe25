"""Opens the parts of a home: its store, its database and its blobs, as in the settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.json_decoders import ready_types
from assay.core.lazy import lazy_module
from assay.core.ports.store import Store
from assay.settings import Settings
from assay.store.blobs import KeptBlobs, Owner

if TYPE_CHECKING:
    from assay.store import memory
    from assay.store.sql import home as sql_home
    from assay.store.sql.database import DatabaseBackend
else:
    memory = lazy_module("assay.store.memory")
    sql_home = lazy_module("assay.store.sql.home")


def store_of(home: Path | None, settings: Settings) -> Store:
    """The store in `home`, or where the settings say that databases and blobs are; without a home, one in memory.

    Raises:
        StoreError: it cannot be created, read or reached.
        ConfigError: a required library is not installed.
    """
    if home is None:
        create_store = memory.memory_store
        ready_types()
        return create_store()
    open_store = sql_home.open_store
    ready_types()  # a store has threads; its types are loaded now
    database = settings.database.reveal() if settings.database else ""
    return open_store(home, database=database, blobs=settings.blobs, cache_bytes=cache_bytes(settings))


def database_of(home: Path, settings: Settings) -> Path | DatabaseBackend:
    """The database of a home: its file, or how to connect to the one in the settings.

    Raises:
        ConfigError: a required library is not installed.
    """
    return sql_home.locate_database(home, settings.database.reveal() if settings.database else "")


def blobs_of(home: Path, settings: Settings, owner: Owner | None = None) -> KeptBlobs:
    """The blobs, where the settings say that they are. `owner` returns the id of the library that stores there.

    Raises:
        ConfigError: a required library is not installed.
    """
    return sql_home.open_blobs(home, settings.blobs, cache_bytes(settings), owner)


def cache_bytes(settings: Settings) -> int:
    """The size of the local cache for an object store."""
    return int(settings.blobs_cache_gb * 1_000_000_000)


def has_database(home: Path) -> bool:
    """True if there is a database in `home`, so that opening it creates nothing."""
    return (home / sql_home.DATABASE_FILE).is_file()
