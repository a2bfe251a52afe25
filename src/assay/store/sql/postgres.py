"""Everything specific to PostgreSQL. Imported only if a database is named by its URL; needs the extra `workers`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, inspect, make_url, select, text
from sqlalchemy.dialects.sqlite.dml import OnConflictDoNothing, OnConflictDoUpdate
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.ext.compiler import compiles

from assay.core.errors import ConfigError, DiskFull, StoreAway, StoreError
from assay.core.lazy import regex
from assay.store.sql import merged_commits
from assay.store.sql.schema import SHARED_CACHE, driver_error, to_json
from assay.store.sql.tables import version

try:
    import psycopg

    from assay.store.sql import sessions
except ImportError as missing:
    raise ConfigError(f"a Postgres database needs the extra: pip install 'assay[workers]' ({missing})") from missing

CONNECT_SECONDS = 10
"""Seconds for one attempt to connect."""
LOCK_SECONDS = 30
"""Seconds that a statement waits for another process's lock."""
HEARING_SECONDS = 0.5
"""Seconds until the listening thread notices that it must stop, at most."""
DIRECT = "?direct=HOST:PORT of the server itself (docs/workers.md)"
IDLE_SECONDS = 3
"""Seconds that a transaction of the journal may be idle: less than a lease, which a stopped process must lose."""
SCHEMA = "assay"
"""The schema of Assay's tables, unless the URL names another: other programs may use the database too."""
_GUARD, _DOCUMENTS, _CLAIMS, _PRESENCE = 0x61737361, 0x61737362, 0x61737363, 0x61737364
_DOOR = 0x61737367
"""Keys of advisory locks ("assa" and on), combined with a schema's name."""

_FAULTS: tuple[type[BaseException], ...] = (SQLAlchemyError, psycopg.Error)
_SCHEMA = regex(r"[a-z0-9_]{1,63}")


@compiles(OnConflictDoNothing, "postgresql")
@compiles(OnConflictDoUpdate, "postgresql")
def _on_conflict(element: Any, compiler: Any, **options: Any) -> str:
    """Compile SQLite's `insert` for PostgreSQL: its clause lacks one name that this dialect needs.

    Postgres's own `insert` would work for both, but importing it costs every start 25 ms.
    """
    element.constraint_target = None
    nothing = isinstance(element, OnConflictDoNothing)
    visit = compiler.visit_on_conflict_do_nothing if nothing else compiler.visit_on_conflict_do_update
    statement: str = visit(element, **options)
    return statement


