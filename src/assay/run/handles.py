"""Runs as the process which executes them holds them: read, steered, waited for, let go of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import msgspec

from assay.core.errors import Cancelled
from assay.core.events import Envelope
from assay.core.ports import Journal
from assay.run.execution import FINISHED_EARLY, Execution


class RunTask:
    """A run that is executed in this process."""

    def __init__(self, run_id: str, journal: Journal, work: Callable[[RunTask], Awaitable[None]]) -> None:
        self.run_id, self._journal = run_id, journal
        self._execution: Execution | None = None
        self._news = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._work(work), name=f"run-{run_id}")
        self._task.add_done_callback(self._ended)

    async def _work(self, work: Callable[[RunTask], Awaitable[None]]) -> None:
        await work(self)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._news.set()
        if not task.cancelled():
            task.exception()  # whoever waits is told; nobody need wait

    def begin(self, execution: Execution) -> None:
        """From here on there is a log to read and a run to steer."""
        self._execution = execution
        execution.main = self._task
        execution.listen(lambda _: self._news.set())

    @property
    def created(self) -> bool:
        """Whether there is a stored run: its preparation succeeded."""
        return self._execution is not None

    async def __aiter__(self) -> AsyncIterator[Envelope]:
        """Every event from the first, until the run ends."""
        seq = 0
        while True:
            done = self._task.done()
            self._news.clear()
            if self._execution is not None:
                for envelope in await self._journal.events(self.run_id, after=seq):
                    seq = envelope.seq
                    yield envelope
            if done:
                return
            await self._news.wait()

    async def wait(self) -> None:
        """Until the run has ended.

        Raises:
            Cancelled, Paused: by its owner.
            InputNeeded: it waits for an answer nobody here can give.
            FenceLost: another process took it over.
            AssayError: it failed.
        """
        try:
            await asyncio.shield(self._task)
        except asyncio.CancelledError:
            if self._execution is None and self._task.cancelled():
                raise Cancelled("cancelled before the run was created") from None
            raise

    async def answer(self, topic: str, value: object) -> None:
        """Give the run what it waits for."""
        await self._journal.post(self.run_id, topic, msgspec.json.encode(value))

    def finish(self) -> None:
        """End research; write and verify what there is. Before the run exists there is nothing: that is a cancel."""
        if self._execution is not None:
            self._execution.finish(FINISHED_EARLY)
        else:
            self._task.cancel()

    def cancel(self) -> None:
        """End every call in flight; findings are kept."""
        if self._execution is not None:
            self._execution.cancel()
        else:
            self._task.cancel()

    def pause(self) -> None:
        """Let go of every call in flight; `Engine.resume` goes on."""
        if self._execution is not None:
            self._execution.pause()
        else:
            self._task.cancel()

    @property
    def error(self) -> BaseException | None:
        """What ended the run in this process, None where it came to its end, or goes on."""
        return self._task.exception() if self._task.done() and not self._task.cancelled() else None

    @property
    def ended(self) -> bool:
        """Whether nothing of the run goes on in this process any more."""
        return self._task.done()

    def on_end(self, told: Callable[[], None]) -> None:
        """Have `told` called, in this event loop, when nothing of the run goes on in this process any more."""
        self._task.add_done_callback(lambda _: told())

    async def stop(self) -> None:
        """Let go of the run; it can be resumed."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
