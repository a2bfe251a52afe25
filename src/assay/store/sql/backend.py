"""What one database differs in from another, and nothing else: a class in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sqlalchemy import Connection, Engine

from assay.core.errors import StoreError
from assay.store.sql.commits import CommitJob

Merge = Callable[[Connection, Sequence[CommitJob]], None]
"""Writes commits over a connection whose transaction has begun, commits it, and gives the answers."""


class DatabaseBackend(Protocol):
    """A database: how it is reached, begun, locked, and what its errors mean.

    `place` is what a user calls it; `faults` is what its driver raises when it is used without SQLAlchemy in between;
    `write` are execution options of connections whose transactions may write, `read` of those which see one state,
    `single` of those which make one reading statement and see one state for that reason.
    """

    place: str
    faults: tuple[type[BaseException], ...]
    read: dict[str, Any]
    single: dict[str, Any]
    write: dict[str, Any]

    @property
    def merge(self) -> Merge | None:
        """Its faster way to write commits and end the transaction, if it has one."""
        ...

    def engine(self) -> Engine:
        """Connections to it.

        Raises:
            StoreError: what is needed to reach it is not installed, or too old.
        """
        ...

    def exists(self) -> bool:
        """Whether it may have been made before."""
        ...

    def guard(self) -> AbstractContextManager[None]:
        """One process at a time creates or upgrades.

        Raises:
            StoreError: another process does, for too long.
        """
        ...

    def prepare(self, connection: Connection) -> None:
        """What a new database is told once, outside a transaction."""
        ...

    def serialize(self, connection: Connection) -> None:
        """Wait inside a transaction which writes documents: row numbers then appear in their order."""
        ...

    def serialize_claims(self, connection: Connection) -> None:
        """Wait until no other process takes something out of the queue."""
        ...

    def others(self, connection: Connection) -> bool:
        """Whether anybody else is connected, as far as the database can tell."""
        ...

    def alone(self, connection: Connection) -> AbstractContextManager[bool]:
        """Within the block nobody else is connected, or comes; False where somebody is. For seconds: who comes waits.

        The connection is outside a transaction, and its process opens no other within the block.
        """
        ...

    def hurry(self, connection: Connection) -> None:
        """Have transactions of this connection ended from outside in which nothing happens for some seconds.

        A process which was stopped, or a machine which is gone, would hold what it locked, and all others up.
        """
        ...

    def announce(self, connection: Connection, run_id: str) -> None:
        """Tell other processes, once this transaction is committed, that the log of a run has grown."""
        ...

    def hear(self, told: Callable[[Iterable[str]], None]) -> Callable[[], None] | None:
        """Call `told`, from a thread of its own, with the runs which any process announces; the result stops that.

        None where a database cannot say so. What is announced while the database is away is missed.
        """
        ...

    def now(self, connection: Connection) -> float:
        """The time leases go by, in seconds since 1970: one clock for all processes which share it."""
        ...

    def is_busy(self, error: BaseException) -> bool:
        """Whether another process kept it locked for longer than we wait."""
        ...

    def is_away(self, error: BaseException) -> bool:
        """Whether it could not be reached, or went away in the middle; it may come back."""
        ...

    def explain(self, error: BaseException) -> StoreError:
        """What a driver's error means to a user."""
        ...
