"""The class `RunQueue`: runs which are left to workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay import app
from assay.app.history import RunHistory
from assay.app.texts import Say
from assay.core.ports import Queue, QueuedRun, QueueLimits

if TYPE_CHECKING:
    from assay.app.queue_workers import Worker


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
        await app.queue_workers.enqueue(self._context, run_id, priority)

    async def queued(self) -> list[QueuedRun]:
        """What is in the queue, and who executes it."""
        return await self.queue.queued()

    @property
    def queue(self) -> Queue:
        """The queue.

        Raises:
            UsageError: the store is in memory, where no other process could find a run.
        """
        return app.queue_workers.queue(self._context)

    def worker(self, slots: int, limits: QueueLimits = QueueLimits(), say: Say | None = None) -> Worker:
        """A worker in this process, which executes `slots` runs at once.

        Args:
            limits: of all workers together; workers with other limits go by their own.
            say: told in a line what it takes up and how that ends.
        """
        return app.queue_workers.worker(self._context, slots, limits, say)
