"""An end to work on what others made, where it is done in this process and in one piece."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class OutOfTime(Exception):
    """Work took more seconds of computing than it may."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """End the work inside after so many seconds of this process's computing, whatever else the machine does.

    Python's own loops and searches by patterns are ended anywhere. Nothing is limited where there is no such timer
    (Windows), or beside the main thread, which alone hears signals.

    Raises:
        OutOfTime: it took longer.
    """
    if not hasattr(signal, "SIGPROF") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ended(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, ended)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
