"""Records which processes work with a home: each holds a shared lock on a file in it; a clean-up needs it alone."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl

FILE = "in-use.lock"
PATIENCE_SECONDS = 60.0
"""Seconds a starting process waits for a clean-up."""
_PAUSE = 0.05


class Presence:
    """This process's lock on the home in `folder`, None for one in memory. The system releases a dead process's lock.

    If locking is impossible (a read-only disk), this process never counts as alone, and cleans nothing up.
    """

    def __init__(self, folder: Path | None) -> None:
        self._descriptor = -1
        if folder is None or sys.platform == "win32":  # there are no shared locks: no process is ever known to be alone
            return
        with contextlib.suppress(OSError):
            self._descriptor = os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._lock_shared()

    @contextmanager
    def exclusive(self) -> Iterator[bool]:
        """In the block no other process works with the home, or starts to; False if one does."""
        if self._descriptor < 0 or sys.platform == "win32":
            yield False
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock_shared()  # a failed attempt loses the held lock
            yield False
            return
        try:
            yield True
        finally:
            self._lock_shared()

    def close(self) -> None:
        """This process is done with the home."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _lock_shared(self) -> None:
        if sys.platform == "win32":
            return
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > end:
                    raise
                time.sleep(_PAUSE)
