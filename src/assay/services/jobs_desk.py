"""What users ask of jobs: to begin one, to see how it goes, to end it, to try it again; and who does them."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import msgspec

from assay.core.errors import UsageError
from assay.core.ports.jobs import JOB_ENDED, Job, Jobs
from assay.run.job_worker import JobWorker
from assay.run.releases import own_release
from assay.services import places
from assay.services.context import Context
from assay.services.jobs.kinds import handlers
from assay.services.jobs.specifications import AddJob, CrawlJob, EmbedJob, ExportJob, JobWork, PruneJob, SyncJob
from assay.services.queue_workers import check_priority
from assay.services.shelves import check_collection
from assay.services.texts import Say

log = logging.getLogger(__name__)

KEPT = timedelta(days=30)
"""How long a job that ended is listed."""
LOOK = 0.5
"""Seconds between two looks at a job which somebody follows."""
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"


def jobs_of(context: Context) -> Jobs:
    """The jobs of the store.

    Raises:
        UsageError: it is in memory, where no worker could find one.
    """
    if context.store.jobs is None:
        raise UsageError("jobs in memory cannot be left to workers: open Assay with a home or a database")
    return context.store.jobs


async def begin(context: Context, work: JobWork, priority: int = 0) -> Job:
    """Leave long work to the workers; see `Assay.begin_job`."""
    jobs = jobs_of(context)
    check_priority(context, priority)
    work = await _checked(context, work)
    arguments = msgspec.to_builtins(work)
    now = context.clock.now()
    made = Job(
        id="".join(secrets.choice(_LETTERS) for _ in range(10)),
        kind=arguments.pop("kind"),
        name=_name(work),
        arguments=arguments,
        priority=priority,
        created_at=now,
        updated_at=now,
        owner=context.owner or "",
        release=own_release(),
    )
    await jobs.forget((datetime.now(UTC) - KEPT).isoformat(timespec="milliseconds").replace("+00:00", "Z"))
    await jobs.put([made])
    return made


async def follow(context: Context, id: str, after: int = 0) -> AsyncIterator[Job]:
    """A job each time something is said of it, until it has ended; see `Assay.follow_job`."""
    while True:
        job = await jobs_of(context).find(id)
        if job.seq > after:
            after = job.seq
            yield job
        if job.state in JOB_ENDED:
            return
        await asyncio.sleep(LOOK)


async def _checked(context: Context, work: JobWork) -> JobWork:
    """The work as any worker understands it, where it can be done at all.

    Raises:
        UsageError: nothing is named, or a name no collection can have.
        UnknownName: there is no such collection, or run.
    """
    match work:
        case AddJob():
            places.checked_name(work.collection)
            if not work.paths:
                raise UsageError("there is nothing to add: name a file, a folder or a page")
            asked = places.sorted_out(work.paths)
            paths = (*map(places.absolute, asked.paths), *asked.urls, *asked.connected)
            return msgspec.structs.replace(work, paths=paths)
        case CrawlJob():
            places.checked_name(work.collection)
        case SyncJob():
            await check_collection(context, work.collection)
        case ExportJob():
            row = await context.store.journal.find(work.run)
            return msgspec.structs.replace(work, run=row.run_id, file=places.absolute(work.file))
        case EmbedJob() | PruneJob():
            pass
    return work


def _name(work: JobWork) -> str:
    """What a person calls the job."""
    match work:
        case AddJob(paths=paths, collection=collection):
            more = f" and {len(paths) - 2} more" if len(paths) > 2 else ""
            return f"add {', '.join(paths[:2])}{more} to {collection}"
        case CrawlJob(url=url, collection=collection):
            return f"crawl {url} into {collection}"
        case SyncJob(collection=collection):
            return f"sync {collection}"
        case EmbedJob(anew=anew):
            return "make all vectors anew" if anew else "make missing vectors"
        case ExportJob(run=run, file=file):
            return f"export run {run} to {file}"
        case PruneJob():
            return "delete runs which are kept no longer"


def worker(context: Context, slots: int, say: Say | None) -> JobWorker:
    """Does jobs in this process; see `Assay.job_worker`."""
    every, workers = context.owned_by(None), context.settings.workers
    return JobWorker(
        jobs_of(every),
        handlers(every),
        every.clock,
        every.store.journal.listen,
        tells_all=every.store.tells_all,
        slots=slots,
        per_user=workers.per_user,
        ttl=workers.lease,
        say=say or log.info,
    )
