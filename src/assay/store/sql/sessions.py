"""Sessions of PostgreSQL: their names, which say whose they are, and poolers (pgbouncer) in front of it."""

from __future__ import annotations

import functools
import os
import platform
import selectors
import threading
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec
import psycopg
from sqlalchemy import URL, Connection, Engine, event

from assay.core.errors import ConfigError

APPLICATION = "assay"
_HOST = 20
"""Characters of a host's name: the server keeps 63 in all."""
_WORDS = 5


class SessionName(msgspec.Struct, frozen=True, kw_only=True):
    """The opener of a session: a process of a release on a host, and its clock's time."""

    release: str
    host: str
    process: int
    clock: float


def new_session_name() -> str:
    """The name for a session that this process opens now."""
    return f"{APPLICATION} {_release()} {_host()} {os.getpid()} {time.time():.1f}"


def parse_session_name(name: str) -> SessionName | None:
    """Parse a session's name; None if it does not belong to such a process, or belongs to an older release."""
    words = name.split()
    if len(words) != _WORDS or words[0] != APPLICATION:
        return None
    try:
        return SessionName(release=words[1], host=words[2], process=int(words[3]), clock=float(words[4]))
    except ValueError:
        return None


@functools.cache
def _release() -> str:
    return version("assay")


@functools.cache
def _host() -> str:
    return platform.node()[:_HOST].replace(" ", "-") or "-"


# Behind a pooler, a client has a session of the server only during a transaction: anything set, locked, prepared or
# listened to for a session would affect another client. So transactions go through the pooler and state their own
# settings, while session locks and LISTEN use connections directly to the server (`?direct=HOST:PORT` in the URL).


IDLE_LIMIT_KEY = "assay_hurried"
"""In the `info` of a connection whose idle transactions are ended from outside."""


def direct_url(url: URL, address: str) -> URL:
    """The URL of the server itself: the pooler's with another host, port and (if named) database.

    Raises:
        ConfigError: `address` is not HOST, HOST:PORT or HOST:PORT/NAME.
    """
    try:
        parsed = urlsplit(f"//{address}")
        host, port = parsed.hostname, parsed.port
    except ValueError:
        host, port = None, None
    name = parsed.path.removeprefix("/") if host else ""
    if not host or "/" in name or "@" in address:
        raise ConfigError("database: write ?direct=HOST:PORT, or ?direct=HOST:PORT/NAME, of the server itself")
    return url.set(host=host, port=port or 5432, database=name or url.database)


PoolingMode = Literal["none", "session", "transaction"]
"""The connection between a process and the server: nothing, or a pooler, and how it lends its sessions."""
_TRIES = 5


def detect_pooling(connect: Callable[[], psycopg.Connection[Any]]) -> PoolingMode:
    """Detect what connections lead to; they must be outside transactions when they are made.

    A pooler tells each client a number of its own. In transaction mode it gives the session of an idle client to the
    next one that begins a transaction. Other clients may be faster, so several attempts are made.
    """
    with connect() as first, connect() as second:
        first.autocommit = True
        if _number(first) == first.info.backend_pid:
            return "none"
        for _ in range(_TRIES):
            number = _number(first)
            with second.transaction():
                if _number(second) == number:
                    return "transaction"
    return "session"


def _number(connection: psycopg.Connection[Any]) -> int:
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    return int(row[0]) if row else 0


def set_transaction_options(engine: Engine, schema: str, lock_seconds: int, idle_seconds: int) -> None:
    """Make each transaction of the engine set its own schema and lock timeout."""
    always = f"SET LOCAL search_path = {schema}; SET LOCAL lock_timeout = '{lock_seconds}s'"
    with_idle_limit = f"{always}; SET LOCAL idle_in_transaction_session_timeout = '{idle_seconds}s'"

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(with_idle_limit if connection.info.get(IDLE_LIMIT_KEY) else always)


class Stay:
    """One connection to the server itself, kept while a process works; it holds the lock that signals this."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect, self._lock = connect, threading.Lock()
        self._connection: Connection | None = None

    def keep_with(self, engine: Engine) -> None:
        """Keep the connection from now on whenever the engine is used, until the engine is disposed of."""
        event.listen(engine, "checkout", lambda *_: self._ensure_connection())
        event.listen(engine, "engine_disposed", lambda _: self._close_held())

    def _ensure_connection(self) -> None:
        with self._lock:
            before = self._connection
            if before is not None and not _is_lost(before.connection.driver_connection):
                return
            self._connection = self._connect()
            if before is not None:
                self._close(before)

    def _close_held(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._close(self._connection)
                self._connection = None

    @staticmethod
    def _close(connection: Connection) -> None:
        connection.invalidate()
        connection.close()


def _is_lost(driver: Any) -> bool:
    """True if the server has ended an idle connection: then there is something to read."""
    if driver.closed:
        return True
    with selectors.DefaultSelector() as selector:
        selector.register(driver.fileno(), selectors.EVENT_READ)
        return bool(selector.select(0))
