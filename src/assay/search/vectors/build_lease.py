"""Whose turn it is to make vectors, where several machines share them in PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from assay.core.errors import SearchError

LOCK = 0x61737367
"""The advisory lock of who makes vectors; a session which ends lets go of it."""
PATIENCE, PAUSE = 3_600.0, 1.0
"""Seconds to wait for another machine, and between two looks."""


@contextmanager
def postgres_turn(engine: Engine, say: Callable[[str], None]) -> Iterator[None]:
    """The right to make vectors, among all machines.

    Raises:
        SearchError: another has it for long, or the database cannot be used.
    """
    end, told = time.monotonic() + PATIENCE, False
    try:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            while not connection.exec_driver_sql("SELECT pg_try_advisory_lock(%(k)s)", {"k": LOCK}).scalar_one():
                if time.monotonic() > end:
                    raise SearchError(f"another machine has made vectors for more than {PATIENCE:.0f} s")
                if not told:
                    say("waiting for another process to finish the vectors")
                told = True
                time.sleep(PAUSE)
            try:
                yield
            finally:
                connection.exec_driver_sql("SELECT pg_advisory_unlock(%(k)s)", {"k": LOCK})
    except SQLAlchemyError as error:
        raise SearchError(f"the vectors of passages cannot be used: {error}") from error
