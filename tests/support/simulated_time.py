"""An event loop whose time passes only while nobody has anything to do: minutes of waiting take no time."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, TypeVar

from assay.core.ports import Clock
from assay.run.process import SystemClock, iso_timestamp

T = TypeVar("T")

THREADS = 0.02
"""Real seconds to wait for a thread before looking again; simulated time stands still meanwhile."""
STUCK = 20.0
"""Real seconds after which a loop in which nothing is due, and no thread works, is given up."""
BEGAN = 1_800_000_000 * 1_000_000_000


class _Selector(selectors.DefaultSelector):
    """Does not wait for what is due later: it moves the clock there."""

    loop: SimulatedLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if self.loop.threads:
            return super().select(THREADS)
        if timeout is None:
            found = super().select(STUCK)
            assert found, "nothing will ever happen"
            return found
        self.loop.seconds += timeout
        return []


class SimulatedLoop(asyncio.SelectorEventLoop):
    """Time begins at 0; `seconds` is how much of it has passed. While a thread works it stands still."""

    def __init__(self) -> None:
        self.seconds, self.threads = 0.0, 0
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.seconds

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        self.threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._ended)
        return future

    def _ended(self, _: asyncio.Future[Any]) -> None:
        self.threads -= 1


class SimulatedClock:
    """Implements `core.ports.Clock` by the time of the running loop."""

    def now(self) -> str:
        return iso_timestamp(BEGAN + round(self.monotonic() * 1e9))

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def simulated(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` in a loop of its own, in simulated time."""
    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        return runner.run(work)


def in_simulated_time(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test which runs in simulated time: what it waits for comes in the order of its seconds, however busy all is.

    For what lies in memory alone: nobody sees the threads of a database. Its fixtures are plain ones.
    """

    @wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        simulated(test(*arguments, **named))

    return run


def clock() -> Clock:
    """The clock of the running loop."""
    return SimulatedClock() if _is_simulated() else SystemClock()


def wall() -> float:
    """Seconds since 1970, by the same clock."""
    return BEGAN / 1e9 + asyncio.get_running_loop().time() if _is_simulated() else time.time()


def _is_simulated() -> bool:
    return isinstance(asyncio._get_running_loop(), SimulatedLoop)
