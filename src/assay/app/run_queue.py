"""The class `RunQueue`: runs, and other long work, for workers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from assay.app.history import RunHistory
from assay.core.later import later
from assay.core.ports import Queue, QueuedRun, QueueLimits
from assay.core.ports.jobs import TOP, Job, JobFilter
from assay.services.arguments import Say

if TYPE_CHECKING:
    from assay.run.job_worker import JobWorker
    from assay.services import jobs_desk, queue_workers
    from assay.services.jobs.ingestion import WorkerFigures
    from assay.services.jobs.specifications import JobWork
    from assay.services.queue_workers import Worker
else:
    jobs_desk = later("assay.services.jobs_desk")
    queue_workers = later("assay.services.queue_workers")


class RunQueue(RunHistory):
    """A library of documents, the runs over it, and the queue from which workers take runs."""

    async def enqueue(self, run_id: str, *, priority: int = 0) -> None:
        """Queue a stored run (`create`) for workers; its user is the brief's.

        Args:
            priority: -100 to 100; the highest is taken first.

        Raises:
            UnknownName: there is no such run.
            UsageError: there is no queue, or no such priority.
        """
        await queue_workers.enqueue(self._context, run_id, priority)

    async def queued(self) -> list[QueuedRun]:
        """The runs in the queue, and the processes that execute them."""
        return await self.queue.queued()

    @property
    def queue(self) -> Queue:
        """The queue.

        Raises:
            UsageError: the store is in memory, where no other process could find a run.
        """
        return queue_workers.queue(self._context)

    def worker(self, slots: int, limits: QueueLimits = QueueLimits(), say: Say | None = None) -> Worker:
        """Make a worker in this process that executes `slots` runs at once.

        Args:
            limits: over all workers together; each worker applies its own.
            say: called with a line of text when it takes a run up and when that ends.
        """
        return queue_workers.worker(self._context, slots, limits, say)

    async def begin_job(self, work: JobWork, *, priority: int = 0, every: int = 0) -> Job:
        """Queue long work for workers: reading documents, making vectors, writing a report to a file.

        Files are read and written where the worker is, so name paths that its machine has too.

        Args:
            priority: -100 to 100; the highest is taken first.
            every: seconds from one repetition to the next. 0: once.

        Raises:
            UsageError: there is nothing to do, an equal periodic job exists, there is no such priority, or no worker
                could find the job (a store in memory).
            UnknownName: there is no such collection or run.
        """
        return await jobs_desk.begin(self._context, work, priority, every)

    async def jobs(self, wanted: JobFilter = TOP) -> list[Job]:
        """Jobs, newest first; ended ones are listed for 30 days."""
        return await jobs_desk.jobs_of(self._context).list(wanted)

    async def job(self, id: str) -> Job:
        """Return a job.

        Raises:
            UnknownName: there is none with that id.
        """
        return await jobs_desk.jobs_of(self._context).find(id)

    async def job_figures(self, id: str) -> list[WorkerFigures]:
        """Return what each worker has read so far of a job with parts.

        Raises:
            UnknownName: there is none with that id.
        """
        return await jobs_desk.figures(self._context, id)

    def follow_job(self, id: str, after: int = 0) -> AsyncIterator[Job]:
        """Yield a job after each update with `seq > after`, until it has ended.

        Of updates in quick succession only the last is yielded.

        Raises:
            UnknownName: there is none with that id.
        """
        return jobs_desk.follow(self._context, id, after)

    async def cancel_job(self, id: str) -> Job:
        """End a job and its parts: at once if it waits, within seconds if it is in progress. Completed work stays.

        Raises:
            UnknownName: there is none with that id.
        """
        return await jobs_desk.jobs_of(self._context).cancel(id)

    async def retry_job(self, id: str) -> Job:
        """Queue a failed or cancelled job again; completed work is not repeated.

        Raises:
            UnknownName: there is none with that id.
            UsageError: it is done, waiting or in progress.
        """
        return await jobs_desk.retry(self._context, id)

    def job_worker(self, slots: int, say: Say | None = None) -> JobWorker:
        """Make a worker for jobs in this process, `slots` at once.

        Args:
            say: called with a line of text when it takes a job up and when that ends.
        """
        return jobs_desk.worker(self._context, slots, say)
