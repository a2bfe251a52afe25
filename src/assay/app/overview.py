"""What whoever runs a server sees of all its users: numbers, names and times, and never a question or a text."""

from __future__ import annotations

import msgspec

from assay.core import pages
from assay.core.errors import UsageError
from assay.core.ports import ModelUsage, RunFilter, RunRow, RunStatus
from assay.core.ports.queue import QueueDepth
from assay.run.holders import is_dead
from assay.store.common import Store


class Overview:
    """A home as those who look after it see it; it shows nothing of what was asked, read or written."""

    def __init__(self, whole: Store) -> None:
        """`whole` knows the runs of all."""
        self._store = whole

    async def standing(self) -> tuple[dict[RunStatus, int], QueueDepth]:
        """How many runs there are of each status, and how many are in the queue."""
        queue = self._store.queue
        return await self._store.journal.counts(), QueueDepth() if queue is None else await queue.depth()

    async def usage(self, since: str, until: str) -> list[ModelUsage]:
        """What the runs begun in a time (ISO 8601 UTC, empty for no bound) took, by day, user and model."""
        return await self._store.journal.usage(since, until, daily=True)

    async def runs(
        self, user: str | None, wanted: RunFilter, cursor: str = "", limit: int = 50
    ) -> tuple[list[RunRow], str]:
        """Runs of all users, or of one, the newest first; where they go on, empty at the end.

        Raises:
            UsageError: there is no such page, or a text is looked for, which would tell of questions.
        """
        if wanted.text or wanted.thread:
            raise UsageError("the runs of all users cannot be searched by words: leave the text out")
        journal = self._store.journal.owned_by(user)
        found = await journal.page(wanted, pages.bounded(limit), pages.read(cursor, int))
        rows = [msgspec.structs.replace(row, question="", thread="", holder=_living(row.holder)) for row in found.rows]
        return rows, "" if found.next is None else pages.written(found.next)


def _living(holder: str) -> str:
    return "" if holder and is_dead(holder) else holder
