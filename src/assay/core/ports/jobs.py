"""Work for workers: queued runs, and jobs, which another worker continues if one dies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, Protocol, Self

import msgspec

from assay.core.ports.journal import Lease

QUEUE_NEWS = ":queue"
"""The id `Journal.listen` reports when a queued run is ready; no run has this id."""
MAX_RUN_CLAIMS = 20
"""A run that this many workers have taken up without ending it is offered to none any more."""
PRIORITIES = range(-100, 101)
"""Priorities a run may have in the queue; the highest is taken first."""


class QueueLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How many queued runs may execute at once, in total and per user; 0 is no limit."""

    running: int = 0
    per_user: int = 0


class QueuedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run in the queue. `ready` says that a worker may take it; a run that waits for a person is not ready.

    `holder` is the process that executes it, empty for none. `taken` counts how often a worker took it up. `release` is
    the version of Assay that created it, empty if unknown.
    """

    run_id: str
    user: str
    priority: int
    ready: bool
    taken: int
    holder: str
    release: str = ""


class QueueDepth(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of the runs in the queue that wait for a worker, are executed, or wait for a person (parked)."""

    waiting: int = 0
    executed: int = 0
    parked: int = 0


IsUnfit = Callable[[str], bool]
"""Says whether this worker must leave the runs of a release to others."""


class Queue(Protocol):
    """Runs that wait for a worker, over the same store as the journal."""

    def owned_by(self, owner: str | None) -> Self:
        """Return the same queue as one owner sees it: their own runs. None sees all. A claim takes any run."""

    async def enqueue(self, run_id: str, user: str = "", priority: int = 0, release: str = "") -> None:
        """Queue the run for a worker. A run that is in the queue already becomes ready again, with this priority.

        `release` is the version of Assay that created it.

        Raises:
            UnknownName: there is no such run.
        """

    async def claim(
        self, holder: str, ttl: float, limits: QueueLimits, but: Collection[str] = (), unfit: IsUnfit | None = None
    ) -> Lease | None:
        """Take the lease of the next run; None if there is none to take.

        The highest priority goes first, then the user with the fewest runs in execution, then the oldest entry. Only
        one process claims at a time, so limits hold exactly. A queued run whose lease has expired can be claimed again.
        Runs named in `but`, and runs of an `unfit` release, are left to others.
        """

    async def park(self, run_id: str) -> None:
        """Mark the run as waiting for a person: no worker takes it up until `wake`."""

    async def wake(self, run_id: str) -> bool:
        """Make a parked run ready again; False if it is not in the queue."""

    async def remove(self, run_id: str) -> None:
        """Take the run out of the queue: it has ended, or another process continues it."""

    async def list_runs(self, limit: int = 1_000, *, running: bool = False) -> list[QueuedRun]:
        """The runs in the queue, including those in execution: highest priority first, then oldest first.

        With `running`, only those in execution.
        """

    async def depth(self) -> QueueDepth:
        """Count the runs in the queue by state."""


JOBS_NEWS = ":jobs"
"""The id `Journal.listen` reports when jobs become ready, or fewer remain; no run has this id."""
MAX_JOB_TRIES = 5
"""A job that this many workers have taken up without progress has failed: it may be what kills them."""

JobState = Literal["waiting", "running", "done", "failed", "cancelled"]
JOB_ENDED: frozenset[JobState] = frozenset(("done", "failed", "cancelled"))


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of long work.

    `kind` names the handler that does it, with `arguments`; `name` is what a person calls it. `parent` is the job of
    which this one is a part. It can be taken up from `due` on (seconds since 1970), the highest `priority` first.

    `seq` counts its updates. `line` is the latest progress message; `finished` of `total` steps are done (0 if the
    total is unknown); `result` is the outcome. `notes` are kept for the process that continues it.

    `tries` counts the workers that took it up since it was last queued; `holder` has it now, `fence` is the number of
    the holder's lease, and `stopping` tells the holder to stop. `release` is the version of Assay that created it.
    `every` is the interval of a periodic job in seconds: when it is done or has failed, the next one is queued.
    """

    id: str
    kind: str
    name: str
    created_at: str
    updated_at: str
    owner: str = ""
    parent: str = ""
    release: str = ""
    arguments: dict[str, Any] = {}
    priority: int = 0
    due: float = 0.0
    state: JobState = "waiting"
    seq: int = 1
    line: str = ""
    finished: int = 0
    total: int = 0
    result: dict[str, Any] = {}
    notes: dict[str, Any] = {}
    warnings: tuple[str, ...] = ()
    error: str = ""
    tries: int = 0
    holder: str = ""
    fence: int = 0
    stopping: bool = False
    every: int = 0


class JobFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which jobs to list: with these states, with a parent ("" for jobs without one, None for all)."""

    states: frozenset[JobState] = frozenset()
    parent: str | None = ""
    limit: int = 100


