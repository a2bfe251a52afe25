"""The administrator's view of all users: numbers, names and times, and never a question or a text."""

from __future__ import annotations

from collections import defaultdict

import msgspec

from assay.core.errors import UsageError
from assay.core.ports import GOING, ModelUsage, RunFilter, RunRow, RunStatus, lists
from assay.core.ports.jobs import QueueDepth
from assay.core.ports.store import Store
from assay.run.process import is_dead

COUNTED_RUNS = 1_000
"""Runs in execution that are examined."""


class WorkerStanding(msgspec.Struct, frozen=True, kw_only=True):
    """A process that executes runs: how many, and when the first of them began (ISO 8601 UTC)."""

    process: str
    runs: int
    since: str


class QueueStanding(msgspec.Struct, frozen=True, kw_only=True):
    """The queue, when the longest waiting run began (empty if none waits), and the processes that execute runs."""

    depth: QueueDepth
    oldest: str
    workers: tuple[WorkerStanding, ...]


class Overview:
    """A home as its administrators see it; nothing that was asked, read or written."""

    def __init__(self, whole: Store) -> None:
        """`whole` sees the runs of all."""
        self._store = whole

    async def counts(self) -> tuple[dict[RunStatus, int], QueueDepth]:
        """Count runs by status, and those in the queue."""
        queue = self._store.queue
        return await self._store.journal.counts(), QueueDepth() if queue is None else await queue.depth()

    async def usage(self, since: str, until: str) -> list[ModelUsage]:
        """The usage of the runs begun in a period (ISO 8601 UTC, empty for no bound), by day, user and model."""
        return await self._store.journal.usage(since, until, daily=True)

    async def runs(
        self, user: str | None, wanted: RunFilter, cursor: str = "", limit: int = 50
    ) -> tuple[list[RunRow], str]:
        """Runs of all users, or of one, newest first, with a cursor that continues the list, empty at the end.

        Raises:
            UsageError: there is no such page, or the filter has a text, which would reveal questions.
        """
        if wanted.text or wanted.thread or wanted.label:
            raise UsageError("the runs of all users cannot be searched by text: leave out the text")
        journal = self._store.journal.owned_by(user)
        found = await journal.page(wanted, lists.bounded_page(limit), lists.read_cursor(cursor, int))
        rows = [
            msgspec.structs.replace(row, question="", thread="", labels={}, holder=_living(row.holder))
            for row in found.rows
        ]
        return rows, "" if found.next is None else lists.cursor_text(found.next)

    async def queue(self) -> QueueStanding:
        """How many runs wait, and what each executing process works on; for many runs only the latest count."""
        _, depth = await self.counts()
        found = await self._store.journal.page(RunFilter(status=GOING), COUNTED_RUNS)
        held: dict[str, list[RunRow]] = defaultdict(list)
        for row in found.rows:
            if holder := _living(row.holder):
                held[holder].append(row)
        workers = (
            WorkerStanding(process=holder, runs=len(rows), since=min(row.created_at for row in rows))
            for holder, rows in sorted(held.items())
        )
        waiting = [row.created_at for row in found.rows if row.queued and not _living(row.holder)]
        return QueueStanding(depth=depth, oldest=min(waiting, default=""), workers=tuple(workers))


def _living(holder: str) -> str:
    return "" if holder and is_dead(holder) else holder
