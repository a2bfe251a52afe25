"""Gives memory that is free in this process back to the system.

glibc keeps what was freed between blocks still in use, in a part of the heap for each thread that ever allocated:
after a run over web pages that was 20 of 140 MB, and more after each further run.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.later import later

if TYPE_CHECKING:
    import ctypes
else:
    ctypes = later("ctypes")

GROWTH = 8_000_000
"""Bytes by which the process must have grown since the last time: this takes 2 to 20 ms of a thread's time."""
_STATM = Path("/proc/self/statm")


class Heap:
    """The heap of a process, which threads share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._least = sys.maxsize  # resident bytes after the last time, or less if it has shrunk since

    def relieve_soon(self) -> None:
        """Give free memory back in a thread, if the process has grown; the running loop goes on meanwhile."""
        if self.grown() >= GROWTH:
            asyncio.get_running_loop().run_in_executor(None, self.relieve)

    def grown(self) -> int:
        """The bytes by which the process has grown since memory was given back; the first call returns 0."""
        with self._lock:
            now = resident()
            self._least = min(self._least, now)
            return now - self._least

    def relieve(self) -> None:
        """Give free memory back. Blocking, without the interpreter's lock; does nothing without glibc."""
        trim = _trim()
        if trim is not None:
            trim(0)
        with self._lock:
            self._least = resident()


HEAP = Heap()
"""This process's."""


def resident() -> int:
    """The bytes of this process that are in memory; 0 on systems that do not say so in a file."""
    try:
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _trim() -> Callable[[int], int] | None:
    if sys.platform != "linux":
        return None
    found: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return found