TOP_LEVEL_JOBS = JobFilter()
"""The newest jobs that are not parts of another."""


class JobClaim(msgspec.Struct, frozen=True, kw_only=True):
    """Who claims a job, and which: of these `kinds`, at most `per_user` of one owner at once (0: no limit).

    `parent` restricts it to the parts of one job. `but`, and jobs of an `unfit` release, are left to others.
    """

    holder: str
    ttl: float
    kinds: Collection[str]
    per_user: int = 0
    parent: str | None = None
    but: Collection[str] = ()
    unfit: IsUnfit | None = None


class Jobs(Protocol):
    """Jobs over the same store as the journal. Only the holder of a claimed job may update it."""

    def owned_by(self, owner: str | None) -> Self:
        """Return the same as one owner sees it: only their own jobs. None sees all. A claim takes any owner's jobs."""

    async def put(self, jobs: Sequence[Job], at_once: int | None = None) -> int:
        """Store these jobs in one transaction, except those whose id exists, and return how many were new.

        Raises:
            TooMany: `at_once` jobs are waiting or in progress already, not counting parts and periodic jobs that are
                not due.
        """

    async def find(self, id: str) -> Job:
        """Return the job with this id.

        Raises:
            UnknownName: there is none.
        """

    async def list(self, job_filter: JobFilter = TOP_LEVEL_JOBS) -> list[Job]:
        """The jobs that match, newest first."""

    async def count(self, parent: str | None = None) -> dict[JobState, int]:
        """Count jobs by state; with `parent`, only its parts."""

    async def part_notes(self, parent: str) -> Sequence[dict[str, Any]]:
        """The `notes` of the completed parts of a job, in their order."""

    async def seconds_until_due(self) -> float | None:
        """Seconds until a waiting job is due or a lease expires; 0 if one is due now, None if there is none."""

    async def seconds_until_retry(self, claim: JobClaim) -> float | None:
        """Seconds until a temporarily failed job that this claim may take is due again; None if there is none."""

    async def claim(self, claim: JobClaim) -> Job | None:
        """Take the next job; None if there is none to take.

        The highest priority goes first, then the owner with the fewest jobs in execution, then the oldest. A job that
        waits for its parts is not in execution. Only one process claims at a time. A job whose lease has expired can be
        claimed again; one that `MAX_JOB_TRIES` workers have left that way, and of which no part was done meanwhile,
        fails instead and stays for `retry`.
        """

    async def renew(self, job: Job, ttl: float) -> bool:
        """Extend the lease; False if the job is to stop.

        Raises:
            FenceLost: another process has it, or it has ended.
        """

    async def update(self, job: Job, parts: Sequence[Job] = (), pause: float = 0.0) -> None:
        """Store an update of a claimed job under its next `seq`, and its new parts, in one transaction.

        An update that makes it waiting or ended releases it. A periodic job that is done or has failed is followed by
        the next one in the same transaction; a job that ends also ends its unfinished parts. With a `pause` it is due
        after that many seconds, by the store's clock.

        Raises:
            FenceLost: another process has it, or it has ended.
        """

    async def cancel(self, id: str) -> Job:
        """End a waiting job, or tell a running one to stop, with its parts. A failed job is given up.

        Raises:
            UnknownName: there is none.
        """

    async def retry(self, id: str, at_once: int | None = None) -> Job:
        """Queue a failed or cancelled job again, with its unfinished parts.

        Raises:
            TooMany: `at_once` jobs are waiting or in progress already.
            UnknownName: there is none.
            UsageError: the job is done, waiting or in progress.
        """

    async def forget(self, before: str, *, failed: bool = False) -> int:
        """Delete jobs that ended before a moment (ISO 8601 UTC), with their parts, and return how many.

        A failed job stays until somebody looks at it: it is deleted only if it is periodic, or with `failed`.
        """
