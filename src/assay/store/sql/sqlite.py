"""Everything specific to SQLite: setting up connections, beginning transactions, upserting rows, reading errors."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec
from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from assay.core.errors import DiskFull, StoreError
from assay.core.lazy import lazy_module
from assay.store.sql.schema import SHARED_CACHE, driver_error, to_json

if TYPE_CHECKING:
    import filelock
else:
    filelock = lazy_module("filelock")

__all__ = ["BUSY_SECONDS", "WRITE_OPTION", "Sqlite", "create_sqlite_engine", "insert"]

BUSY_SECONDS = 30
"""Seconds that a writer waits for another process's transaction."""

WRITE_OPTION = {"assay_write": True}
"""Execution options of a connection that will write."""
SINGLE_OPTION = {"assay_single": True}
"""Execution options of a connection for a single reading statement: SQLite gives each a transaction of its own."""

_FILE = "assay.file"
"""The key of a connection's file in its record of the pool."""

# With write-ahead logging and synchronous=NORMAL a commit is a write to the log without a sync to the disk. A killed
# process loses none of it, because the operating system has the data. A power cut may lose the last commits, but
# never the database's consistency; the run then repeats those steps. FULL would cost a sync (1-10 ms) per commit.
_PRAGMAS = (
    f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}",
    "PRAGMA foreign_keys = ON",
    "PRAGMA synchronous = NORMAL",
)

_OLDEST = (3, 35, 0)  # RETURNING

_UPGRADE_SECONDS = 120
MIN_FREE_BYTES = 65_536
"""With less space the disk is full: the file that SQLite's processes share grows by 32 kB."""


class Sqlite:
    """The database file at `path`."""

    read: dict[str, Any] = {}
    single: dict[str, Any] = SINGLE_OPTION
    write: dict[str, Any] = WRITE_OPTION
    merge = None
    faults: tuple[type[BaseException], ...] = (sqlite3.Error,)

    def __init__(self, path: Path) -> None:
        self._path, self.place = path, str(path)

    def engine(self) -> Engine:
        try:
            engine = create_sqlite_engine(self._path)
        except OSError as error:  # not even its folder may be entered
            why = f"{error.strerror}: check its permissions, or name another home with --home"
            raise StoreError(f"cannot open {self._path}: {why}") from error
        event.listen(engine, "connect", self._note_file)
        event.listen(engine, "begin", self._check_file, insert=True)
        return engine

    def _note_file(self, _: DBAPIConnection, entry: ConnectionPoolEntry) -> None:
        entry.info[_FILE] = self._file()

    def _check_file(self, connection: Connection) -> None:
        """Refuse to go on with a file that no longer has its name: nobody would ever find what is written there.

        SQLite makes this check itself (`SQLITE_READONLY_DBMOVED`), but not with write-ahead logging.
        """
        if connection.info[_FILE] != self._file():
            raise StoreError(
                f"{self._path} was removed or replaced while it was open: put it back, or start this program again"
            )

    def _file(self) -> tuple[int, int] | None:
        """The identity of the file that has the path now; None if there is none."""
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def exists(self) -> bool:
        """True if the file exists."""
        return self._path.exists()

    @contextmanager
    def schema_lock(self) -> Iterator[None]:
        """See the protocol: a lock file beside the database."""
        lock = filelock.FileLock(f"{self._path}.lock", timeout=_UPGRADE_SECONDS)
        try:
            lock.acquire()
        except filelock.Timeout:
            raise StoreError(
                f"another process has been upgrading {self._path} for {_UPGRADE_SECONDS} s: try again when it is done"
            ) from None
        except OSError as error:
            why = f"{error.strerror}: check its permissions, or name another home with --home"
            raise StoreError(f"cannot write beside {self._path}: {why}") from error
        try:
            yield
        finally:
            lock.release()

    def prepare(self, connection: Connection) -> None:
        """Turn on write-ahead logging (stored in the file), so that readers and the writer do not block each other."""
        connection.connection.cursor().execute("PRAGMA journal_mode = WAL")  # not inside a transaction

    def serialize(self, connection: Connection) -> None:
        """Do nothing: one transaction writes at a time."""

    def serialize_claims(self, connection: Connection) -> None:
        """Do nothing, for the same reason."""

    def may_claim_now(self, connection: Connection) -> bool:
        """Return True, for the same reason."""
        return True

    def limit_idle_time(self, connection: Connection) -> None:
        """Do nothing: a file's lock belongs to its process until that ends."""

    def has_other_users(self, connection: Connection) -> bool:
        """Return False: a file does not know its users; `store.presence` does."""
        return False

    @contextmanager
    def exclusive(self, connection: Connection) -> Iterator[bool]:
        """Yield True: the caller that cleans a home has made sure."""
        yield True

    def announce(self, connection: Connection, run_id: str) -> None:
        """Do nothing: a file cannot notify."""

    def listen(self, listener: Callable[[Iterable[str]], None]) -> None:
        """Do nothing: a file cannot notify."""

    def changes(self, connection: Connection) -> int:
        """See the protocol: SQLite counts them in the memory that its processes share, which takes 10 µs to read."""
        cursor = connection.connection.cursor()
        cursor.execute("PRAGMA data_version")
        ((version,),) = cursor.fetchall()  # all, so that the statement is finished
        cursor.close()
        return int(version)

    def now(self, connection: Connection) -> float:
        """This machine's clock, because a file has none."""
        return time.time()

    def is_busy(self, error: BaseException) -> bool:
        return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

    def is_away(self, error: BaseException) -> bool:
        """Return False: a file is always there."""
        return False

    def explain(self, error: BaseException) -> StoreError:
        """The error for the user that a driver's error means."""
        code, path = _code(error), self._path
        if self.is_busy(error):
            return StoreError(f"another process has been writing to {path} for more than {BUSY_SECONDS} s: try again")
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            return StoreError(f"{path} is damaged or not a database: move it away, or name another home with --home")
        if code == sqlite3.SQLITE_FULL or (code in _MAY_BE_FULL and _has_no_space(path)):
            return DiskFull(f"no space left to write {path}: free some, then try again")
        if code == sqlite3.SQLITE_IOERR:
            return StoreError(
                f"{path} cannot be read or written: the disk may be full or failing, or a size limit is set"
            )
        if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
            if code == sqlite3.SQLITE_CANTOPEN and wal_path(path).exists() and not os.access(path.parent, os.W_OK):
                why = f"{wal_path(path).name} beside it has changes, and SQLite must write there to take them over"
                return StoreError(f"cannot open {path} for reading: {why}; open it once where it can be written")
            return StoreError(
                f"cannot open {path} for writing: check its permissions, or name another home with --home"
            )
        return StoreError(f"{path}: {driver_error(error)}")


