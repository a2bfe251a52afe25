"""Turns to write what several processes share: one at a time.

Here among the processes of a home; `postgres.tables` has those among the machines of a database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from assay.core.errors import SearchError

Turn = Callable[[Callable[[str], None]], AbstractContextManager[None]]
"""The right to write; while another process has it, the caller is told."""

PATIENCE = 3_600.0
"""Seconds to wait for another process."""


class SharedWork(msgspec.Struct, frozen=True, kw_only=True):
    """What one process writes at a time.

    `lock` is its advisory lock in PostgreSQL, `pause` the seconds between two checks there, `patience` the longest
    wait.
    """

    name: str
    lock: int = 0
    pause: float = 1.0
    patience: float = PATIENCE


VECTORS = SharedWork(name="the vectors", lock=0x61737369)
INDEX = SharedWork(name="the search index", lock=0x61737368, pause=0.05)


def no_turn(say: Callable[[str], None]) -> AbstractContextManager[None]:
    """The right to write something that is not shared."""
    return nullcontext()


@contextmanager
def file_turn(file: Path, work: SharedWork, say: Callable[[str], None]) -> Iterator[None]:
    """The right of one process of a home, by a lock file beside `file`.

    Raises:
        SearchError: another process has it too long.
    """
    lock = FileLock(file.with_suffix(".lock"), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say(waiting(work))
        try:
            lock.acquire(timeout=work.patience)
        except Timeout:
            raise SearchError(f"another process has held {lock.lock_file} for {work.patience:.0f} s") from None
    try:
        yield
    finally:
        lock.release()


def waiting(work: SharedWork) -> str:
    """The message to a waiting caller."""
    return f"waiting for another process to finish {work.name}"
