"""A job in hand: what who does it says of it, and how it goes on with its parts."""

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
    """A job which this process has claimed. What is said of it is stored under its fence, one word after the other."""

    def __init__(self, jobs: Jobs, job: Job, clock: Clock, part: Callable[[str], Awaitable[bool]]) -> None:
        self.job, self.jobs = job, jobs
        self._clock, self._part, self._turn = clock, part, asyncio.Lock()
        self._line, self._notes = job.line, dict(job.notes)
        self.stopped = False
        """Whether its owner ended it; a worker which is to stop leaves it to others."""

    def work(self, of: type[W]) -> W:
        """What it was asked to do."""
        return msgspec.convert(self.job.arguments | {"kind": self.job.kind}, of)

    def tell(self, line: str) -> None:
        """The last word on how it goes, from any thread; it is stored with the next sign of life (`flush`)."""
        self._line = line

    def note(self, **said: Any) -> None:
        """Keep these beside the job, for who goes on with it or asks for its figures; stored with its next word."""
        self._notes = self._notes | said  # not in place: the writer's thread may be reading what was

    async def flush(self) -> None:
        """Store the last word, if it is new."""
        if self._line != self.job.line:
            await self.keep()

    async def keep(self, parts: Sequence[Job] = (), pause: float = 0.0, **changed: Any) -> None:
        """Store what changed, and new parts of it, in one transaction; with a `pause`, when it is to be tried again.

        Raises:
            FenceLost: it is another process's now.
        """
        async with self._turn:
            said = {"line": self._line, "notes": self._notes, **changed, "updated_at": self._clock.now()}
            if changed.get("finished", 0) > self.job.finished:
                said["tries"] = 1  # a job which gets on is not what kills its workers
            now = msgspec.structs.replace(self.job, **said)
            await self.jobs.keep(now, parts, pause)
            self.job = now

    async def help(self) -> None:
        """Do one of its parts here, or wait a moment where there is none to do."""
        if not await self._part(self.job.id):
            await asyncio.sleep(HELP)


Result = Mapping[str, Any]
Handler = Callable[[JobInHand], Awaitable[Result]]
"""Does a job and gives what came of it; what was done before a worker died it does not do again."""
