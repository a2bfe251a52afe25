"""The one thread of a process which writes the journal: it takes what waits, groups it, and wakes who waits."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence

from assay.core.errors import StoreError

GROUPING_SECONDS = 0.02
"""How long work nobody waits for may wait for company."""


class WriteJob:
    """Work for the writer. `urgent`: somebody waits for it, write at once."""

    __slots__ = ("error", "future", "loop", "result", "urgent")

    def __init__(self, urgent: bool = True) -> None:
        self.urgent = urgent
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[object] = self.loop.create_future()
        self.result: object = None
        self.error: BaseException | None = None

    def succeed(self, result: object) -> None:
        """This is the answer, once the transaction is committed."""
        self.result, self.error = result, None

    def fail(self, error: BaseException) -> None:
        """This is what the waiting code gets raised."""
        self.error = error


class GroupWriter:
    """Runs `perform` over groups of jobs, in the order of `put`, in a thread which starts with the first job."""

    def __init__(self, perform: Callable[[Sequence[WriteJob]], None]) -> None:
        self._perform = perform
        self._condition = threading.Condition()
        self._jobs: list[WriteJob] = []
        self._urgent = False
        self._closed = False
        self._thread: threading.Thread | None = None

    def put(self, job: WriteJob) -> None:
        """Enqueue a job.

        Raises:
            StoreError: the writer was closed.
        """
        with self._condition:
            if self._closed:
                raise StoreError("the journal is closed")
            self._jobs.append(job)
            if self._thread is None:
                self._start()
            # The thread is woken by the first job, to begin its wait for company, and by the first urgent one.
            if len(self._jobs) == 1 or (job.urgent and not self._urgent):
                self._condition.notify()
            self._urgent = self._urgent or job.urgent

    def close(self) -> None:
        """Write what waits, then stop. Blocking."""
        with self._condition:
            self._closed = True
            self._condition.notify()
        if self._thread is not None:
            self._thread.join()

    def _start(self) -> None:
        # A daemon: a process which ends without closing its journal must not hang on it.
        self._thread = threading.Thread(target=self._serve, name="assay-journal", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        group: list[WriteJob] = []
        try:
            while group := self._take():
                self._perform(group)
                deliver(group)
        finally:  # also when `perform` has a bug: it shows as the thread's traceback, and nobody waits for ever
            with self._condition:
                self._closed = True
                group += self._jobs
            for job in group:
                job.fail(StoreError("the journal's writer stopped before this was written"))
            deliver(group)

    def _take(self) -> list[WriteJob]:
        """The jobs that wait; none when the writer is closed."""
        with self._condition:
            while not self._jobs and not self._closed:
                self._condition.wait()
            end = time.monotonic() + GROUPING_SECONDS
            while not self._urgent and not self._closed and (left := end - time.monotonic()) > 0:
                self._condition.wait(left)
            group, self._jobs, self._urgent = self._jobs, [], False
            return group


def deliver(jobs: Sequence[WriteJob]) -> None:
    """Wake who waits for these jobs: one call per event loop. A loop that is closed has nobody waiting."""
    loops: dict[asyncio.AbstractEventLoop, list[WriteJob]] = {}
    for job in jobs:
        loops.setdefault(job.loop, []).append(job)
    for loop, waiting in loops.items():
        if not loop.is_closed():
            _call(loop, waiting)


def _call(loop: asyncio.AbstractEventLoop, jobs: list[WriteJob]) -> None:
    try:
        loop.call_soon_threadsafe(_settle, jobs)
    except RuntimeError:  # closed since we looked
        if not loop.is_closed():
            raise


def _settle(jobs: list[WriteJob]) -> None:
    for job in jobs:
        if job.future.done():  # whoever waited was cancelled
            continue
        if job.error is None:
            job.future.set_result(job.result)
        else:
            job.future.set_exception(job.error)
