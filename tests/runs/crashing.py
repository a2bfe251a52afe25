"""A process that researches and may be killed at a chosen store write; run by test_crash.py in real child processes."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Awaitable
from pathlib import Path
from typing import Any

from assay import Assay, plugins
from assay.core.messages import Delta, Profile, Reply, Request
from assay.core.ports import Access, Commit, Lease, Model
from assay.export import json as exporter
from assay.run.steps import digest

QUESTION = "Who wrote the charter of Velden, and when was the lighthouse of Aru finished?"

DOCUMENTS = {
    "velden.md": "# Velden\n\nThe charter of Velden was written by Mara Lind in 1741. It has 12 articles.\n\n"
    "The town kept the charter in the chapel until 1903.\n",
    "aru.md": "# Aru\n\nThe lighthouse of Aru was finished on 3 May 1862. It is 41 metres high.\n\n"
    "Its keeper was Jon Brae. The lamp burns oil.\n",
    "noise.md": "# Bread\n\nBread is baked from flour and water. Salt is added later.\n",
}


class Counted:
    """The built-in model, each call written to a file outside the database before it is answered."""

    def __init__(self, inner: Model, log: Path) -> None:
        self._inner, self._log = inner, log

    @property
    def profile(self) -> Profile:
        return self._inner.profile

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        with self._log.open("a") as file:
            file.write(digest(request) + "\n")
        await asyncio.sleep(0.004)
        async for item in self._inner.stream(request):
            yield item


class Killing:
    """A journal which kills its own process just before the `n`-th write, or just after it is durable."""

    def __init__(self, inner: Any, at: int, *, after: bool) -> None:
        self._inner, self._left, self._after = inner, at, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def commit(self, lease: Lease, commit: Commit) -> Awaitable[Any]:
        self._left -= 1
        if self._left == 0 and not self._after:
            os.kill(os.getpid(), signal.SIGKILL)
        written = self._inner.commit(lease, commit)
        return self._die(written) if self._left == 0 else written

    async def _die(self, written: Awaitable[Any]) -> Any:
        await written
        os.kill(os.getpid(), signal.SIGKILL)


def research(home: str, sources: str, log: str, result: str, resume: bool, kill_at: int, after: bool) -> None:
    """Start the run, or resume the last; write its report and the number of writes to `result`."""
    asyncio.run(_research(Path(home), Path(sources), Path(log), Path(result), resume, kill_at, after))


async def _research(
    home: Path, sources: Path, log: Path, result: Path, resume: bool, kill_at: int, after: bool
) -> None:
    models = {"extractive": Counted(plugins.load("models", "extractive")("", Access()), log)}
    async with Assay(home=home, models=models) as assay:
        writes = Killing(assay._engine.journal, kill_at or -1, after=after)
        assay._engine.journal = writes  # type: ignore[assignment]
        run = await assay.resume("last") if resume else assay.start(QUESTION, sources=[sources], depth="medium")
        view = await run.view()
        made = -1 - writes._left if kill_at == 0 else 0
    result.write_bytes(b"%d\n" % made + exporter.render(view))
