"""Runs which any process may take up: put into the queue, and taken out of it by workers.

A worker takes the lease of the run whose turn it is and executes it as any process would. What is in the queue is a
hint; who may write is the lease's business alone. So a worker that dies needs no undoing: its leases expire (or, on
this machine, its process is seen to be gone), and its runs are claimed again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from assay.core.errors import LeaseHeld, OtherRelease, StoreError, UnknownName, UsageError
from assay.core.ports import FINAL, PRIORITIES, Lease, Queue, QueuedRun, QueueLimits
from assay.core.ports.jobs import QUEUE_NEWS
from assay.core.view import RunView
from assay.run.engine import Engine, RunTask
from assay.run.process import heard, is_dead, together
from assay.run.releases import is_ahead
from assay.services import stored_runs, threads, worlds
from assay.services.context import Context

log = logging.getLogger(__name__)

POLL = 0.25
"""Seconds between two looks into the queue: not all news is heard, and a lease which expires is none."""
REST = 5.0
"""The same while the queue is empty, where all are told of what is put into it."""
PATIENCE = 1.0
"""Seconds before the next look when the database cannot be reached."""

Say = Callable[[str], None]


class Viewed(Protocol):
    """What tells how a run stands."""

    async def __call__(self, reference: str) -> RunView: ...


class Working(Protocol):
    """Does what is queued until it is stopped."""

    def stop(self) -> None:
        """Take nothing more up, and let go of what is done."""
        ...

    async def work(self, *, until_empty: bool = False) -> None:
        """Do what is queued until `stop`, or with `until_empty` until nothing is left for it."""
        ...


async def work_all(workers: Sequence[Working], *, until_empty: bool = False) -> None:
    """Have several workers work in this process; when one fails, the others let go."""
    await together(*(worker.work(until_empty=until_empty) for worker in workers))


async def enqueue(context: Context, run_id: str, priority: int) -> None:
    """Leave a stored run to the workers; see `Assay.enqueue`."""
    check_priority(context, priority)
    view = await stored_runs.view(context, run_id)
    user, release = (view.brief.user, view.brief.release) if view.brief is not None else ("", "")
    await queue(context).enqueue(view.run_id, user, priority, release)


def check_priority(context: Context, priority: int | None) -> None:
    """Refuse what cannot be queued so; None is queued by nobody.

    Raises:
        UsageError: there is no queue, or no such priority.
    """
    if priority is None:
        return
    queue(context)
    if priority not in PRIORITIES:
        raise UsageError(f"a priority is a number from {PRIORITIES[0]} to {PRIORITIES[-1]}, not {priority}")


def queue(context: Context) -> Queue:
    """The queue.

    Raises:
        UsageError: the store is in memory, where no other process could find a run.
    """
    if context.store.queue is None:
        raise UsageError("runs in memory cannot be queued: open Assay with a home or a database")
    return context.store.queue


def worker(context: Context, slots: int, limits: QueueLimits, say: Say | None) -> Worker:
    """A worker in this process; see `Assay.worker`."""
    return Worker(context.owned_by(None), context.engine, slots, limits, say)


class Worker:
    """Executes queued runs until it is stopped; see `Assay.worker`."""

    def __init__(self, every: Context, engine: Engine, slots: int, limits: QueueLimits, say: Say | None) -> None:
        """`every` is the context of all owners."""
        self._store, self._queue, self._engine = every.store, queue(every), engine
        self._world_for, self._view = partial(worlds.world, every), partial(stored_runs.view, every)
        self._slots, self._limits, self._say = slots, limits, say or log.info
        self._handles: set[RunTask] = set()
        self._others: set[str] = set()  # runs which this release, or this machine's settings, cannot go on with
        self._news = asyncio.Event()
        self._stopping, self._away, self._empty = False, False, False
        self.done = 0
        """Runs which came to their end here."""

    def stop(self) -> None:
        """Take nothing more up, and let go of what is executed: other workers go on with it at once."""
        self._stopping = True
        self._news.set()

    def look(self) -> None:
        """Look into the queue now, and not only at the next time."""
        self._news.set()

    async def work(self, *, until_empty: bool = False) -> None:
        """Execute runs until `stop`, or with `until_empty` until nothing in the queue is left for this worker."""
        stop = self._store.journal.listen(heard(QUEUE_NEWS, self._news))
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
            stop()
            for handle in list(self._handles):
                await handle.stop()

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._news.wait(), self._rest())
        except TimeoutError:
            return

    def _rest(self) -> float:
        if self._away:
            return PATIENCE
        return REST if self._empty and self._store.tells_all else POLL

    def _trouble(self, error: StoreError) -> None:
        if not self._away:
            self._say(f"{error}; trying again")
        self._away = True

    # taking up

    async def _fill(self) -> None:
        self._empty = False
        if len(self._handles) < self._slots:
            await self._take_from_the_dead()
        while len(self._handles) < self._slots and not self._stopping:
            # a run of ours may have let go of its lease and not be settled yet, or have renewed it late
            but = self._others | {handle.run_id for handle in self._handles}
            lease = await self._queue.claim(self._engine.holder, self._engine.ttl, self._limits, but, is_ahead)
            if lease is None:
                return
            self._execute(lease)

    async def _take_from_the_dead(self) -> None:
        """Runs of processes of this machine which are gone: there is no need to wait until their leases expire."""
        queued = await self._queue.queued()
        self._empty = not queued
        for run in queued:
            if len(self._handles) >= self._slots:
                return
            if self._may_take(run) and is_dead(run.holder):
                try:
                    lease = await self._store.journal.acquire(
                        run.run_id, self._engine.holder, self._engine.ttl, evict=run.holder
                    )
                except LeaseHeld:  # another worker was faster
                    continue
                self._execute(lease)

    def _may_take(self, run: QueuedRun) -> bool:
        """Whether it would be for us to go on with a run, if who has it were gone."""
        return run.ready and bool(run.holder) and run.run_id not in self._others and not is_ahead(run.release)

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

    async def _settled(self, handle: RunTask) -> None:
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
