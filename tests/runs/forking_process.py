"""A process that executes a fork and may be killed at one of its writes; run by test_forking_killed.py as a child."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Awaitable
from pathlib import Path
from typing import Any

from assay import Assay, plugins, settings
from assay.core.messages import Delta, Profile, Reply, Request
from assay.core.ports import Access, Commit, Lease, Model
from assay.run.steps import digest


class Noted:
    """The built-in model; each answer is written to a file outside the store, under what the request is about."""

    def __init__(self, inner: Model, log: Path) -> None:
        self._inner, self._log = inner, log

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @property
    def profile(self) -> Profile:
        return self._inner.profile

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        async for item in self._inner.stream(request):
            if isinstance(item, Reply):
                with self._log.open("a") as file:
                    file.write(f"{request.task} {digest(request)}\n")
            yield item


class Killing:
    """A journal which kills its own process just before its `n`-th commit, or, with an even number, just after it."""

    def __init__(self, inner: Any, at: int) -> None:
        self._inner, self._at, self.commits = inner, at, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def commit(self, lease: Lease, commit: Commit) -> Awaitable[Any]:
        self.commits += 1
        if self.commits == self._at and self._at % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        written = self._inner.commit(lease, commit)
        return self._die(written) if self.commits == self._at else written

    async def _die(self, written: Awaitable[Any]) -> Any:
        await written
        os.kill(os.getpid(), signal.SIGKILL)


def execute(home: str, run_id: str, log: str, kill_at: int) -> None:
    """Take the run up and go on to its end; how many commits that took goes to the log's last line."""
    asyncio.run(_execute(Path(home), run_id, Path(log), kill_at))


async def _execute(home: Path, run_id: str, log: Path, kill_at: int) -> None:
    model = Noted(plugins.load("models", "extractive")("", Access()), log)
    async with Assay(settings.load(), home=home, models={"extractive": model}) as assay:
        writes = Killing(assay._context.engine.journal, kill_at)
        assay._context.engine.journal = writes
        await (await assay.resume(run_id)).report()
        with log.open("a") as file:
            file.write(f"commits {writes.commits}\n")
