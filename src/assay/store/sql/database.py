"""One database: how databases differ, and opening, checking, upgrading, reading and writing one."""

from __future__ import annotations

import functools
import importlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, TypeVarTuple

from sqlalchemy import URL, Connection, Dialect, Engine, Row, Select, create_mock_engine, event, inspect, select
from sqlalchemy.exc import SQLAlchemyError

from assay.core.errors import StoreAway, StoreClosed, StoreError
from assay.core.stop_gate import stop_gate
from assay.store.sql.commits import CommitJob
from assay.store.sql.sqlite import Sqlite
from assay.store.sql.tables import HEAD, metadata, version

Merge = Callable[[Connection, Sequence[CommitJob]], None]
"""Writes commits over a connection in a transaction, commits it, and answers the jobs."""


class DatabaseBackend(Protocol):
    """A database: how to connect, begin and lock, and what its errors mean.

    `place` is its location for a user; `faults` are the driver's errors without SQLAlchemy. `write` are execution
    options of connections whose transactions may write, `read` of those that need one consistent state, `single` of
    those with a single reading statement, which is consistent by itself.
    """

    place: str
    faults: tuple[type[BaseException], ...]
    read: dict[str, Any]
    single: dict[str, Any]
    write: dict[str, Any]

    @property
    def merge(self) -> Merge | None:
        """A faster way to write commits and end the transaction, if the database has one."""

    @property
    def changes(self) -> Callable[[Connection], int] | None:
        """Reads a number, if the database has one, that differs from the last one read over the same connection if
        anybody has committed since over another.
        """

    def engine(self) -> Engine:
        """An engine for connections to it.

        Raises:
            StoreError: what is needed to connect is not installed, or too old.
        """

    def exists(self) -> bool:
        """True if it may exist already."""

    def schema_lock(self) -> AbstractContextManager[None]:
        """Let only one process at a time create or upgrade it.

        Raises:
            StoreError: another process does, for too long.
        """

    def prepare(self, connection: Connection) -> None:
        """Configure a new database once, outside a transaction."""

    def serialize(self, connection: Connection) -> None:
        """Wait in a transaction that writes documents, so that row numbers become visible in order."""

    def serialize_claims(self, connection: Connection) -> None:
        """Wait until no other process takes something out of the queue."""

    def may_claim_now(self, connection: Connection) -> bool:
        """Do the same without waiting: False if another process takes something out of the queue."""

    def has_other_users(self, connection: Connection) -> bool:
        """True if anybody else is connected, as far as the database can tell."""

    def exclusive(self, connection: Connection) -> AbstractContextManager[bool]:
        """In the block nobody else is connected; False if somebody is. For seconds only: others wait.

        The connection is outside a transaction, and its process opens no other in the block.
        """

    def limit_idle_time(self, connection: Connection) -> None:
        """Let the database end idle transactions of this connection after some seconds.

        Otherwise a stopped process or a vanished machine would keep its locks and block all others.
        """

    def announce(self, connection: Connection, run_id: str) -> None:
        """Notify other processes, once this transaction is committed, that the log of a run has grown."""

    def listen(self, listener: Callable[[Iterable[str]], None]) -> Callable[[], None] | None:
        """Call `listener`, from a separate thread, with the runs that any process announces; call the result to stop.

        None if the database has no notifications. Notifications are lost while the database is away.
        """

    def now(self, connection: Connection) -> float:
        """The time for leases, in seconds since 1970: one clock for all processes that share the database."""

    def is_busy(self, error: BaseException) -> bool:
        """True if another process kept it locked for longer than we wait."""

    def is_away(self, error: BaseException) -> bool:
        """True if it could not be reached, or the connection broke; it may come back."""

    def explain(self, error: BaseException) -> StoreError:
        """The meaning of a driver's error for a user."""


# Opening, checking, upgrading; transactions to read and to write.

PATIENCE_SECONDS = 30.0
"""Seconds that reading and writing wait for a database that went away."""
PAUSE_SECONDS = 0.2
"""Between two attempts."""

