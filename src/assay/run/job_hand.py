"""A job in hand: how its handler stores progress and works with its parts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from assay.core.ports import Clock
from assay.core.ports.jobs import Job, Jobs

HELP = 0.25
"""Seconds between two looks for a part to help with."""


W = TypeVar("W", bound=msgspec.Struct)


class JobInHand:
    """A job that this process has claimed. Updates are stored under its fence, one after the other."""

    def __init__(self, jobs: Jobs, job: Job, clock: Clock, part: Callable[[str], Awaitable[bool]]) -> None:
        self.job, self.jobs = job, jobs
        self._clock, self._part, self._turn = clock, part, asyncio.Lock()
        self._line, self._notes = job.line, dict(job.notes)
        self.stopped = False
        """Whether its owner ended it. A worker that shuts down leaves it to others."""

    def work(self, of: type[W]) -> W:
        """The job's arguments, decoded."""
        return msgspec.convert(self.job.arguments | {"kind": self.job.kind}, of)

    def tell(self, line: str) -> None:
        """Set the latest progress message, from any thread. It is stored with the next sign of life (`flush`)."""
        self._line = line

    def note(self, **said: Any) -> None:
        """Add notes for whoever continues the job or asks for its figures. They are stored with the next update."""
        self._notes = self._notes | said  # not in place: the writer's thread may be reading the old ones

    async def flush(self) -> None:
        """Store the latest progress message, if it is new."""
        if self._line != self.job.line:
            await self.keep()

    async def keep(self, parts: Sequence[Job] = (), pause: float = 0.0, **changed: Any) -> None:
        """Store changes and new parts in one transaction; with a `pause`, also when the job is due again.

        Raises:
            FenceLost: another process has the job now.
        """
        async with self._turn:
            said = {"line": self._line, "notes": self._notes, **changed, "updated_at": self._clock.now()}
            if changed.get("finished", 0) > self.job.finished:
                said["tries"] = 1  # a job that makes progress is not what kills its workers
            now = msgspec.structs.replace(self.job, **said)
            await self.jobs.keep(now, parts, pause)
            self.job = now

    async def help(self) -> None:
        """Do one of its parts here, or wait a moment if there is none to do."""
        if not await self._part(self.job.id):
            await asyncio.sleep(HELP)


Result = Mapping[str, Any]
Handler = Callable[[JobInHand], Awaitable[Result]]
"""Does a job and returns its result. It does not repeat what was done before a worker died."""
