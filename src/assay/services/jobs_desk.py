"""Jobs of users: start, follow, end and retry them; and the worker that does them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from assay.core.errors import UsageError
from assay.core.ports.jobs import JOB_ENDED, Job, JobFilter, Jobs
from assay.core.web_addresses import BadUrl, parse_url
from assay.run.job_worker import JobWorker, JobWorkerLimits
from assay.run.process import new_id
from assay.run.releases import own_release
from assay.services import places
from assay.services.additions import time_ago
from assay.services.argument_types import check_least
from assay.services.arguments import ProgressLog, sources_to_add
from assay.services.context import Context
from assay.services.daily import limits_of_users
from assay.services.jobs.ingestion import WorkerFigures, figures_by_worker, unfinished_jobs
from assay.services.jobs.kinds import handlers
from assay.services.jobs.specifications import (
    AddJob,
    BatchJob,
    CrawlJob,
    DueJob,
    EmbedJob,
    ExportJob,
    IndexJob,
    JobWork,
    NoticesJob,
    PruneJob,
    SyncJob,
    VerifyJob,
)
from assay.services.places import connector_of
from assay.services.queue_workers import check_priority
from assay.services.schedules import absolute_sources
from assay.services.shelves import check_collection, check_name
from assay.services.stored_runs import find

log = logging.getLogger(__name__)

RETENTION = timedelta(days=30)
"""How long an ended job is listed."""
POLL_SECONDS = 0.5
"""Seconds between two looks at a followed job."""
MIN_INTERVAL_SECONDS, MAX_INTERVAL_SECONDS = 10, 366 * 86_400
"""Seconds between two periodic jobs."""
_MAX_JOBS = 10_000


def jobs_of(context: Context) -> Jobs:
    """The jobs of the store.

    Raises:
        UsageError: it is in memory, where no worker could find one.
    """
    if context.store.jobs is None:
        raise UsageError("workers cannot see jobs in memory: open Assay with a home or a database")
    return context.store.jobs


async def begin_job(context: Context, work: JobWork, priority: int = 0, every: int = 0) -> Job:
    """Leave long work to the workers; see `Assay.begin_job`."""
    jobs = jobs_of(context)
    check_priority(context, priority)
    if every and not MIN_INTERVAL_SECONDS <= every <= MAX_INTERVAL_SECONDS:
        raise UsageError(
            f"a job cannot repeat every {every} s: "
            f"name {MIN_INTERVAL_SECONDS} seconds to {MAX_INTERVAL_SECONDS // 86_400} days"
        )
    work = await _check(context, work)
    arguments = msgspec.to_builtins(work)
    kind, now = arguments.pop("kind"), context.clock.now()
    if every:
        await _check_no_duplicate(jobs, kind, arguments)
    job = Job(
        id=new_id(),
        kind=kind,
        name=work.title,
        arguments=arguments,
        priority=priority,
        every=every,
        created_at=now,
        updated_at=now,
        owner=context.owner or "",
        release=own_release(),
    )
    await jobs.forget(time_ago(RETENTION))
    await jobs.put([job], max_jobs(context))
    return job


async def retry_job(context: Context, id: str) -> Job:
    """Queue a failed or cancelled job again; see `Assay.retry_job`."""
    return await jobs_of(context).retry(id, max_jobs(context))


def max_jobs(context: Context) -> int | None:
    """How many jobs the owner of a context may have: as many as runs, counted separately; None is no limit."""
    if context.owner is None:
        return None
    return (context.limits or limits_of_users(context.settings.limits)).runs_at_once


async def _check_no_duplicate(jobs: Jobs, kind: str, arguments: dict[str, Any]) -> None:
    """Refuse a second identical periodic job.

    Raises:
        UsageError: there is one already.
    """
    going = await jobs.list(JobFilter(states=frozenset(("waiting", "running")), limit=_MAX_JOBS))
    for job in going:
        if job.every and (job.kind, job.arguments) == (kind, arguments):
            raise UsageError(f"job {job.id} does this every {job.every} s already: cancel that job first")


async def job_figures(context: Context, id: str) -> list[WorkerFigures]:
    """The work of each worker on a job with parts; see `Assay.job_figures`."""
    jobs = jobs_of(context)
    return figures_by_worker(await jobs.part_notes((await jobs.find(id)).id))


async def follow_job(context: Context, id: str, after: int = 0) -> AsyncIterator[Job]:
    """Yield a job after each update, until it has ended; see `Assay.follow_job`."""
    while True:
        job = await jobs_of(context).find(id)
        if job.seq > after:
            after = job.seq
            yield job
        if job.state in JOB_ENDED:
            return
        await asyncio.sleep(POLL_SECONDS)


async def _check(context: Context, work: JobWork) -> JobWork:
    """The work in a form that any worker understands, if it can be done. Places with a login are refused, since jobs
    are shown.

    Raises:
        UsageError: nothing is named, or a collection's name or a place is not valid.
        UnknownName: there is no such collection or run.
    """
    match work:
        case AddJob():
            await check_name(context, work.collection)
            return _addition(work, context.allowed_hosts)
        case CrawlJob():
            await check_name(context, work.collection)
            _check_address(work.url)
        case SyncJob():
            if not await unfinished_jobs(context, work.collection):  # it comes after these
                await check_collection(context, work.collection)
        case VerifyJob():
            return _verification(work)
        case BatchJob():
            return msgspec.structs.replace(
                work,
                file=places.absolute_path(work.file),
                folder=places.absolute_path(work.folder),
                paths=None if work.paths is None else absolute_sources(work.paths),
            )
        case DueJob():
            return msgspec.structs.replace(work, home=places.absolute_path(work.home))
        case ExportJob():
            row = await find(context, work.run)
            return msgspec.structs.replace(work, run=row.run_id, file=places.absolute_path(work.file))
        case EmbedJob() | IndexJob() | NoticesJob() | PruneJob():
            pass
    return work


def _addition(work: AddJob, allow: Sequence[str] | None) -> AddJob:
    """The same, with paths valid from any folder; `allow` guards connectors.

    Raises:
        UsageError: there is nothing to add, or nothing readable.
    """
    input_places = places.sort_places(sources_to_add(work.paths))
    for url in input_places.urls:
        _check_address(url)
    for place in input_places.connector_places:
        connector_of(place, allow).canonical(place)
    paths = (*map(places.absolute_path, input_places.paths), *input_places.urls, *input_places.connector_places)
    return msgspec.structs.replace(work, paths=paths)


def _check_address(url: str) -> None:
    """Refuse an address that no worker would read.

    Raises:
        UsageError: it is not a web address, or contains a login.
    """
    try:
        parse_url(url)
    except BadUrl as error:
        raise UsageError(f"a job cannot read this address ({error}): write one such as https://example.org/") from None


def _verification(work: VerifyJob) -> VerifyJob:
    """The same, with paths valid from any folder.

    Raises:
        UsageError: there is nothing to check the text against.
    """
    if not work.paths and not work.web:
        raise UsageError("there is nothing to check the text against: name documents, or allow the web")
    return msgspec.structs.replace(
        work,
        file=places.absolute_path(work.file),
        output=places.absolute_path(work.output),
        paths=absolute_sources(work.paths),
    )


def make_worker(context: Context, slots: int, say: ProgressLog | None) -> JobWorker:
    """Make a worker for jobs in this process; see `Assay.job_worker`."""
    check_least(1, slots=slots)
    every, workers = context.owned_by(None), context.settings.workers
    return JobWorker(
        jobs_of(every),
        handlers(every),
        every.clock,
        every.store.journal.listen,
        JobWorkerLimits(slots=slots, per_user=workers.per_user, ttl=workers.lease, tells_all=every.store.tells_all),
        say or log.info,
    )
