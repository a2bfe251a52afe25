"""Ctrl-Z: the process stops between two transactions, since one that is stopped in one keeps others from writing."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from assay.core.stop_gate import stop_gate

STOP_SECONDS = 2.0
"""How long Ctrl-Z waits for transactions to end."""


@contextmanager
def stops_between_transactions() -> Iterator[None]:
    """Within the block, Ctrl-Z lets transactions end before it stops the process; only on the main thread."""
    number = getattr(signal, "SIGTSTP", None)
    main = threading.current_thread() is threading.main_thread()
    if number is None or not main or signal.getsignal(number) != signal.SIG_DFL:  # Windows; no job control
        yield
        return

    def stop() -> None:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)  # returns when the process goes on
        signal.signal(number, caught)

    def caught(_signal: int, _frame: FrameType | None) -> None:
        stop_gate.stop(stop, STOP_SECONDS)

    signal.signal(number, caught)
    try:
        yield
    finally:
        signal.signal(number, signal.SIG_DFL)
