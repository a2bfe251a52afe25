"""The queue: runs which wait for a worker."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol, Self

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
