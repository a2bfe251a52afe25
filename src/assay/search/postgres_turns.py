"""Turns to write what the machines of a database share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from assay.core.errors import SearchAway, SearchError
from assay.search.turns import SharedWork, waiting

_OF = "%(k)s, hashtext(current_setting('search_path'))"


@contextmanager
def postgres_turn(engine: Engine, work: SharedWork, say: Callable[[str], None]) -> Iterator[None]:
    """The right of one session among all machines of a library; it is released when the session ends.

    The lock is that of the schema: another library in the same database has its own.

    Raises:
        SearchError: another session has it too long, or the database cannot be used.
    """
    end, told, key = time.monotonic() + work.patience, False, {"k": work.lock}
    try:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            while not connection.exec_driver_sql(f"SELECT pg_try_advisory_lock({_OF})", key).scalar_one():
                if time.monotonic() > end:
                    raise SearchError(f"another machine has written {work.name} for more than {work.patience:.0f} s")
                if not told:
                    say(waiting(work))
                told = True
                time.sleep(work.pause)
            try:
                yield
            finally:
                connection.exec_driver_sql(f"SELECT pg_advisory_unlock({_OF})", key)
    except OperationalError as error:
        raise SearchAway(f"{work.name} cannot be written now: {error}") from error
    except SQLAlchemyError as error:
        raise SearchError(f"{work.name} cannot be written: {error}") from error
