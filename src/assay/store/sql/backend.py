"""The differences between databases, and nothing else: each has a class in a separate file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sqlalchemy import Connection, Engine

from assay.core.errors import StoreError
from assay.store.sql.commits import CommitJob

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
        ...

    def engine(self) -> Engine:
        """An engine for connections to it.

        Raises:
            StoreError: what is needed to connect is not installed, or too old.
        """
        ...

    def exists(self) -> bool:
        """Whether it may exist already."""
        ...

    def guard(self) -> AbstractContextManager[None]:
        """Let only one process at a time create or upgrade it.

        Raises:
            StoreError: another process does, for too long.
        """
        ...

    def prepare(self, connection: Connection) -> None:
        """Configure a new database once, outside a transaction."""
        ...

    def serialize(self, connection: Connection) -> None:
        """Wait in a transaction that writes documents, so that row numbers become visible in order."""
        ...

    def serialize_claims(self, connection: Connection) -> None:
        """Wait until no other process takes something out of the queue."""
        ...

    def may_claim_now(self, connection: Connection) -> bool:
        """Do the same without waiting: False if another process takes something out of the queue."""
        ...

    def others(self, connection: Connection) -> bool:
        """Whether anybody else is connected, as far as the database can tell."""
        ...

    def alone(self, connection: Connection) -> AbstractContextManager[bool]:
        """In the block nobody else is connected; False if somebody is. For seconds only: others wait.

        The connection is outside a transaction, and its process opens no other in the block.
        """
        ...

    def hurry(self, connection: Connection) -> None:
        """Let the database end idle transactions of this connection after some seconds.

        Otherwise a stopped process or a vanished machine would keep its locks and block all others.
        """
        ...

    def announce(self, connection: Connection, run_id: str) -> None:
        """Notify other processes, once this transaction is committed, that the log of a run has grown."""
        ...

    def hear(self, listener: Callable[[Iterable[str]], None]) -> Callable[[], None] | None:
        """Call `told`, from a separate thread, with the runs that any process announces; call the result to stop.

        None if the database has no notifications. Notifications are lost while the database is away.
        """
        ...

    def now(self, connection: Connection) -> float:
        """The time for leases, in seconds since 1970: one clock for all processes that share the database."""
        ...

    def is_busy(self, error: BaseException) -> bool:
        """Whether another process kept it locked for longer than we wait."""
        ...

    def is_away(self, error: BaseException) -> bool:
        """Whether it could not be reached, or the connection broke; it may come back."""
        ...

    def explain(self, error: BaseException) -> StoreError:
        """The meaning of a driver's error for a user."""
        ...
