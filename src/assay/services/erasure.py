"""All that is one user's, deleted: runs with their links and logs, schedules, collections, uploads."""

from __future__ import annotations

import asyncio
import shutil

import msgspec

from assay.core import pages
from assay.core.errors import LeaseHeld, UnknownName, UsageError
from assay.core.ports import FINAL, RunFilter, RunRow
from assay.core.ports.jobs import JobFilter
from assay.services import retention, run_control
from assay.services.context import Context
from assay.services.schedules.book import ScheduleBook
from assay.services.uploads import place_of

CANCEL_SECONDS = 10.0
"""How long a run may take to let go before it is deleted."""
TRIES = 20
PAUSE = 0.25
_ALL = 1_000_000
LATER = "9999"
"""After every time."""


class DataErased(msgspec.Struct, frozen=True, kw_only=True):
    """How much was deleted. `swept` says whether the texts and bytes of documents nobody else refers to are gone too:
    else the next clean-up removes them (`assay runs prune`), and until then nobody can come to them.
    """

    runs: int
    schedules: int
    collections: int
    swept: bool


async def erase(context: Context) -> DataErased:
    """Delete all that is the owner's; see `Assay.erase`."""
    if not context.owner:
        raise UsageError("name the user whose data to delete: the local user's data is deleted with the home")
    await _jobs(context)  # first: one which goes on makes runs and documents anew
    schedules = await _schedules(context)
    runs = await _runs(context)
    collections = await _collections(context)
    await asyncio.to_thread(context.store.additions.forget, LATER)
    swept = await retention.tidy(context)
    return DataErased(runs=runs, schedules=schedules, collections=collections, swept=swept is not None)


async def _schedules(context: Context) -> int:
    if context.home is None:
        return 0
    book = ScheduleBook(context.home, context.owner)
    found = await asyncio.to_thread(book.all)
    for each in found:
        await asyncio.to_thread(book.remove, each.id)
    return len(found)


async def _jobs(context: Context) -> None:
    """End all jobs, and forget them when nobody does them any more.

    Raises:
        UsageError: a worker does not let go of one.
    """
    jobs = context.store.jobs
    if jobs is None:
        return
    going = JobFilter(states=frozenset(("waiting", "running")), parent=None, limit=_ALL)
    for _ in range(int(CANCEL_SECONDS / PAUSE)):
        left = await jobs.list(going)
        if not left:
            break
        for job in left:
            await jobs.cancel(job.id)
        await asyncio.sleep(PAUSE)
    else:
        raise UsageError(f"job {left[0].id} is still done by {left[0].holder}: stop that worker, then try again")
    await jobs.forget(LATER, failed=True)


async def _runs(context: Context) -> int:
    """Delete all runs, the newest first; one which goes on is cancelled before."""
    count = 0
    while rows := (await context.store.journal.page(RunFilter(), pages.MOST, None)).rows:
        for row in rows:
            await _deleted(context, row)
        count += len(rows)
    return count


async def _deleted(context: Context, row: RunRow) -> None:
    """Delete a run.

    Raises:
        LeaseHeld: its process does not let go of it.
    """
    for last in (*[False] * TRIES, True):
        try:
            if row.status not in FINAL:
                await run_control.ask_for(context, row.run_id, "cancel", CANCEL_SECONDS)
            await run_control.delete(context, row.run_id)
        except UnknownName:  # somebody else deleted it
            return
        except LeaseHeld:
            if last:
                raise
            await asyncio.sleep(PAUSE)
        else:
            return


async def _collections(context: Context) -> int:
    """Forget all collections with the files which were uploaded into them; those of others stay."""
    rows = await asyncio.to_thread(context.store.library.collections)
    own = [row.name for row in rows if row.owner == context.owner]
    for name in own:
        await asyncio.to_thread(context.store.library.drop, name)
        if context.home is not None:
            await asyncio.to_thread(shutil.rmtree, place_of(context, name), ignore_errors=True)
    return len(own)
