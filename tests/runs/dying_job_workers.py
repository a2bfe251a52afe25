"""A worker in a process of its own which dies when it has done a job, before it could say so."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

from assay import Assay
from assay.settings import Settings, load

LEASE = 1.0


def configured(database: str, place: str) -> Settings:
    """The same library for all processes."""
    where: dict[str, Any] = {"database": database, "blobs": str(Path(place) / "blobs")} if database else {}
    return load(search={"offline": True}, workers={"lease": LEASE, "jobs": 1}, **where)


def work(database: str, place: str) -> None:
    """Do one job, and die."""
    asyncio.run(_work(database, place))


async def _work(database: str, place: str) -> None:
    async with Assay(configured(database, place), home=Path(place) / "home") as assay:
        worker = assay.job_worker(1, lambda _: None)

        async def killed(*_: Any) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        worker._end = killed  # type: ignore[method-assign]
        await worker.work()


def freeze(database: str, place: str) -> None:
    """Do one job, be stopped before that is said, and say it when somebody has this process continue."""
    asyncio.run(_freeze(database, place))


async def _freeze(database: str, place: str) -> None:
    async with Assay(configured(database, place), home=Path(place) / "home") as assay:
        worker = assay.job_worker(1, lambda _: None)
        end = worker._end

        async def late(*said: Any) -> None:
            os.kill(os.getpid(), signal.SIGSTOP)
            await end(*said)
            worker.stop()

        worker._end = late  # type: ignore[method-assign]
        await worker.work()
