"""Runs that any process may execute: the queue, and the workers that take them from it.

A worker takes the lease of the next run and executes it as any process would. The queue is only a hint; the lease
decides who may write. So a dead worker needs no clean-up: its leases expire (or, on this machine, its process is seen
to have ended), and its runs are claimed again.
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
from assay.run.engine import Engine, RunTask
from assay.run.process import is_dead
from assay.run.releases import is_newer_than_installed
from assay.run.tasks import event_setter, run_together, wait_for_event
from assay.services import home_paths, stored_runs, threads, worlds
from assay.services.argument_types import check_least
from assay.services.arguments import ProgressLog
from assay.services.context import Context

log = logging.getLogger(__name__)

POLL_SECONDS = 0.25
"""Seconds between two looks into the queue: notifications can get lost, and an expired lease sends none."""
IDLE_SECONDS = 5.0
"""The same while there is nothing to take and no other process executes a run, if notifications cover all processes."""
RETRY_SECONDS = 1.0
"""Seconds before the next look if the database cannot be reached."""


class QueueWork(Protocol):
    """Does queued work until it is stopped."""

    def stop(self) -> None:
        """Take nothing more up, and release what is in progress."""
        ...

    async def work(self, *, until_empty: bool = False) -> None:
        """Work until `stop`. With `until_empty`, until nothing is left for it."""
        ...


async def work_all(workers: Sequence[QueueWork], *, until_empty: bool = False) -> None:
    """Run several workers in this process; if one fails, the others stop. Deletes what killed ones fetched."""
    await run_together(
        asyncio.to_thread(home_paths.delete_stale_folders),
        *(worker.work(until_empty=until_empty) for worker in workers),
    )


async def enqueue(context: Context, run_id: str, priority: int) -> None:
    """Leave a stored run to the workers; see `Assay.enqueue`."""
    check_priority(context, priority)
    view = await stored_runs.view(context, run_id)
    user, release = (view.brief.user, view.brief.release) if view.brief is not None else ("", "")
    await queue(context).enqueue(view.run_id, user, priority, release)


def check_priority(context: Context, priority: int | None) -> None:
    """Refuse a priority that cannot be used; None is not queued.

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


def make_worker(context: Context, slots: int, limits: QueueLimits, say: ProgressLog | None) -> Worker:
    """A worker in this process; see `Assay.worker`."""
    check_least(1, slots=slots)
    return Worker(context.owned_by(None), context.engine, slots, limits, say)


class Worker:
    """Executes queued runs until it is stopped; see `Assay.worker`."""

    def __init__(
        self, every: Context, engine: Engine, slots: int, limits: QueueLimits, say: ProgressLog | None
    ) -> None:
        """`every` is the context of all owners."""
        self._store, self._queue, self._engine = every.store, queue(every), engine
        self._world_for, self._view = partial(worlds.world, every), partial(stored_runs.view, every)
        self._slots, self._limits, self._say = slots, limits, say or log.info
        self._handles: set[RunTask] = set()
        self._foreign_runs: set[str] = set()  # runs that this release, or this machine's settings, cannot continue
        self._news = asyncio.Event()
        self._elsewhere = False  # whether other processes execute queued runs: their leases may expire
        self._stopping, self._is_store_down, self._idle = False, False, False
        self.done_count = 0
        """The number of runs that ended here."""
        self.on_look: Callable[[], None] = lambda: None
        """Called at each look into the queue."""

    def stop(self) -> None:
        """Take nothing more up, and release active runs; other workers continue them at once."""
        self._stopping = True
        self._news.set()

    def check_queue(self) -> None:
        """Look into the queue now instead of at the next time."""
        self._news.set()

    async def work(self, *, until_empty: bool = False) -> None:
        """Execute runs until `stop`. With `until_empty`, until none in the queue is left for this worker."""
        stop = self._store.journal.listen(event_setter(QUEUE_NEWS, self._news))
        try:
            while not self._stopping:
                self._news.clear()
                self.on_look()
                try:
                    await self._settle_ended()
                    await self._take_runs()
                    self._is_store_down = False
                except StoreError as error:
                    self._report_trouble(error)
                if until_empty and not self._handles and not self._is_store_down:
                    return
                await wait_for_event(self._news, self._pause_seconds())
        finally:
            stop()
            await run_together(*(handle.stop() for handle in self._handles))

    def _pause_seconds(self) -> float:
        """Seconds until the next look."""
        if self._is_store_down:
            return RETRY_SECONDS
        return IDLE_SECONDS if self._idle and self._store.tells_all else POLL_SECONDS

    def _report_trouble(self, error: StoreError) -> None:
        if not self._is_store_down:
            self._say(f"{error}; trying again")
        self._is_store_down = True

    # taking up

    async def _take_runs(self) -> None:
        self._idle = False
        if len(self._handles) < self._slots:
            await self._take_abandoned_runs()
        while len(self._handles) < self._slots and not self._stopping:
            # a run of ours may have released its lease and not be settled yet, or have renewed it late
            but = self._foreign_runs | {handle.run_id for handle in self._handles}
            lease = await self._queue.claim(
                self._engine.holder, self._engine.ttl, self._limits, but, is_newer_than_installed
            )
            if lease is None:
                self._idle = not self._elsewhere
                return
            self._execute(lease)

    async def _take_abandoned_runs(self) -> None:
        """Take runs of dead processes of this machine without waiting for their leases to expire."""
        held_runs = await self._queue.list_runs(running=True)
        self._elsewhere = any(run.holder != self._engine.holder for run in held_runs)
        for run in held_runs:
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
        """True if this worker could continue a run if its holder were gone."""
        return run.ready and run.run_id not in self._foreign_runs and not is_newer_than_installed(run.release)

    def _execute(self, lease: Lease) -> None:
        self._say(f"run {lease.run_id}: {'started' if lease.fence == 1 else f'taken up (fence {lease.fence})'}")
        handle = self._engine.execute_leased(lease, self._world_for)
        handle.on_end(self._news.set)
        self._handles.add(handle)

    # releasing

    async def _settle_ended(self) -> None:
        for handle in [handle for handle in self._handles if handle.ended]:
            await self._settle_run(handle)
            self._handles.discard(handle)

    async def _settle_run(self, handle: RunTask) -> None:
        """Settle the queue entry of a run that this process is done with."""
        try:
            row = await self._store.journal.find(handle.run_id)
        except UnknownName:  # just deleted
            return
        if isinstance(handle.error, OtherRelease | UsageError):  # usually a model that is not set up here
            self._foreign_runs.add(row.run_id)
        if row.status in FINAL:
            self.done_count += 1
            await self._queue.remove(row.run_id)
        elif row.status == "waiting" and not row.holder:
            await self._park(row.run_id)
        self._say(f"run {row.run_id}: {row.status}{f' ({handle.error})' if handle.error else ''}")

    async def _park(self, run_id: str) -> None:
        """Park a run that waits for a person, unless the answer came just before."""
        await self._queue.park(run_id)
        topic = (await self._view(run_id)).waiting_for
        if not topic or await threads.is_answered(self._store.journal, run_id, topic):
            await self._queue.wake(run_id)
