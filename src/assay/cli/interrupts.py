"""Ctrl-C: once finishes a run, twice cancels it, a third time leaves at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts(*actions: Callable[[], None]) -> Iterator[None]:
    """Within the block the n-th Ctrl-C calls the n-th action; further ones raise `KeyboardInterrupt` as usual.

    To be used on the main thread, inside a running loop; the actions are called on that loop.
    """
    waiting = list(actions)

    def act() -> None:
        if waiting:
            waiting.pop(0)()
        if not waiting:
            restore()

    restore = _listen(asyncio.get_running_loop(), act)
    try:
        yield
    finally:
        restore()


def _listen(loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> Callable[[], None]:
    """Call `act` on each SIGINT until what comes back is called."""
    before = signal.getsignal(signal.SIGINT)

    def caught(_signal: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(act)

    def restore() -> None:
        signal.signal(signal.SIGINT, before)

    try:
        loop.add_signal_handler(signal.SIGINT, act)
    except NotImplementedError:  # Windows: no handlers on the loop
        signal.signal(signal.SIGINT, caught)
        return restore

    def remove() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        restore()

    return remove
