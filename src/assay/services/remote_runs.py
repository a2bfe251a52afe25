"""Runs which other processes may execute: seen as they go on, and those nobody goes on with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from assay.core.events import Envelope
from assay.core.ports import RunRow
from assay.run.feeds import Feeds, is_executed
from assay.services.context import Context
from assay.services.stored_runs import find


def feeds(context: Context) -> Feeds:
    """The new events of runs, for all who follow them in this process."""
    return Feeds(context.whole.journal)


async def follow(context: Context, reference: str, after: int, *, patient: bool) -> AsyncIterator[Envelope]:
    """The events of a run, until it ends or nobody executes it any more; see `Assay.follow`."""
    row = await find(context, reference)
    async for envelope in context.feeds.follow(row.run_id, after, patient=patient):
        yield envelope


async def groups(context: Context, reference: str, after: int, rest: float | None) -> AsyncIterator[Sequence[Envelope]]:
    """The events of a run in groups, until it ends; see `Assay.groups`."""
    row = await find(context, reference)
    async for group in context.feeds.groups(row.run_id, after, patient=True, rest=rest):
        yield group


async def unfinished(context: Context, question: str, limit: int) -> list[RunRow]:
    """Runs of a question, among the latest, which did not come to an end and which nobody executes."""
    return [
        row
        for row in await context.store.journal.runs(limit)
        if row.question == question.strip()
        and row.status in ("created", "running", "waiting", "paused")
        and not (is_executed(row) or row.queued)
    ]
