"""This process: its clock, the ids it makes, its name as a holder of leases, its memory."""

from __future__ import annotations

import asyncio
import itertools
import os
import secrets
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.lazy import lazy_module
from assay.core.ports import Clock

if TYPE_CHECKING:
    import ctypes

    import psutil
else:
    psutil = lazy_module("psutil")
    ctypes = lazy_module("ctypes")


class SystemClock:
    """Implements `core.ports.Clock`."""

    def now(self) -> str:
        return iso_timestamp(time.time_ns())

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class ActiveTime:
    """The seconds a run has been active, over all processes. Waiting for a person does not count."""

    def __init__(self, clock: Clock, before: float) -> None:
        """`before` were counted by earlier processes."""
        self._clock, self._before, self._since = clock, before, clock.monotonic()
        self._rest_depth, self._rests_since = 0, 0.0

    def active_seconds(self) -> float:
        until = self._rests_since if self._rest_depth else self._clock.monotonic()
        return self._before + until - self._since

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Count no time that is spent in this context."""
        if not self._rest_depth:
            self._rests_since = self._clock.monotonic()
        self._rest_depth += 1
        try:
            yield
        finally:
            self._rest_depth -= 1
            if not self._rest_depth:
                self._since += self._clock.monotonic() - self._rests_since


def iso_timestamp(nanoseconds: int) -> str:
    """Nanoseconds since 1970 as ISO 8601, UTC, with milliseconds and `Z`."""
    second, fraction = divmod(nanoseconds, 1_000_000_000)
    return f"{_second(second)}.{fraction // 1_000_000:03}Z"


@lru_cache(maxsize=1)
def _second(second: int) -> str:
    # Every event needs the time, a few hundred per second.
    return datetime.fromtimestamp(second, UTC).isoformat(timespec="seconds")[:19]


_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(length: int = 10) -> str:
    """An id, of letters and digits that are not easily confused."""
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


# The name says who holds a lease, and whether the process with a name has ended.

WORDS = 6
"""Words in the name of a process: process N on HOST since START; START may name an engine."""
ENGINE_MARK = "/"
"""Stands between the start of a process and the number of one of its engines."""
TICKS = "tick:"
"""Marks a start counted in ticks since the machine booted, which setting the clock does not change."""

_ENDED = ("Z", "X")
"""States of a process that executes nothing any more (field 3)."""
_FIRST_SPACE = 0xEFFFFFFC
"""The number of the first process namespace (`PROC_PID_INIT_INO` of Linux): not a container's."""


def this_process() -> str:
    """The name of this process: its id, host, and start (since process ids are reused)."""
    return f"process {os.getpid()} on {_process_scope()} since {_ticks(os.getpid()) or _seconds(os.getpid())}"


_numbers, _living_engines = itertools.count(1), set[str]()


def name_engine(engine: object) -> str:
    """A holder's name for one engine of this process, of which there may be several over one store.

    It is dead when the engine is, or when it is given up.
    """
    holder = f"{this_process()}{ENGINE_MARK}{next(_numbers)}"
    _living_engines.add(holder)
    weakref.finalize(engine, give_up_name, holder).atexit = False
    return holder


def give_up_name(holder: str) -> None:
    """Say that an engine of this process has ended, and holds nothing any more."""
    _living_engines.discard(holder)


def is_local(holder: str) -> bool:
    """True if `holder` names a process of this host and container."""
    words = holder.split()
    return len(words) == WORDS and words[3] == _process_scope() and words[1].isdigit()


def is_dead(holder: str) -> bool:
    """True if `holder` is known to have ended: its process ran on this host and is gone or a zombie, or it is an engine
    of this process that has ended.
    """
    if not is_local(holder):
        return False
    words = holder.split()
    number, (since, _, engine) = int(words[1]), words[5].partition(ENGINE_MARK)
    if engine and holder.rpartition(ENGINE_MARK)[0] == this_process():
        return holder not in _living_engines
    try:
        start_time = _ticks(number) if since.startswith(TICKS) else _seconds(number)
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False
    return start_time != since


def _seconds(number: int) -> str:
    """When a process started, in seconds since 1970, where starts are not counted in ticks."""
    return f"{psutil.Process(number).create_time():.2f}"


def _ticks(number: int) -> str:
    """When a process started, in ticks since boot (`man 5 proc_pid_stat`, field 22); empty if unknown.

    Raises:
        psutil.NoSuchProcess: there is none with that number, or only a zombie.
    """
    try:
        stat = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        if not psutil.pid_exists(number):
            raise psutil.NoSuchProcess(number) from None
        return ""
    fields = stat.rpartition(")")[2].split()  # the name before it may contain anything
    if fields[:1] and fields[0] in _ENDED:
        raise psutil.NoSuchProcess(number)
    return f"{TICKS}{fields[19]}" if len(fields) > 19 else ""


def _process_scope() -> str:
    """The scope of process ids: this host, or the one container among those with the same host name."""
    host = socket.gethostname()
    try:
        space = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return host
    return host if space == _FIRST_SPACE else f"{host}/{space}"


# glibc keeps what was freed between blocks still in use, in a part of the heap for each thread that ever allocated:
# after a run over web pages that was 20 of 140 MB, and more after each further run.


GROWTH = 8_000_000
"""Bytes by which the process must have grown since the last time: this takes 2 to 20 ms of a thread's time."""
_STATM = Path("/proc/self/statm")


class Heap:
    """The heap of a process, which threads share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._least = sys.maxsize  # resident bytes after the last time, or less if it has shrunk since

    def release_memory_soon(self) -> None:
        """Give free memory back in a thread, if the process has grown; the running loop goes on meanwhile."""
        if self.grown_bytes() >= GROWTH:
            asyncio.get_running_loop().run_in_executor(None, self.release_memory)

    def grown_bytes(self) -> int:
        """The bytes by which the process has grown since memory was given back; the first call returns 0."""
        with self._lock:
            current = resident_bytes()
            self._least = min(self._least, current)
            return current - self._least

    def release_memory(self) -> None:
        """Give free memory back. Blocking, without the interpreter's lock; does nothing without glibc."""
        trim = _trim()
        if trim is not None:
            trim(0)
        with self._lock:
            self._least = resident_bytes()


HEAP = Heap()
"""This process's."""


def resident_bytes() -> int:
    """The bytes of this process that are in memory; 0 on systems that do not say so in a file."""
    try:
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _trim() -> Callable[[int], int] | None:
    if sys.platform != "linux":
        return None
    malloc_trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return malloc_trim
