"""Signals. Ctrl-C: once finishes a run, twice cancels it, three times exits at once. SIGTERM exits at once.

A process that only watches a run exits with the first Ctrl-C. Ctrl-Z stops a process between two transactions.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from assay.core.lazy import lazy_module
from assay.core.stop_gate import stop_gate

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = lazy_module("asyncio")


@contextmanager
def on_interrupts(*actions: Callable[[], None]) -> Iterator[None]:
    """Within the block, the n-th Ctrl-C calls the n-th action; further ones raise `KeyboardInterrupt` as usual.

    Use it on the main thread, inside a running loop; the actions are called on that loop.
    """
    remaining = list(actions)

    def act() -> None:
        if remaining:
            remaining.pop(0)()
        if not remaining:
            restore()

    restore = _listen(signal.SIGINT, act)
    try:
        yield
    finally:
        restore()


@contextmanager
def interruptible_prompt() -> Iterator[None]:
    """Within the block, Ctrl-C ends a prompt; the event loop's own handler would only record it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class TerminationSignal(Exception):
    """The signal `number` asked the process to end."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(number.name)
        self.number = number


@contextmanager
def on_continue(action: Callable[[], None]) -> Iterator[None]:
    """Within the block, `action` is called when the process continues after a stop (Ctrl-Z, then fg)."""
    if not hasattr(signal, "SIGCONT"):
        yield
        return
    restore = _listen(signal.SIGCONT, action)
    try:
        yield
    finally:
        restore()


@contextmanager
def cancel_on_signal(number: signal.Signals = signal.SIGTERM) -> Iterator[None]:
    """Within the block, the signal cancels what the task awaits, so that everything is closed on the way out.

    Use it like `on_interrupts`.

    Raises:
        Terminated: the signal arrived.
    """
    task, cancel_requested = asyncio.current_task(), False

    def act() -> None:
        nonlocal cancel_requested
        cancel_requested = task.cancel() if task is not None and not cancel_requested else cancel_requested

    restore = _listen(number, act)
    try:
        yield
    except asyncio.CancelledError:
        if task is not None and cancel_requested:
            task.uncancel()
            raise TerminationSignal(number) from None
        raise
    finally:
        restore()


@contextmanager
def signal_handlers() -> Iterator[Callable[[signal.Signals, Callable[[], None]], None]]:
    """Within the block, the yielded function makes a signal call an action, each time it arrives.

    Use it like `on_interrupts`.
    """
    restores: list[Callable[[], None]] = []
    try:
        yield lambda number, action: restores.append(_listen(number, action))
    finally:
        for restore in restores:
            restore()


def _listen(number: signal.Signals, act: Callable[[], None]) -> Callable[[], None]:
    """Call `act` on the running loop at each signal `number`, until the returned function is called."""
    loop, before = asyncio.get_running_loop(), signal.getsignal(number)

    def handle_signal(_signal: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(act)

    def restore() -> None:
        signal.signal(number, before)

    try:
        loop.add_signal_handler(number, act)
    except NotImplementedError:  # Windows: no handlers on the loop
        signal.signal(number, handle_signal)
        return restore

    def remove() -> None:
        loop.remove_signal_handler(number)
        restore()

    return remove


# Ctrl-Z: one that is stopped in a transaction keeps others from writing.

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
        signal.signal(number, handle_signal)

    def handle_signal(_signal: int, _frame: FrameType | None) -> None:
        stop_gate.stop(stop, STOP_SECONDS)

    signal.signal(number, handle_signal)
    try:
        yield
    finally:
        signal.signal(number, signal.SIG_DFL)