class Postgres:
    """A database of a PostgreSQL server, by its URL: `postgresql://user:password@host/name`.

    Assay's tables are in a schema of their own, created if necessary: `assay`, or the one in `?schema=`. With
    `?direct=HOST:PORT`, the URL is that of a pooler in transaction mode, and the server itself is at HOST:PORT.

    Raises:
        ConfigError: it is not such a URL.
    """

    read: dict[str, Any] = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    single = read
    write: dict[str, Any] = {"isolation_level": "READ COMMITTED"}
    merge = staticmethod(merged_commits.write)
    changes = None
    faults: tuple[type[BaseException], ...] = (psycopg.Error,)
    all_faults = _FAULTS

    def __init__(self, url: str) -> None:
        self._url, self.schema, self._direct = _read_url(url)
        self._sessions: set[int] = set()  # of this process's connections, by the server's numbers
        self.place = (
            # the query may contain a password too
            f"the database {self._url.set(query={}).render_as_string(hide_password=True)}"
        )

    def engine(self, *, present: bool = True) -> Engine:
        """Connections to the database; each is tested before it is reused, because the server may have restarted.

        Those that are `present` show other processes that somebody works with the library (`has_other_users`).
        """
        pool_options: dict[str, Any] = {"pool_pre_ping": True, "pool_size": 4, "max_overflow": 12}
        if self._direct is None:
            return self._session_engine(self._url, present=present, **pool_options)
        # prepared statements stay with a session, and a pooler accepts no `options`; a single name needs no names
        # elsewhere
        engine = _engine(
            self._url, {"prepare_threshold": None, "application_name": sessions.APPLICATION}, **pool_options
        )
        sessions.set_transaction_options(engine, self.schema, LOCK_SECONDS, IDLE_SECONDS)
        if present:
            sessions.Stay(self._session_engine(self._direct, present=True, poolclass=NullPool).connect).keep_with(
                engine
            )
        return engine

    def session_lock_engine(self, engine: Engine) -> Engine:
        """The engine for session locks, beside an engine of this database: the same one, if there is no pooler."""
        return engine if self._direct is None else self.direct_engine(present=False)

    def direct_engine(self, *, present: bool = False) -> Engine:
        """Connections directly to the server, each closed after use."""
        return self._session_engine(self._direct or self._url, present=present, poolclass=NullPool)

    def _session_engine(self, url: URL, *, present: bool, **pool_options: Any) -> Engine:
        """Connections that are sessions of the server."""
        options = f"-c lock_timeout={LOCK_SECONDS}s -c search_path={self.schema}"
        engine = _engine(url, {"options": options}, **pool_options)
        event.listen(engine, "do_connect", _set_application_name)
        if present:
            event.listen(engine, "connect", self._take_presence_lock)
            event.listen(engine, "close", self._forget_session)
        return engine

    def detect_pooler(self) -> tuple[sessions.PoolingMode, bool]:
        """What is in front of the server, and whether the URL says where the server itself is.

        Raises:
            StoreError: the database cannot be reached.
        """
        plain = self._url.set(drivername="postgresql").render_as_string(hide_password=False)
        try:
            mode = sessions.detect_pooling(
                lambda: psycopg.connect(plain, connect_timeout=CONNECT_SECONDS, prepare_threshold=None)
            )
        except _FAULTS as error:
            raise self.explain(error) from error
        return mode, self._direct is not None

    def exists(self) -> bool:
        """Return True: without the database nothing works."""
        return True

    def schema_version(self) -> str:
        """The version of the existing tables, empty if there are none. Creates nothing.

        Raises:
            StoreError: the database cannot be reached or read.
        """
        engine = self.engine()
        try:
            with engine.connect() as connection:
                if not inspect(connection).has_table(version.name, schema=self.schema):
                    return ""
                return connection.execute(select(version.c.version_num)).scalar() or ""
        except _FAULTS as error:
            raise self.explain(error) from error
        finally:
            engine.dispose()

    @contextmanager
    def schema_lock(self) -> Iterator[None]:
        """See the protocol; also creates the schema."""
        engine = self.direct_engine(present=True)
        try:
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(text("SELECT pg_advisory_lock(:key, hashtext(:of))"), self._lock(_GUARD))
                connection.execute(text(f'CREATE SCHEMA IF NOT EXISTS "{self.schema}"'))
                yield
        finally:
            engine.dispose()  # ends the session, and its lock with it

    def prepare(self, connection: Connection) -> None:
        """Do nothing: new databases need no preparation."""

    def serialize(self, connection: Connection) -> None:
        """See the protocol. Numbers come from a sequence: without this a later one could become visible before an
        earlier one.
        """
        connection.execute(text("SELECT pg_advisory_xact_lock(:key, hashtext(:of))"), self._lock(_DOCUMENTS))

    def serialize_claims(self, connection: Connection) -> None:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key, hashtext(:of))"), self._lock(_CLAIMS))

    def may_claim_now(self, connection: Connection) -> bool:
        attempt = text("SELECT pg_try_advisory_xact_lock(:key, hashtext(:of))")
        return bool(connection.execute(attempt, self._lock(_CLAIMS)).scalar_one())

    def has_other_users(self, connection: Connection) -> bool:
        """See the protocol: each of Assay's connections holds a lock that others can hold too."""
        return not self._sessions.issuperset(self.working_sessions(connection))

    def working_sessions(self, connection: Connection) -> list[int]:
        """The server's numbers of the sessions that hold the lock of processes working with the library."""
        return list(connection.execute(_HELD, self._lock(_PRESENCE)).scalars())

    @contextmanager
    def exclusive(self, connection: Connection) -> Iterator[bool]:
        """See the protocol: a new connection first takes the door's lock, which is held meanwhile."""
        with self._session(connection) as session:
            result = session.execute(text("SELECT pg_try_advisory_lock(:key, hashtext(:of))"), self._lock(_DOOR))
            locked = bool(result.scalar_one())
            try:
                free = locked and not self.has_other_users(session)
                session.commit()
                yield free
            finally:
                session.rollback()
                if locked:
                    session.execute(text("SELECT pg_advisory_unlock(:key, hashtext(:of))"), self._lock(_DOOR))
                    session.commit()

    @contextmanager
    def _session(self, connection: Connection) -> Iterator[Connection]:
        """A connection that can hold locks: the given one, if there is no pooler."""
        if self._direct is None:
            yield connection
            return
        with self.direct_engine(present=False).connect() as session:
            yield session

    def limit_idle_time(self, connection: Connection) -> None:
        """See the protocol: the server ends the session, and its locks with it."""
        if self._direct is not None:
            connection.info[sessions.IDLE_LIMIT_KEY] = True
            return
        with connection.begin():
            connection.execute(text(f"SET idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'"))

    def announce(self, connection: Connection, run_id: str) -> None:
        connection.execute(_NOTIFY, {"run_id": run_id})

    def listen(self, listener: Callable[[Iterable[str]], None]) -> Callable[[], None]:
        listener_thread = _ListenerThread(self.direct_engine(present=False), listener)
        listener_thread.start()
        return listener_thread.stop

    def now(self, connection: Connection) -> float:
        """The server's clock, not this machine's."""
        return float(connection.execute(_NOW).scalar_one())

    def is_busy(self, error: BaseException) -> bool:
        """True if a lock could not be taken in time."""
        return _sqlstate(error) == "55P03"

    def is_away(self, error: BaseException) -> bool:
        """True if the connection, not the statement, failed (classes 08 and 57P, idle for too long, or no code)."""
        origin = driver_error(error)
        if _sqlstate(error) == "25P03":
            return True
        if isinstance(origin, psycopg.InternalError) and not origin.sqlstate:
            return True  # the driver's own: answers are out of step, as after a pooler that was ended
        if not isinstance(origin, psycopg.OperationalError):
            return isinstance(error, DBAPIError) and error.connection_invalidated
        code = origin.sqlstate or ""
        # a wrong password, a missing database, a pooler: not a passing fault
        is_refused = code.startswith(("28", "3D")) or "unsupported startup parameter" in _first_line(error)
        return not is_refused and (not code or code.startswith(("08", "57P")))

    def explain(self, error: BaseException) -> StoreError:
        """The error for the user that a driver's error means."""
        if "unsupported startup parameter" in _first_line(error):
            return StoreError(f"{self.place} is a pooler: add to its URL {DIRECT}")
        if self.is_away(error):
            return StoreAway(
                f"{self.place} cannot be reached: {_first_line(error)}; start it, or correct ASSAY_DATABASE"
            )
        if self.is_busy(error):
            return StoreError(
                f"another process has been writing to {self.place} for more than {LOCK_SECONDS} s: try again"
            )
        if _sqlstate(error) == "53100":
            return DiskFull(f"{self.place}: {_first_line(error)}")
        return StoreError(f"{self.place}: {_first_line(error)}")

    def _take_presence_lock(self, driver: Any, record: Any) -> None:
        """Take the lock that shows that somebody is connected; it ends with the session."""
        with driver.cursor() as cursor:
            cursor.execute(_ENTER, {"door": _DOOR, "key": _PRESENCE, "of": self.schema})
            *_, path, record.info[_SESSION] = cursor.fetchone()  # a pooler tells clients numbers of its own
        if path != self.schema:
            raise StoreError(f"{self.place} is a pooler that drops `options`: add to its URL {DIRECT}")
        driver.commit()
        self._sessions.add(record.info[_SESSION])

    def _forget_session(self, _: object, record: Any) -> None:
        self._sessions.discard(record.info.get(_SESSION, 0))

    def _lock(self, key: int) -> dict[str, Any]:
        return {"key": key, "of": self.schema}


