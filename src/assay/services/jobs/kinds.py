"""The handler of each kind of job. A new kind is a function here and a line in `KINDS`.

Each calls what the corresponding command calls. All can be started again at any moment: what was read, embedded or
deleted before is recognized and left alone.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from assay.core.errors import InUse, UnknownName, UsageError
from assay.core.ports.jobs import Job, JobFilter
from assay.core.run_options import RunOptions
from assay.core.usage import Budget
from assay.core.view import RunView
from assay.run.job_worker import Handler, JobInHand, PutOff, Result
from assay.run.tasks import enter_in_threads
from assay.services import collections, results, retention, run_control, stored_runs
from assay.services.arguments import format_of
from assay.services.batch import BadLine, Batch, BatchFolder, BatchResult, BatchRow, Terms, read_orders
from assay.services.context import Context
from assay.services.jobs import ingestion
from assay.services.jobs.specifications import BatchJob, CrawlJob, DueJob, EmbedJob, ExportJob, SyncJob, VerifyJob
from assay.services.results import RunHandle, replace_file
from assay.services.schedule_runs import run_due
from assay.services.schedules import Schedule, ScheduleBook


async def research_batch(context: Context, hand: JobInHand) -> Result:
    """Research every question of a file into a folder.

    Raises:
        UsageError: there is no question in it.
        InUse: another process uses the folder, or one of its runs.
    """
    arguments = hand.decoded_arguments(BatchJob)
    orders, bad = await asyncio.to_thread(_orders, Path(arguments.file))
    folder = BatchFolder(Path(arguments.folder))
    terms = Terms(
        total=Budget(usd=arguments.max_usd, tokens=arguments.max_tokens),
        at_once=arguments.at_once,
        sources=arguments.paths,
        options=cast("RunOptions", arguments.options),
        suffix=arguments.suffix,
        citations=arguments.citations,
    )
    async with AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(enter_in_threads(folder.lock()))
        except UsageError as error:
            raise InUse(str(error)) from error
        text, keys = f"of {len(orders)} questions done", {order.key for order in orders}
        done_keys = keys & folder.results.keys()

        def note_row(_order: BatchRow, row: BatchResult) -> None:
            done_keys.add(row.key)
            hand.set_progress(f"{len(done_keys)} {text}")

        work = Batch(context.wiring.library(context), orders, folder, terms, note_row)
        hand.set_progress(f"{work.skipped} {text}")
        try:
            end = await work.work()
        finally:
            await asyncio.to_thread(folder.sort_results)
            if hand.stopped:
                await work.cancel()
    counts = Counter[str](row.status for row in folder.results.values() if row.key in keys)
    if counts["running"]:
        raise InUse("another process executes one of its runs: wait until that has ended")
    return {**counts, "bad lines": len(bad), "ended": end, "results": str(folder.path / "results.jsonl")}


def _orders(file: Path) -> tuple[list[BatchRow], list[BadLine]]:
    """The questions of a file, and its invalid lines.

    Raises:
        UsageError: it cannot be read, or has no question.
    """
    try:
        with file.open("rb") as lines:
            rows = list(read_orders(lines))
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read on the worker's machine ({error.strerror}): name a file that all machines can read"
        ) from error
    orders = [row for row in rows if isinstance(row, BatchRow)]
    if not orders:
        raise UsageError(f"there is no question in {file}")
    return orders, [row for row in rows if isinstance(row, BadLine)]


async def ask_due_schedules(context: Context, hand: JobInHand) -> Result:
    """Ask the questions of due schedules.

    Raises:
        InUse: another process executes one of their runs.
    """
    assay, book = (
        context.wiring.library(context),
        ScheduleBook(Path(hand.decoded_arguments(DueJob).home), hand.job.owner),
    )
    came = Counter[str]()

    async def follow_run(schedule: Schedule, run: RunHandle) -> RunView:
        hand.set_progress(f"schedule {schedule.id}: run {run.run_id}")
        try:
            return await run.view()
        finally:
            if hand.stopped:
                with suppress(UnknownName, UsageError):  # not stored yet, or just ended
                    await run_control.request_action(context, run.run_id, "cancel", 0.0)

    async for outcome in run_due(assay, book, lambda: datetime.now(UTC), follow_run):
        run, status = (outcome.view.run_id, outcome.view.status) if outcome.view else ("", "failed")
        came[status] += 1
        await context.webhooks.schedule_finished(outcome.schedule.owner, outcome.schedule.id, run, status)
    for schedule in await asyncio.to_thread(book.all):
        if schedule.current and await _is_active(context, schedule.current):
            raise InUse(
                f"another process executes run {schedule.current} of schedule {schedule.id}: wait until that has ended"
            )
    return dict(came)


async def _is_active(context: Context, run_id: str) -> bool:
    """True if a process executes this run, or did a moment ago."""
    try:
        row = await stored_runs.find(context, run_id)
    except UnknownName:
        return False
    return row.status in ("created", "running")


async def _crawl(context: Context, hand: JobInHand) -> Result:
    """Read the pages of a site."""
    arguments = hand.decoded_arguments(CrawlJob)
    result = await collections.crawl(
        context, arguments.url, arguments.collection, arguments.pages, arguments.depth, hand.set_progress
    )
    return {"documents": result.documents, "added": result.added, "warnings": list(result.warnings)}


async def _sync(context: Context, hand: JobInHand) -> Result:
    """Look again at every place a collection was added from, once its first addition has stored them.

    Raises:
        PutOff: a job adds the first documents of the collection.
    """
    collection = hand.decoded_arguments(SyncJob).collection
    if not await asyncio.to_thread(context.store.library.origins, collection) and (
        first := await ingestion.unfinished_jobs(context, collection)
    ):
        raise PutOff(f"waits for job {first[-1].id}")
    result = await collections.sync(context, collection, hand.set_progress)
    return {
        "documents": result.documents,
        "added": result.added,
        "updated": result.updated,
        "removed": result.removed,
        "warnings": list(result.warnings),
    }


async def _embed(context: Context, hand: JobInHand) -> Result:
    """Make missing vectors, or all again; a process that continues this does not start over."""

    def note_line(line: str) -> None:
        hand.add_notes(cleared=True)  # progress is reported only after that
        hand.set_progress(line)

    anew = hand.decoded_arguments(EmbedJob).anew and not hand.job.notes.get("cleared")
    return await context.wiring.embed(context, note_line, anew=anew)


async def _index(context: Context, hand: JobInHand) -> Result:
    """Index what is in the library and not in the index."""
    with collections.reading_monitor(context, hand.set_progress) as monitor:
        await asyncio.to_thread(context.search.sync, monitor.report_line)
    return {}


async def _verify(context: Context, hand: JobInHand) -> Result:
    """Check a text as the command does: against the documents it names, with a library in memory."""
    return await context.wiring.verify(context, hand.decoded_arguments(VerifyJob), hand.set_progress)


async def _send_notices(context: Context, hand: JobInHand) -> Result:
    """Send due webhook messages."""
    return {"sent": await context.teller.send_due()}


async def _export(context: Context, hand: JobInHand) -> Result:
    """Write the report of a run to a file, in the format of its name."""
    arguments = hand.decoded_arguments(ExportJob)
    file = Path(arguments.file)
    data = await results.export(context, arguments.run, format_of(file), arguments.citations)
    await asyncio.to_thread(replace_file, file, data)
    return {"file": str(file), "bytes": len(data)}


async def _prune(context: Context, hand: JobInHand) -> Result:
    """Delete the runs that the settings do not keep, and what nothing refers to any more."""
    result = await retention.prune(context, None, dry_run=False)
    return {"runs": [row.run_id for row in result.runs]}


async def _queue_vectors(context: Context, hand: JobInHand, result: Result) -> Result:
    """The results of reading documents; if an embedder is named, a separate job makes their vectors.

    A waiting job makes these too. Its id follows from this job's, so a repetition does not start a second one.
    """
    if not context.settings.embedder.model:
        return result
    waiting_jobs = await hand.jobs.list(JobFilter(states=frozenset(("waiting",)), limit=MAX_WAITING_JOBS))
    before = next(
        (waiting_job.id for waiting_job in waiting_jobs if waiting_job.kind == "embed" and not waiting_job.every), ""
    )
    job, now = hand.job, context.clock.now()
    vector_job = Job(
        id=before or f"{job.id}-vectors",
        kind="embed",
        name=EmbedJob().title,
        owner=job.owner,
        release=job.release,
        priority=job.priority,
        created_at=now,
        updated_at=now,
    )
    await hand.jobs.put([vector_job])
    return {**result, "vectors": vector_job.id}


OwnedHandler = Callable[[Context, JobInHand], Awaitable[Result]]
"""Does a job as its owner sees the library."""
KINDS: Mapping[str, OwnedHandler] = {
    "add": ingestion.add,
    ingestion.PART_KIND: ingestion.read_part,
    "crawl": _crawl,
    "sync": _sync,
    "embed": _embed,
    "index": _index,
    "export": _export,
    "verify": _verify,
    "batch": research_batch,
    "due": ask_due_schedules,
    "notices": _send_notices,
    "prune": _prune,
}


INTAKE_HANDLERS = (ingestion.add, _crawl, _sync)
"""Kinds that add documents; their vectors are made afterwards."""
MAX_WAITING_JOBS = 1_000


def handlers(context: Context) -> dict[str, Handler]:
    """The handler of each kind of job, over a library that sees all owners."""
    return {kind: _for_owner(context, handler) for kind, handler in KINDS.items()}


def _for_owner(context: Context, handler: OwnedHandler) -> Handler:
    async def handle(hand: JobInHand) -> Result:
        owner_context = context.owned_by(hand.job.owner)
        came = await handler(owner_context, hand)
        return await _queue_vectors(owner_context, hand, came) if handler in INTAKE_HANDLERS else came

    return handle
