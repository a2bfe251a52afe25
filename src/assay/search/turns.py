"""Whose turn it is to write what several processes share: one at a time, among those of a home or of a database."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from filelock import FileLock, Timeout

from assay.core.errors import SearchError
from assay.core.later import later

if TYPE_CHECKING:
    from sqlalchemy import Engine, exc
else:
    exc = later("sqlalchemy.exc")

Turn = Callable[[Callable[[str], None]], AbstractContextManager[None]]
"""The right to write; while another has it, who waits is told so."""

PATIENCE = 3_600.0
"""Seconds to wait for another process."""


class SharedWork(msgspec.Struct, frozen=True, kw_only=True):
    """What one process writes at a time: its name, its advisory lock in PostgreSQL, and seconds between two looks."""

    name: str
    lock: int
    pause: float


VECTORS = SharedWork(name="the vectors", lock=0x61737367, pause=1.0)
INDEX = SharedWork(name="the search index", lock=0x61737368, pause=0.05)


def no_turn(say: Callable[[str], None]) -> AbstractContextManager[None]:
    """The right of who shares nothing."""
    return nullcontext()


@contextmanager
def file_turn(file: Path, work: SharedWork, say: Callable[[str], None]) -> Iterator[None]:
    """The right of one process of a home, which a lock file beside `file` stands for.

    Raises:
        SearchError: another has it for too long.
    """
    lock = FileLock(file.with_suffix(".lock"), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say(_waiting(work))
        try:
            lock.acquire(timeout=PATIENCE)
        except Timeout:
            raise SearchError(f"another process has held {lock.lock_file} for {PATIENCE:.0f} s") from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def postgres_turn(engine: Engine, work: SharedWork, say: Callable[[str], None]) -> Iterator[None]:
    """The right of one session among all machines; a session which ends lets go of it.

    Raises:
        SearchError: another has it for too long, or the database cannot be used.
    """
    end, told, key = time.monotonic() + PATIENCE, False, {"k": work.lock}
    try:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            while not connection.exec_driver_sql("SELECT pg_try_advisory_lock(%(k)s)", key).scalar_one():
                if time.monotonic() > end:
                    raise SearchError(f"another machine has written {work.name} for more than {PATIENCE:.0f} s")
                if not told:
                    say(_waiting(work))
                told = True
                time.sleep(work.pause)
            try:
                yield
            finally:
                connection.exec_driver_sql("SELECT pg_advisory_unlock(%(k)s)", key)
    except exc.SQLAlchemyError as error:
        raise SearchError(f"{work.name} cannot be written: {error}") from error


def _waiting(work: SharedWork) -> str:
    return f"waiting for another process to finish {work.name}"
