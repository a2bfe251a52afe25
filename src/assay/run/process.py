"""This process: its clock, its name as a holder of leases, its background tasks, its memory."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from assay.core.brief import STEPS_FORMAT, Brief
from assay.core.errors import OtherRelease
from assay.core.later import later
from assay.core.patterns import regex
from assay.core.ports import Clock

if TYPE_CHECKING:
    import ctypes

    import psutil
else:
    psutil = later("psutil")
    ctypes = later("ctypes")


T = TypeVar("T")


class SystemClock:
    """Implements `core.ports.Clock`."""

    def now(self) -> str:
        return stamp(time.time_ns())

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class ActiveTime:
    """The seconds a run has been active, over all processes. Waiting for a person does not count."""

    def __init__(self, clock: Clock, before: float) -> None:
        """`before` were counted by earlier processes."""
        self._clock, self._before, self._since = clock, before, clock.monotonic()
        self._resting, self._rests_since = 0, 0.0

    def active(self) -> float:
        """The seconds so far."""
        until = self._rests_since if self._resting else self._clock.monotonic()
        return self._before + until - self._since

    @contextmanager
    def rest(self) -> Iterator[None]:
        """Count no time that is spent in this context."""
        if not self._resting:
            self._rests_since = self._clock.monotonic()
        self._resting += 1
        try:
            yield
        finally:
            self._resting -= 1
            if not self._resting:
                self._since += self._clock.monotonic() - self._rests_since


def stamp(nanoseconds: int) -> str:
    """Nanoseconds since 1970 as ISO 8601, UTC, with milliseconds and `Z`."""
    second, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{_second(second)}.{rest // 1_000_000:03}Z"


@lru_cache(maxsize=1)
def _second(second: int) -> str:
    # Every event needs the time, a few hundred per second.
    return datetime.fromtimestamp(second, UTC).isoformat(timespec="seconds")[:19]


# The name says who holds a lease, and whether the process with a name has ended.

WORDS = 6
"""Words in the name of a process: process N on HOST since START."""
TICKS = "tick:"
"""Marks a start counted in ticks since the machine booted, which setting the clock does not change."""

_ENDED = ("Z", "X")
"""States of a process that executes nothing any more (field 3)."""
_FIRST_SPACE = 0xEFFFFFFC
"""The number of the first process namespace (`PROC_PID_INIT_INO` of Linux): not a container's."""


def this_process() -> str:
    """The name of this process: its id, host, and start (since process ids are reused)."""
    return f"process {os.getpid()} on {_machine()} since {_ticks(os.getpid()) or _seconds(os.getpid())}"


def is_dead(holder: str) -> bool:
    """True if `holder` is known to have ended: it ran on this host and is gone or a zombie."""
    words = holder.split()
    if len(words) != WORDS or words[3] != _machine() or not words[1].isdigit():
        return False
    number, since = int(words[1]), words[5]
    try:
        started = _ticks(number) if since.startswith(TICKS) else _seconds(number)
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False
    return started != since


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


def _machine() -> str:
    """The scope of process ids: this host, or the one container among those with the same host name."""
    host = socket.gethostname()
    try:
        space = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return host
    return host if space == _FIRST_SPACE else f"{host}/{space}"


# Tasks have a name and end with the process.

log = logging.getLogger(__name__)


class Tasks:
    """The background tasks of a process. If one fails, it is logged and the others go on."""

    def __init__(self) -> None:
        self._going: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Start `work`; `name` is for the log."""
        task = asyncio.create_task(work, name=name)
        self._going.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._going.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s failed: %s", task.get_name(), error, exc_info=error)

    async def close(self) -> None:
        """End all tasks."""
        going = list(self._going)
        for task in going:
            task.cancel()
        await asyncio.gather(*going, return_exceptions=True)


def in_this_loop(call: Callable[[str], object]) -> Callable[[str], None]:
    """A listener that lets the running loop call `call`, from any thread.

    It does nothing once the loop has ended: the thread that tells it is often the one that writes the store.
    """
    loop = asyncio.get_running_loop()

    def told(what: str) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(call, what)

    return told


def event_setter(news: str, event: asyncio.Event) -> Callable[[str], None]:
    """A listener that sets an event of the running loop when `news` is reported, from any thread."""
    wake = in_this_loop(lambda _: event.set())

    def told(what: str) -> None:
        if what == news:
            wake(what)

    return told


async def is_set_within(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait until an event is set, for so many seconds at most (None: for ever); return whether it is set."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False


@asynccontextmanager
async def in_threads(block: AbstractContextManager[T]) -> AsyncIterator[T]:
    """Enter and leave a blocking context manager in threads; it is not told of errors.

    If the caller is cancelled while a thread enters it, it is left as soon as it is entered.
    """
    entering = asyncio.create_task(asyncio.to_thread(block.__enter__))

    def leave(entered: asyncio.Task[T]) -> None:
        if not entered.cancelled() and entered.exception() is None:
            asyncio.get_running_loop().run_in_executor(None, block.__exit__, None, None, None)

    try:
        entered = await asyncio.shield(entering)
    except asyncio.CancelledError:
        entering.add_done_callback(leave)
        raise
    try:
        yield entered
    finally:
        await asyncio.to_thread(block.__exit__, None, None, None)


async def together(*work: Coroutine[Any, Any, None]) -> None:
    """Do all at once. If one fails or the caller is cancelled, the others are ended first."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


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


# Whether this release can continue a run of another release.


class BriefOrigin(msgspec.Struct, frozen=True):
    """The part of a brief that is read first: briefs of every release have it, or the default applies."""

    release: str = ""
    steps_format: int = STEPS_FORMAT


@cache
def own_release() -> str:
    """The installed version of Assay; read once, since its file is that of the whole README."""
    return version("assay")


_VERSION = regex(r"(\d{1,9}(?:\.\d{1,9}){0,4})(\.?(?:a|b|rc|dev)\d*)?")
"""The part of a version (PEP 440) that gives its order among releases."""


def is_newer(release: str, own: str) -> bool:
    """True if `release` is newer than `own`; False if either is not a version."""
    one, other = _order(release), _order(own)
    return one is not None and other is not None and one > other


def _order(release: str) -> tuple[tuple[int, ...], bool] | None:
    """Its numbers without trailing zeros, and whether it is a final release rather than a preview."""
    match = _VERSION.match(release)
    if match is None:
        return None
    numbers = [int(number) for number in match[1].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers), not match[2]


def is_ahead(release: str) -> bool:
    """True if a release is newer than the installed one."""
    return is_newer(release, own_release())


def check_age(run_id: str, brief: Brief) -> None:
    """Refuse to continue a run of a newer release: its brief may ask for unknown things.

    Raises:
        OtherRelease: it is one.
    """
    if is_ahead(brief.release):
        raise OtherRelease(run_id, brief.release, own_release(), "that release is newer")


def brief_of(run_id: str, stored: bytes) -> Brief:
    """The brief of a stored run.

    Raises:
        OtherRelease: this release cannot read the run's steps or brief.
    """
    origin = msgspec.json.decode(stored, type=BriefOrigin)
    if origin.steps_format != STEPS_FORMAT:
        why = f"its steps are stored in format {origin.steps_format}, and this release reads format {STEPS_FORMAT}"
        raise OtherRelease(run_id, origin.release, own_release(), why)
    try:
        return msgspec.json.decode(stored, type=Brief)
    except msgspec.ValidationError as error:
        raise OtherRelease(run_id, origin.release, own_release(), f"its brief cannot be read ({error})") from error
