"""Runs which any process may take up: put into the queue, and taken out of it by workers.

A worker takes the lease of the run whose turn it is and executes it as any process would. What is in the queue is a
hint; who may write is the lease's business alone. So a worker that dies needs no undoing: its leases expire (or, on
this machine, its process is seen to be gone), and its runs are claimed again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from assay.app import threads
from assay.core.brief import Brief
from assay.core.errors import LeaseHeld, OtherRelease, StoreError, UnknownName, UsageError
from assay.core.ports import FINAL, PRIORITIES, Lease, Queue, QueuedRun, QueueLimits, World
from assay.core.view import RunView
from assay.run.engine import Engine, RunHandle
from assay.run.holders import is_dead
from assay.store.common import Store

log = logging.getLogger(__name__)

POLL = 0.25
"""Seconds between two looks into the queue."""
PATIENCE = 1.0
"""Seconds before the next look when the database cannot be reached."""

Say = Callable[[str], None]


class Viewed(Protocol):
    """What tells how a run stands."""

    async def __call__(self, reference: str) -> RunView: ...


class Queueing:
    """The part of `Assay` which puts runs into the queue and takes them out."""

    _store: Store
    _engine: Engine

    async def view(self, reference: str) -> RunView:
        """A run as its events tell it."""
        raise NotImplementedError

    def _world(self, brief: Brief) -> World:
        raise NotImplementedError

    async def enqueue(self, run_id: str, *, priority: int = 0) -> None:
        """Leave a stored run (`create`) to the workers; its user is the brief's.

        Args:
            priority: -100 to 100; of the runs in the queue those with the highest are taken first.

        Raises:
            UnknownName: no such run.
            UsageError: there is no queue, or no such priority.
        """
        if priority not in PRIORITIES:
            raise UsageError(f"a priority is a number from {PRIORITIES[0]} to {PRIORITIES[-1]}, not {priority}")
        view = await self.view(run_id)
        user = view.brief.user if view.brief is not None else ""
        await self.queue.enqueue(view.run_id, user, priority)

    async def queued(self) -> list[QueuedRun]:
        """What is in the queue, and who executes it."""
        return await self.queue.queued()

    @property
    def queue(self) -> Queue:
        """The queue.

        Raises:
            UsageError: the store is in memory, where no other process could find a run.
        """
        if self._store.queue is None:
            raise UsageError("runs in memory cannot be queued: open Assay with a home or a database")
        return self._store.queue

    def worker(self, slots: int, limits: QueueLimits = QueueLimits(), say: Say | None = None) -> Worker:  # noqa: B008 - frozen
        """A worker in this process, which executes `slots` runs at once.

        Args:
            limits: of all workers together; workers with other limits go by their own.
            say: told in a line what it takes up and how that ends.
        """
        return Worker(self._store, self.queue, self._engine, self._world, self.view, slots, limits, say)


class Worker:
    """Executes queued runs until it is stopped; see `Queueing.worker`."""

    def __init__(
        self,
        store: Store,
        queue: Queue,
        engine: Engine,
        world_for: Callable[[Brief], World],
        view: Viewed,
        slots: int,
        limits: QueueLimits,
        say: Say | None,
    ) -> None:
        self._store, self._queue, self._engine, self._world_for, self._view = store, queue, engine, world_for, view
        self._slots, self._limits, self._say = slots, limits, say or log.info
        self._handles: set[RunHandle] = set()
        self._others: set[str] = set()  # runs which this release, or this machine's settings, cannot go on with
        self._news = asyncio.Event()
        self._stopping, self._away = False, False
        self.done = 0
        """Runs which came to their end here."""

    def stop(self) -> None:
        """Take nothing more up, and let go of what is executed: other workers go on with it at once."""
        self._stopping = True
        self._news.set()

    async def work(self, *, until_empty: bool = False) -> None:
        """Execute runs until `stop`, or with `until_empty` until nothing in the queue is left for this worker."""
        try:
            while not self._stopping:
                self._news.clear()
                try:
                    await self._settle()
                    await self._fill()
                    self._away = False
                except StoreError as error:
                    self._trouble(error)
                if until_empty and not self._handles and not self._away:
                    return
                await self._pause()
        finally:
            for handle in list(self._handles):
                await handle.stop()

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._news.wait(), PATIENCE if self._away else POLL)
        except TimeoutError:
            return

    def _trouble(self, error: StoreError) -> None:
        if not self._away:
            self._say(f"{error}; trying again")
        self._away = True

    # taking up

    async def _fill(self) -> None:
        if len(self._handles) < self._slots:
            await self._take_from_the_dead()
        while len(self._handles) < self._slots and not self._stopping:
            lease = await self._queue.claim(self._engine.holder, self._engine.ttl, self._limits, self._others)
            if lease is None:
                return
            self._execute(lease)

    async def _take_from_the_dead(self) -> None:
        """Runs of processes of this machine which are gone: there is no need to wait until their leases expire."""
        for run in await self._queue.queued():
            if len(self._handles) >= self._slots:
                return
            if run.ready and run.holder and run.run_id not in self._others and is_dead(run.holder):
                try:
                    lease = await self._store.journal.acquire(
                        run.run_id, self._engine.holder, self._engine.ttl, evict=run.holder
                    )
                except LeaseHeld:  # another worker was faster
                    continue
                self._execute(lease)

    def _execute(self, lease: Lease) -> None:
        self._say(f"run {lease.run_id}: {'started' if lease.fence == 1 else f'taken up (fence {lease.fence})'}")
        handle = self._engine.take(lease, self._world_for)
        handle.on_end(self._news.set)
        self._handles.add(handle)

    # letting go

    async def _settle(self) -> None:
        for handle in [handle for handle in self._handles if handle.ended]:
            await self._settled(handle)
            self._handles.discard(handle)

    async def _settled(self, handle: RunHandle) -> None:
        """What becomes of a run with which this process is done."""
        try:
            row = await self._store.journal.find(handle.run_id)
        except UnknownName:  # deleted in this moment
            return
        if isinstance(handle.error, OtherRelease | UsageError):  # a model which is not set up here, above all
            self._others.add(row.run_id)
        if row.status in FINAL:
            self.done += 1
            await self._queue.leave(row.run_id)
        elif row.status == "waiting" and not row.holder:
            await self._parked(row.run_id)
        self._say(f"run {row.run_id}: {row.status}{f' ({handle.error})' if handle.error else ''}")

    async def _parked(self, run_id: str) -> None:
        """It waits for a person; who answered in this moment looked for it in the queue before it was parked."""
        await self._queue.park(run_id)
        topic = (await self._view(run_id)).waiting_for
        if not topic or await threads.is_answered(self._store.journal, run_id, topic):
            await self._queue.wake(run_id)
