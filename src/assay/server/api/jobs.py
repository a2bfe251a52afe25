"""Jobs: long work for workers (`assay worker`)."""

from __future__ import annotations

import msgspec

from assay.core.ports.jobs import Job, JobFilter, JobState
from assay.server.api.documents import named_alone
from assay.server.api.run_requests import RequestBody
from assay.server.wire import Endpoints, RouteCall
from assay.services.jobs.specifications import SyncJob

routes = Endpoints("jobs")

LISTED = 100


class JobWanted(RequestBody, frozen=True, kw_only=True):
    """A job to begin: `sync` names a collection whose places to look at again."""

    sync: str


class JobShown(msgspec.Struct, frozen=True, kw_only=True):
    """A job. `seq` counts its updates, `line` is the latest progress message, `finished` of `total` parts are done.

    `stopping` says that it was cancelled and its worker has not stopped yet. `error` says why it failed.
    """

    id: str
    kind: str
    name: str
    state: JobState
    seq: int
    line: str
    finished: int
    total: int
    stopping: bool
    priority: int
    tries: int
    warnings: tuple[str, ...]
    error: str
    created_at: str
    updated_at: str


class JobList(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs, newest first."""

    jobs: tuple[JobShown, ...]


@routes.get("/jobs")
async def list_jobs(call: RouteCall) -> JobList:
    """List jobs in progress and those that ended in the last 30 days, newest first."""
    return JobList(jobs=tuple(map(_shown, await call.assay.jobs(JobFilter(limit=LISTED)))))


@routes.post("/jobs", status=202)
async def begin_job(call: RouteCall, body: JobWanted) -> JobShown:
    """Queue a job that looks again at every place a collection was added from."""
    made = await call.backend.begin_job(call.owner, SyncJob(collection=body.sync))
    call.about(made.id)
    return _shown(made)


@routes.get("/jobs/{job}")
async def show_job(call: RouteCall, job: str) -> JobShown:
    """Show a job."""
    return _shown(await call.assay.job(job))


@routes.post("/jobs/{job}/cancel")
async def cancel_job(call: RouteCall, job: str) -> JobShown:
    """End a job: at once if it waits, within seconds if a worker has it. Completed work stays."""
    return _shown(await call.assay.cancel_job(job))


@routes.post("/jobs/{job}/retry")
async def retry_job(call: RouteCall, job: str) -> JobShown:
    """Queue a failed or cancelled job again; completed work is not repeated."""
    return _shown(await call.backend.retry_job(call.owner, job))


def _shown(job: Job) -> JobShown:
    fields = {
        "line": named_alone(job.line),
        "error": named_alone(job.error),
        "warnings": tuple(map(named_alone, job.result.get("warnings", ()))),
    }
    return msgspec.convert(msgspec.structs.asdict(job) | fields, JobShown)
