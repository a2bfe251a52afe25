"""Runs as they are stored."""

from __future__ import annotations

from assay.app.context import Context
from assay.core.events import Envelope
from assay.core.ports import RunRow
from assay.core.view import RunView, fold


async def find(context: Context, reference: str) -> RunRow:
    """A run by its id, the start of its id, or `last`.

    Raises:
        UnknownName: none, or more than one, begins so.
    """
    return await context.store.journal.find(reference)


async def events(context: Context, reference: str, after: int = 0) -> list[Envelope]:
    """A run's log from `seq > after`."""
    return await context.store.journal.events((await find(context, reference)).run_id, after)


async def view(context: Context, reference: str) -> RunView:
    """A run as its events tell it."""
    return fold(await events(context, reference))
