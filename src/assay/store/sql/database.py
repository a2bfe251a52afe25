"""One database: opened, checked, upgraded; transactions to read and to write."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Dialect, inspect, select
from sqlalchemy.exc import SQLAlchemyError

from assay.core.errors import StoreError
from assay.store.sql import sqlite
from assay.store.sql.tables import HEAD, metadata, version

FAULTS = (SQLAlchemyError, sqlite.DriverError)
"""What a database in trouble raises."""

_UPGRADE_SECONDS = 120


class Database:
    """The database file at `path`, at this release's schema.

    Raises:
        StoreError: it is not Assay's, damaged, from a newer release, or cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._engine = sqlite.engine(path)
        try:
            if not path.exists() or self._stored_version() != HEAD:
                self._make_current()
        except StoreError:
            self.close()
            raise

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction which sees one state of the database and never waits for a writer.

        Raises:
            StoreError: the database is unusable.
        """
        try:
            with self._engine.begin() as connection:
                yield connection
        except FAULTS as error:
            raise sqlite.explain(error, self.path) from error

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction which may write; waits for other writers.

        Raises:
            StoreError: the database is unusable, or another process has it for too long.
        """
        try:
            with self.writer() as connection, connection.begin():
                yield connection
        except FAULTS as error:
            raise sqlite.explain(error, self.path) from error

    def writer(self) -> Connection:
        """A connection whose transactions may write; the driver's errors come as they are."""
        return self._engine.connect().execution_options(**sqlite.WRITE)

    @property
    def dialect(self) -> Dialect:
        """The database's language."""
        return self._engine.dialect

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def _stored_version(self) -> str | None:
        """The schema version; None when there is no table yet.

        Raises:
            StoreError: the tables are not Assay's.
        """
        with self.read() as connection:
            names = inspect(connection).get_table_names()
            if version.name not in names:
                if names:
                    raise StoreError(f"{self.path} is not an Assay database: move it away, or name another home")
                return None
            return connection.execute(select(version.c.version_num)).scalar() or ""

    def _make_current(self) -> None:
        # One process at a time creates or upgrades; who waited finds it done.
        try:
            with FileLock(f"{self.path}.lock", timeout=_UPGRADE_SECONDS):
                stored = self._stored_version() if self.path.exists() else None
                if stored is None:
                    self._create()
                elif stored != HEAD:
                    self._upgrade()
        except Timeout:
            raise StoreError(f"another process has been upgrading {self.path} for {_UPGRADE_SECONDS} s") from None
        except OSError as error:
            why = f"{error.strerror}: check its permissions, or name another home with --home"
            raise StoreError(f"cannot write beside {self.path}: {why}") from error

    def _create(self) -> None:
        # A new database is made from the tables at once: the migrations give the same ones (tested), but slower.
        try:
            with self._engine.connect() as connection:
                sqlite.prepare(connection)
            with self.writer() as connection, connection.begin():
                metadata.create_all(connection)
                connection.execute(version.insert(), {"version_num": HEAD})
        except FAULTS as error:
            raise sqlite.explain(error, self.path) from error

    def _upgrade(self) -> None:
        # Loaded by name, and only here: Alembic costs a start more than the rest of the store.
        upgrade = importlib.import_module("assay.store.sql.upgrade")
        with self.write() as connection:
            upgrade.upgrade(connection, self.path)
