"""What whoever runs a server sees of all its users: numbers, names and times, and never a question or a text."""

from __future__ import annotations

from collections import defaultdict

import msgspec

from assay.core import pages
from assay.core.errors import UsageError
from assay.core.ports import GOING, ModelUsage, RunFilter, RunRow, RunStatus
from assay.core.ports.jobs import QueueDepth
from assay.core.ports.store import Store
from assay.run.process import is_dead

COUNTED_RUNS = 1_000
"""Runs in execution which are looked at."""


class WorkerStanding(msgspec.Struct, frozen=True, kw_only=True):
    """A process which executes runs: how many, and when the first of them was begun (ISO 8601 UTC)."""

    process: str
    runs: int
    since: str


class QueueStanding(msgspec.Struct, frozen=True, kw_only=True):
    """The queue, when the run which waits longest was begun (empty where none does), and who executes runs."""

    depth: QueueDepth
    oldest: str
    workers: tuple[WorkerStanding, ...]


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
        if wanted.text or wanted.thread or wanted.label:
            raise UsageError("the runs of all users cannot be searched by words: leave the text out")
        journal = self._store.journal.owned_by(user)
        found = await journal.page(wanted, pages.bounded(limit), pages.read(cursor, int))
        rows = [
            msgspec.structs.replace(row, question="", thread="", labels={}, holder=_living(row.holder))
            for row in found.rows
        ]
        return rows, "" if found.next is None else pages.written(found.next)

    async def queue(self) -> QueueStanding:
        """How many runs wait, and what each process which executes runs is busy with; of many runs the latest count."""
        _, depth = await self.standing()
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
