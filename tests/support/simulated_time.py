"""An event loop whose time passes only while nobody has anything to do: minutes of waiting take no time."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from assay.run.process import stamp

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
        return stamp(BEGAN + round(self.monotonic() * 1e9))

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def simulated(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` in a loop of its own, in simulated time."""
    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        return runner.run(work)
