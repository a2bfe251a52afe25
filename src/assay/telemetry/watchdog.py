"""Reports what blocks an event loop: a thread beside it examines where the loop's own thread is.

It measures the processor time of that thread, so that a busy machine is not mistaken for a busy loop. Not on Windows,
which does not report the processor time of a thread.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Self

import msgspec

log = logging.getLogger(__name__)

MAX_STALL_SECONDS = 0.05
"""Seconds of processor time that nothing may take at once."""
LOOKS = 5
"""How often it looks within that time."""
SELECTORS = "selectors"
"""The module in which an idle loop waits: what held it up is over, and was seen by an earlier look."""
FRAMES = 12
"""Frames of a stack that are reported, the innermost."""


class Stall(msgspec.Struct, frozen=True, kw_only=True):
    """The loop was blocked for `seconds` of its thread's processor time; `stack` is where it was, innermost last."""

    seconds: float
    stack: tuple[str, ...]

    def __str__(self) -> str:
        """In words, with the stack."""
        return f"the event loop was held up for {self.seconds * 1e3:.0f} ms by\n{''.join(self.stack)}"


def log_stall(stall: Stall) -> None:
    """Log it."""
    log.warning("%s", stall)


class Watchdog:
    """Watches the running loop while the block lasts; what held it up is in `stalls`, and told to `tell` when it ends.

    async with Watchdog() as watchdog: ...
    """

    def __init__(self, longest: float = MAX_STALL_SECONDS, tell: Callable[[Stall], None] | None = None) -> None:
        self.stalls: list[Stall] = []
        self._longest, self._tell = longest, tell
        self._end_event = threading.Event()
        self._beat: asyncio.TimerHandle | None = None
        self._used, self._stack = 0.0, tuple[str, ...]()

    async def __aenter__(self) -> Self:
        self.begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def begin(self) -> None:
        """Watch the running loop; does nothing if the system does not report a thread's processor time."""
        if not hasattr(time, "pthread_getcpuclockid"):
            return
        self._end_event.clear()
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._used = time.thread_time()
        self._beat = self._loop.call_later(self._longest / LOOKS, self._on_beat)
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def end(self) -> None:
        self._end_event.set()
        if self._beat is not None:
            self._beat.cancel()

    def _on_beat(self) -> None:
        now = time.thread_time()
        seconds, stack = now - self._used, self._stack
        self._used, self._stack = now, ()
        if seconds > self._longest:
            stall = Stall(seconds=seconds, stack=stack)
            self.stalls.append(stall)
            if self._tell is not None:
                self._tell(stall)
        self._beat = self._loop.call_later(self._longest / LOOKS, self._on_beat)

    def _watch(self) -> None:
        """Store the loop's stack as soon as it has worked on something for half the allowed time."""
        clock = time.pthread_getcpuclockid(self._thread)
        while not self._end_event.wait(self._longest / LOOKS):
            try:
                used = time.clock_gettime(clock) - self._used
            except OSError:  # the thread has ended
                return
            frame = sys._current_frames().get(self._thread)
            if frame is not None and used > self._longest / 2 and frame.f_globals.get("__name__") != SELECTORS:
                stack = tuple(traceback.format_stack(frame))[-FRAMES:]
                if used > self._longest or not self._stack:
                    self._stack = stack
