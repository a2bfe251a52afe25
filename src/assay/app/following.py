"""Runs which other processes may execute: seen as they go on, and those nobody goes on with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from assay.app import threads
from assay.app.context import Context
from assay.app.stored import find
from assay.core.events import Envelope, RunWaiting, decode
from assay.core.ports import FINAL, RunRow
from assay.run.engine import POLL
from assay.run.holders import is_dead


def alive(row: RunRow) -> bool:
    """Whether a process executes a run, as far as can be told."""
    return bool(row.holder) and not is_dead(row.holder)


async def follow(context: Context, reference: str) -> AsyncIterator[Envelope]:
    """The events of a run, until it ends or nobody executes it any more; see `Assay.follow`."""
    journal = context.store.journal
    row, seq, topic = await find(context, reference), 0, ""
    while True:
        row = await find(context, row.run_id)
        for envelope in await journal.events(row.run_id, after=seq):
            seq = envelope.seq
            yield envelope
            if envelope.type == RunWaiting.kind and isinstance(event := decode(envelope), RunWaiting):
                topic = event.topic
        waits = row.status == "waiting" and not await threads.is_answered(journal, row.run_id, topic)
        if row.status in FINAL or waits or not (alive(row) or row.queued):
            return
        await asyncio.sleep(POLL)


async def unfinished(context: Context, question: str, limit: int) -> list[RunRow]:
    """Runs of a question, among the latest, which did not come to an end and which nobody executes."""
    return [
        row
        for row in await context.store.journal.runs(limit)
        if row.question == question.strip()
        and row.status in ("created", "running", "waiting", "paused")
        and not (alive(row) or row.queued)
    ]
