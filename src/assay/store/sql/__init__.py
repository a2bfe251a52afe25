"""The store on disk: SQLAlchemy Core on SQLite in WAL mode, and a folder of blobs beside it."""

from assay.store.sql.home import open_store

__all__ = ["open_store"]