_ENTER = (
    "SELECT pg_advisory_lock_shared(%(door)s, hashtext(%(of)s)), pg_advisory_lock_shared(%(key)s, hashtext(%(of)s)),"
    " pg_advisory_unlock_shared(%(door)s, hashtext(%(of)s)), current_setting('search_path'), pg_backend_pid()"
)
_SESSION = "assay_session"
_HELD = text(
    "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND classid = CAST(:key AS bigint)"
    " AND objid = (hashtext(:of)::bigint & 4294967295)"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
_NOW = text("SELECT extract(epoch FROM clock_timestamp())")


_NOTIFY = text(f"SELECT pg_notify({merged_commits.CHANNEL}, :run_id)")
_LISTEN = text(f"DO $$ BEGIN EXECUTE format('LISTEN %I', {merged_commits.CHANNEL}); END $$")


class _ListenerThread(threading.Thread):
    """Listens on its own connection, and reconnects when it is lost."""

    def __init__(self, engine: Engine, listener: Callable[[Iterable[str]], None]) -> None:
        super().__init__(name="assay-hearing", daemon=True)  # a process that ends without closing must not hang on it
        self._engine, self._listener, self._stop_event = engine, listener, threading.Event()

    def run(self) -> None:
        while not self._stop_event.is_set():
            try:
                self._hear()
            except _FAULTS:  # the database is away: followers of a run poll meanwhile
                self._stop_event.wait(HEARING_SECONDS)
        self._engine.dispose()

    def _hear(self) -> None:
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(_LISTEN)
            driver: Any = connection.connection.driver_connection
            while not self._stop_event.is_set():
                run_ids = {
                    notification.payload for notification in driver.notifies(timeout=HEARING_SECONDS, stop_after=1)
                }
                self._listener(run_ids)

    def stop(self) -> None:
        self._stop_event.set()
        self.join()


def _engine(url: URL, connect_options: dict[str, Any], **pool_options: Any) -> Engine:
    return create_engine(
        url,
        execution_options=SHARED_CACHE,
        connect_args={
            "connect_timeout": CONNECT_SECONDS,
            "keepalives_idle": 10,
            "tcp_user_timeout": 20_000,
            **connect_options,
        },
        json_serializer=to_json,
        json_deserializer=msgspec.json.decode,
        **pool_options,
    )


def _set_application_name(_dialect: object, _record: object, _arguments: object, parameters: dict[str, Any]) -> None:
    """Tell the server who connects, for `assay doctor --cluster`."""
    parameters["application_name"] = sessions.new_session_name()


def _read_url(url: str) -> tuple[URL, str, URL | None]:
    """The URL for the driver, its schema, and the URL of the server if the first is a pooler's."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise ConfigError("database: write postgresql://USER:PASSWORD@HOST/NAME") from None
    if parsed.get_backend_name() not in ("postgresql", "postgres") or not parsed.database:
        raise ConfigError("database: write postgresql://USER:PASSWORD@HOST/NAME")
    schema = parsed.query.get("schema", SCHEMA)
    if not (isinstance(schema, str) and _SCHEMA.fullmatch(schema)):
        raise ConfigError("database: a schema's name is 1 to 63 small letters, digits and underscores")
    direct = parsed.query.get("direct", "")
    bare = parsed.difference_update_query(["schema", "direct"]).set(drivername="postgresql+psycopg")
    if not direct:
        return bare, schema, None
    return bare, schema, sessions.direct_url(bare, direct if isinstance(direct, str) else "")


def _sqlstate(error: BaseException) -> str:
    """The SQLSTATE, empty if there is none."""
    return getattr(driver_error(error), "sqlstate", None) or ""


def _first_line(error: BaseException) -> str:
    return str(driver_error(error)).strip().partition("\n")[0]
