"""Jobs which have runs: the questions of a file, and those of schedules which are due.

Their runs are executed by the worker which has the job. Which run answers which question is noted before anything of it
is stored: whoever goes on with the job goes on with the runs.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from assay.core.errors import InUse, UnknownName, UsageError
from assay.core.run_options import RunOptions
from assay.core.usage import Budget
from assay.core.view import RunView
from assay.run.job_hand import JobInHand, Result
from assay.services import run_control, stored_runs
from assay.services.batch import BadLine, Batch, BatchFolder, BatchResult, BatchRow, Terms, read_orders
from assay.services.context import Context
from assay.services.handle import RunHandle
from assay.services.jobs.specifications import BatchJob, DueJob
from assay.services.schedules import Schedule, ScheduleBook
from assay.services.schedules.due import run_due


async def batch(context: Context, hand: JobInHand) -> Result:
    """Research every question of a file into a folder.

    Raises:
        UsageError: there is no question in it.
        InUse: another process has the folder, or one of its runs.
    """
    wanted = hand.work(BatchJob)
    orders, bad = await asyncio.to_thread(_orders, Path(wanted.file))
    folder = BatchFolder(Path(wanted.folder))
    terms = Terms(
        total=Budget(usd=wanted.max_usd, tokens=wanted.max_tokens),
        at_once=wanted.at_once,
        sources=wanted.paths,
        options=cast("RunOptions", wanted.options),
        suffix=wanted.suffix,
        citations=wanted.citations,
    )
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(_in_thread(folder.taken()))
        except UsageError as error:
            raise InUse(str(error)) from error
        said = f"of {len(orders)} questions done"

        def told(_order: BatchRow, _row: BatchResult) -> None:
            hand.tell(f"{_done(folder, orders).total()} {said}")

        work = Batch(context.wiring.library(context), orders, folder, terms, told)
        hand.tell(f"{work.skipped} {said}")
        try:
            ended = await work.work()
        finally:
            await asyncio.to_thread(folder.put_in_order)
            if hand.stopped:
                await work.cancel()
    counts = _done(folder, orders)
    if counts["running"]:
        raise InUse("another process executes one of its runs: wait until that has ended")
    return {**counts, "bad lines": len(bad), "ended": ended, "results": str(folder.path / "results.jsonl")}


@asynccontextmanager
async def _in_thread(block: AbstractContextManager[None]) -> AsyncIterator[None]:
    """A block whose beginning and end are files read and written: neither is done in the event loop."""
    await asyncio.to_thread(block.__enter__)
    try:
        yield
    finally:
        await asyncio.to_thread(block.__exit__, None, None, None)


def _orders(file: Path) -> tuple[list[BatchRow], list[BadLine]]:
    """The questions of a file, and the lines which are none.

    Raises:
        UsageError: it cannot be read, or holds no question.
    """
    try:
        with file.open("rb") as lines:
            read = list(read_orders(lines))
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read where the worker is ({error.strerror}): name a file which all machines see"
        ) from error
    orders = [each for each in read if isinstance(each, BatchRow)]
    if not orders:
        raise UsageError(f"there is no question in {file}")
    return orders, [each for each in read if isinstance(each, BadLine)]


def _done(folder: BatchFolder, orders: list[BatchRow]) -> Counter[str]:
    """How many of these questions came to what."""
    keys = {order.key for order in orders}
    return Counter(row.status for row in folder.results.values() if row.key in keys)


async def due(context: Context, hand: JobInHand) -> Result:
    """Ask the questions of schedules which are due.

    Raises:
        InUse: another process executes one of their runs.
    """
    assay, book = context.wiring.library(context), ScheduleBook(Path(hand.work(DueJob).home), hand.job.owner)
    came = Counter[str]()

    async def followed(schedule: Schedule, run: RunHandle) -> RunView:
        hand.tell(f"schedule {schedule.id}: run {run.run_id}")
        try:
            return await run.view()
        finally:
            if hand.stopped:
                with suppress(UnknownName, UsageError):  # not stored yet, or ended in this moment
                    await run_control.ask_for(context, run.run_id, "cancel", 0.0)

    async for asked in run_due(assay, book, lambda: datetime.now(UTC), followed):
        run, status = (asked.view.run_id, asked.view.status) if asked.view else ("", "failed")
        came[status] += 1
        await context.webhooks.told(asked.schedule.owner, asked.schedule.id, run, status)
    for schedule in await asyncio.to_thread(book.all):
        if schedule.current and await _executed(context, schedule.current):
            raise InUse(
                f"another process executes run {schedule.current} of schedule {schedule.id}: wait until that has ended"
            )
    return dict(came)


async def _executed(context: Context, run_id: str) -> bool:
    """Whether a process has this run in hand, or had until a moment ago."""
    try:
        row = await stored_runs.find(context, run_id)
    except UnknownName:
        return False
    return row.status in ("created", "running")