def database_url(path: Path) -> URL:
    """Where SQLite opens the file at `path`; in a folder that cannot be written, for reading alone.

    With write-ahead logging even a reader makes files beside the database, unless it is `immutable`, so that nothing
    can change it (https://sqlite.org/wal.html, Read-Only Databases). If a process has it open, or was killed, those
    files are there.
    """
    if not path.exists() or os.access(path.parent, os.W_OK):
        return URL.create("sqlite+pysqlite", database=str(path))
    log, shared_memory = wal_path(path), path.with_name(f"{path.name}-shm")
    is_open = shared_memory.exists() or (log.exists() and log.stat().st_size > 0)
    query = {"uri": "true", "mode": "ro", **({} if is_open else {"immutable": "1"})}
    return URL.create("sqlite+pysqlite", database=f"file:{quote(str(path.absolute()))}", query=query)


def wal_path(path: Path) -> Path:
    """The write-ahead log of the database at `path`."""
    return path.with_name(f"{path.name}-wal")


def create_sqlite_engine(path: Path) -> Engine:
    """Connections to the database file at `path`.

    Raises:
        StoreError: this Python's SQLite is too old.
    """
    if sqlite3.sqlite_version_info < _OLDEST:
        raise StoreError(f"SQLite {sqlite3.sqlite_version} is too old: Assay needs a Python with SQLite 3.35 or later")
    engine = create_engine(
        database_url(path),
        execution_options=SHARED_CACHE,
        paramstyle="named",
        connect_args={"isolation_level": None},  # the driver begins nothing: `_begin` does
        json_serializer=to_json,
        json_deserializer=msgspec.json.decode,
        pool_size=4,
        pool_use_lifo=True,
        max_overflow=60,
    )
    event.listen(engine, "connect", _set_pragmas)
    event.listen(engine, "begin", _begin)
    return engine


def _set_pragmas(driver: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    cursor = driver.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _begin(connection: Connection) -> None:
    # A writer takes the lock first: a transaction that turns from reading to writing fails without waiting.
    options = connection.get_execution_options()
    if not options.get("assay_single"):
        connection.connection.cursor().execute("BEGIN IMMEDIATE" if options.get("assay_write") else "BEGIN")


_MAY_BE_FULL = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
"""What SQLite also reports when a file beside the database cannot be made or grow."""


def _has_no_space(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < MIN_FREE_BYTES
    except OSError:
        return False


def _code(error: BaseException) -> int:
    """SQLite's primary result code, 0 if the error is not SQLite's."""
    return (getattr(driver_error(error), "sqlite_errorcode", 0) or 0) & 0xFF
