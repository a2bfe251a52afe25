"""Work which waits for a worker: runs in the queue, and jobs, which another worker goes on with where one has died."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, Protocol, Self

import msgspec

from assay.core.ports.journal import Lease

QUEUE_NEWS = ":queue"
"""What `Journal.listen` tells when a run can be taken out of the queue; no run is called so."""
MOST_TAKEN = 20
"""A run which so many workers have taken up, and left without a last word, is offered to none any more."""
PRIORITIES = range(-100, 101)
"""Priorities a run may have in the queue; the highest is taken first."""


class QueueLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How many queued runs may be executed at once, altogether and of one user; 0 is no limit."""

    running: int = 0
    per_user: int = 0


class QueuedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run in the queue. `ready` says that a worker may take it; one that waits for a person is not.

    `holder` is who executes it, empty for nobody; `taken` how often a worker took it up; `release` the version of Assay
    which made it, empty where that is not known.
    """

    run_id: str
    user: str
    priority: int
    ready: bool
    taken: int
    holder: str
    release: str = ""


class QueueDepth(msgspec.Struct, frozen=True, kw_only=True):
    """How many runs are in the queue: those which wait for a worker, are executed, or wait for a person (parked)."""

    waiting: int = 0
    executed: int = 0
    parked: int = 0


Unfit = Callable[[str], bool]
"""Whether runs of a release are none for us."""


class Queue(Protocol):
    """Runs which wait for a worker, over the same store as the journal."""

    def owned_by(self, owner: str | None) -> Self:
        """The same queue, in which one owner sees and changes his own runs alone; None sees all. A claim takes any."""
        ...

    async def enqueue(self, run_id: str, user: str = "", priority: int = 0, release: str = "") -> None:
        """Have a worker take the run up; one that is queued already is ready again, with this priority.

        `release` is the version of Assay which made it.

        Raises:
            UnknownName: no such run.
        """
        ...

    async def claim(
        self,
        holder: str,
        ttl: float,
        limits: QueueLimits,
        but: Collection[str] = (),
        unfit: Unfit | None = None,
    ) -> Lease | None:
        """Take the lease of the run whose turn it is, None where there is none for us.

        The highest priority goes first; then the user with the fewest runs in execution, then who came first. No two
        processes claim at the same time, so limits hold exactly. A run in the queue whose lease has expired is there
        to be claimed again. Those named in `but`, and those of an `unfit` release, are left to others.
        """
        ...

    async def park(self, run_id: str) -> None:
        """The run waits for a person: no worker takes it up until `wake`."""
        ...

    async def wake(self, run_id: str) -> bool:
        """It may be taken up again; False where it is not in the queue."""
        ...

    async def leave(self, run_id: str) -> None:
        """The run has ended, or somebody else goes on with it."""
        ...

    async def queued(self, limit: int = 1_000) -> list[QueuedRun]:
        """What is in the queue, those in execution too; the highest priority first, then who came first."""
        ...

    async def depth(self) -> QueueDepth:
        """How many runs are in the queue."""
        ...


JOBS_NEWS = ":jobs"
"""What `Journal.listen` tells when there are jobs to do, or fewer; no run is called so."""
MOST_TRIED = 5
"""A job which so many workers have taken up, and left without a word, has failed: it may be what kills them."""

JobState = Literal["waiting", "running", "done", "failed", "cancelled"]
JOB_ENDED: frozenset[JobState] = frozenset(("done", "failed", "cancelled"))


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of long work.

    `kind` names the handler which does it, with `arguments`; `name` is what a person calls it. `parent` is the job
    which was split into this one and others. It is taken up from `due` on (seconds since 1970), the highest `priority`
    first. `seq` counts what was said of it; `line` is the last word on how it goes, `finished` of `total` steps are
    done (0 where nobody knows how many there are), `result` is what came of it. `notes` are kept for who goes on with
    it. `tries` counts the workers which took it up since it was last queued; `holder` is who has it, `fence` the number
    of his lease, `stopping` says that he is to stop. `release` is the version of Assay which made it. A periodic job
    has the seconds from one to the next in `every`: when it is done, or has failed, the next one waits.
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
    """Which jobs are listed: of these states, of a parent ("" for those which have none, None for all)."""

    states: frozenset[JobState] = frozenset()
    parent: str | None = ""
    limit: int = 100


TOP = JobFilter()
"""The newest jobs which are no part of another."""


class JobClaim(msgspec.Struct, frozen=True, kw_only=True):
    """Who claims a job, and which: of these `kinds`, of at most `per_user` of one owner at once (0: no limit).

    `parent` confines it to the parts of one job; `but`, and those of an `unfit` release, are left to others.
    """

    holder: str
    ttl: float
    kinds: Collection[str]
    per_user: int = 0
    parent: str | None = None
    but: Collection[str] = ()
    unfit: Unfit | None = None


class Jobs(Protocol):
    """Jobs over the same store as the journal. Whoever claimed one holds its lease: others' words are refused."""

    def owned_by(self, owner: str | None) -> Self:
        """The same, in which one owner sees and changes his own jobs alone; None sees all. A claim takes any."""
        ...

    async def put(self, jobs: Sequence[Job], at_once: int | None = None) -> int:
        """Store these jobs in one transaction, but for those whose id is known; how many were new.

        Raises:
            TooMany: `at_once` jobs wait or are done already, parts and periodic ones which are not due left out.
        """
        ...

    async def find(self, id: str) -> Job:
        """A job by its id.

        Raises:
            UnknownName: there is none.
        """
        ...

    async def list(self, wanted: JobFilter = TOP) -> list[Job]:
        """Newest first."""
        ...

    async def count(self, parent: str | None = None) -> dict[JobState, int]:
        """How many jobs there are in each state; with `parent`, of its parts."""
        ...

    async def noted(self, parent: str) -> Sequence[dict[str, Any]]:
        """The `notes` of those parts of a job which are done, in their order."""
        ...

    async def until_due(self) -> float | None:
        """Seconds until a job which waits is due, or the lease of one runs out, 0 where one is; None: there is none."""
        ...

    async def until_again(self, claim: JobClaim) -> float | None:
        """Seconds until a job which failed for now, and which may be claimed so, is due again; None: there is none."""
        ...

    async def claim(self, claim: JobClaim) -> Job | None:
        """Take the job whose turn it is; None where there is none for us.

        The highest priority goes first, then the owner with the fewest jobs in execution, then who came first. A job
        which waits for its parts is not in execution. No two processes claim at the same time. A job whose lease has
        expired is there to be claimed again; one which `MOST_TRIED` workers have left so fails instead, and is kept for
        `retry`.
        """
        ...

    async def renew(self, job: Job, ttl: float) -> bool:
        """Hold it for longer; False where it is to stop.

        Raises:
            FenceLost: it is another's now, or has ended.
        """
        ...

    async def keep(self, job: Job, parts: Sequence[Job] = (), pause: float = 0.0) -> None:
        """Store what is to be said of a job in hand, under its next `seq`, and its new parts, in one transaction.

        One that is waiting or has ended then is let go of; a periodic one which is done or has failed is followed by
        the next in the same transaction, and one that has ended takes those of its parts with it which have not. With
        a `pause` it is due after so many seconds, by the store's clock.

        Raises:
            FenceLost: it is another's now, or has ended.
        """
        ...

    async def cancel(self, id: str) -> Job:
        """End a job which waits, and have one which runs stop; its parts too. One that failed is given up.

        Raises:
            UnknownName: there is none.
        """
        ...

    async def retry(self, id: str, at_once: int | None = None) -> Job:
        """Have a job which failed or was cancelled taken up again, and its parts which did not get done.

        Raises:
            TooMany: `at_once` jobs wait or are done already.
            UnknownName: there is none.
            UsageError: it has done what it was to do, or is on its way.
        """
        ...

    async def forget(self, before: str, *, failed: bool = False) -> int:
        """Forget jobs which ended before a moment (ISO 8601 UTC), with their parts; how many.

        One which failed waits for somebody to look at it, and is forgotten only with `failed`, or as it is periodic.
        """
        ...
