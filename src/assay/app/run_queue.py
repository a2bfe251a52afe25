"""The class `RunQueue`: runs, and other long work, which are left to workers."""

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
        """Leave a stored run (`create`) to the workers; its user is the brief's.

        Args:
            priority: -100 to 100; of the runs in the queue those with the highest are taken first.

        Raises:
            UnknownName: no such run.
            UsageError: there is no queue, or no such priority.
        """
        await queue_workers.enqueue(self._context, run_id, priority)

    async def queued(self) -> list[QueuedRun]:
        """What is in the queue, and who executes it."""
        return await self.queue.queued()

    @property
    def queue(self) -> Queue:
        """The queue.

        Raises:
            UsageError: the store is in memory, where no other process could find a run.
        """
        return queue_workers.queue(self._context)

    def worker(self, slots: int, limits: QueueLimits = QueueLimits(), say: Say | None = None) -> Worker:
        """A worker in this process, which executes `slots` runs at once.

        Args:
            limits: of all workers together; workers with other limits go by their own.
            say: told in a line what it takes up and how that ends.
        """
        return queue_workers.worker(self._context, slots, limits, say)

    async def begin_job(self, work: JobWork, *, priority: int = 0, every: int = 0) -> Job:
        """Leave long work to the workers: documents to be read, vectors to be made, a report to be written to a file.

        Files are read and written where the worker is: name what its machine sees too.

        Args:
            priority: -100 to 100; of the jobs which wait those with the highest are taken first.
            every: seconds; it is done again and again, so long after the last time. 0: once.

        Raises:
            UsageError: there is nothing to do, it is done periodically already, no such priority, or no worker could
                find it (a store in memory).
            UnknownName: there is no such collection, or run.
        """
        return await jobs_desk.begin(self._context, work, priority, every)

    async def jobs(self, wanted: JobFilter = TOP) -> list[Job]:
        """Jobs, newest first; those which ended are listed for 30 days."""
        return await jobs_desk.jobs_of(self._context).list(wanted)

    async def job(self, id: str) -> Job:
        """How a job stands.

        Raises:
            UnknownName: there is none of that id.
        """
        return await jobs_desk.jobs_of(self._context).find(id)

    async def job_figures(self, id: str) -> list[WorkerFigures]:
        """What each worker has read of a job which was split into parts, so far.

        Raises:
            UnknownName: there is none of that id.
        """
        return await jobs_desk.figures(self._context, id)

    def follow_job(self, id: str, after: int = 0) -> AsyncIterator[Job]:
        """A job each time something is said of it, from `seq > after`, until it has ended. Of what is said fast, the
        last is told.

        Raises:
            UnknownName: there is none of that id.
        """
        return jobs_desk.follow(self._context, id, after)

    async def cancel_job(self, id: str) -> Job:
        """End a job and its parts: at once where it waits, within seconds where it is being done. What is done stays.

        Raises:
            UnknownName: there is none of that id.
        """
        return await jobs_desk.jobs_of(self._context).cancel(id)

    async def retry_job(self, id: str) -> Job:
        """Have a job which failed or was cancelled taken up again; what is done is not done twice.

        Raises:
            UnknownName: there is none of that id.
            UsageError: it is done, or on its way.
        """
        return await jobs_desk.retry(self._context, id)

    def job_worker(self, slots: int, say: Say | None = None) -> JobWorker:
        """Does jobs in this process, `slots` at once.

        Args:
            say: told in a line what it takes up and how that ends.
        """
        return jobs_desk.worker(self._context, slots, say)