P = ParamSpec("P")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Database:
    """A database with this release's schema: a file, or what a backend connects to.

    Raises:
        StoreError: it is not Assay's, is damaged or from a newer release, or cannot be opened.
    """

    def __init__(self, location: Path | DatabaseBackend) -> None:
        self.backend: DatabaseBackend = Sqlite(location) if isinstance(location, Path) else location
        self.faults: tuple[type[BaseException], ...] = (SQLAlchemyError, *self.backend.faults)
        self._engine = self.backend.engine()
        self._read_engine = self._engine.execution_options(**self.backend.read)
        self._single = self._engine.execution_options(**self.backend.single)
        try:
            if not self.backend.exists() or self._stored_version() != HEAD:
                self._make_current()
        except StoreError:
            self.close()
            raise

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Raise the driver's errors as what they mean for a user."""
        try:
            yield
        except self.faults as error:
            raise self.backend.explain(error) from error

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction with a consistent state of the database, which never waits for a writer.

        Raises:
            StoreError: the database is unusable.
        """
        with self._explain_errors(), self._read_engine.begin() as connection:
            yield connection

    def rows(self, statement: Select[*Ts], parameters: Mapping[str, object] | None = None) -> Sequence[Row[*Ts]]:
        """The rows of one statement, in a transaction only if the database needs one.

        Raises:
            StoreError: the database is unusable.
        """
        with self._explain_errors(), self._single.connect() as connection:
            return connection.execute(statement, parameters).all()

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that may write; waits for other writers.

        Raises:
            StoreError: the database is unusable, or another process keeps it locked too long.
        """
        with self._explain_errors(), self.writer() as connection, stop_gate.transaction(), connection.begin():
            self.backend.serialize(connection)
            yield connection

    def writer(self) -> Connection:
        """A connection whose transactions may write; the driver's errors are not translated."""
        return self._engine.connect().execution_options(**self.backend.write)

    @property
    def dialect(self) -> Dialect:
        """The database's language."""
        return self._engine.dialect

    def close(self) -> None:
        """Close all connections; from now on, reading and writing are refused, since nobody would close another."""
        self._engine.dispose()
        event.listen(self._engine, "do_connect", _refuse_connection)

    def _stored_version(self) -> str | None:
        """The schema version; None when there is no table yet."""
        with self.read() as connection:
            names = inspect(connection).get_table_names()
            if version.name not in names:
                if names:
                    place = self.backend.place
                    raise StoreError(f"{place} is not an Assay database: move it away, or name another home")
                return None
            return connection.execute(select(version.c.version_num)).scalar() or ""

    def _make_current(self) -> None:
        # One process at a time creates or upgrades; the others wait and find it done.
        with self._explain_errors(), self.backend.schema_lock():
            schema = self._stored_version() if self.backend.exists() else None
            if schema is None:
                self._create()
            elif schema != HEAD:
                self._upgrade()

    def _create(self) -> None:
        # A new database is made directly from the tables: the migrations give the same ones (tested), but slower.
        with self._explain_errors():
            with self._engine.connect() as connection:
                self.backend.prepare(connection)
            with self.writer() as connection, stop_gate.transaction(), connection.begin():
                cursor = connection.connection.cursor()  # through SQLAlchemy each takes twice as long
                for statement in _tables(self._engine.url.drivername):
                    cursor.execute(statement)
                cursor.close()
                connection.execute(version.insert(), {"version_num": HEAD})

    def _upgrade(self) -> None:
        # Imported by name, and only here: Alembic takes longer to import than the rest of the store.
        upgrade = importlib.import_module("assay.store.migrations")
        with self.write() as connection:
            upgrade.upgrade(connection, self.backend.place)


@functools.cache
def _tables(driver: str) -> tuple[str, ...]:
    """What makes all tables in a new database. Asking whether each is there, and wording it, takes longest."""
    lines: list[str] = []
    url = URL.create(driver)
    dialect = url.get_dialect()()
    unbound = create_mock_engine(url, lambda element, *_, **__: lines.append(str(element.compile(dialect=dialect))))
    metadata.create_all(unbound, checkfirst=False)
    return tuple(lines)


def _refuse_connection(*_: object) -> None:
    raise StoreClosed


class OverDatabase(Protocol):
    """An object over a database."""

    _database: Database


O = TypeVar("O", bound=OverDatabase)  # noqa: E741 - a letter for a type, as its neighbours


def retry_while_away(method: Callable[Concatenate[O, P], T]) -> Callable[Concatenate[O, P], T]:
    """Repeat a method while the database is away; the method must be idempotent. Blocking.

    Raises (when called):
        StoreAway: the database did not come back in `PATIENCE_SECONDS`.
    """

    def wrapper(self: O, *args: P.args, **kwargs: P.kwargs) -> T:
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return method(self, *args, **kwargs)
            except StoreAway:
                if time.monotonic() > end:
                    raise
                time.sleep(PAUSE_SECONDS)

    return functools.wraps(method)(wrapper)  # type: ignore[return-value]
