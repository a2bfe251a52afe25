"""A worker in a process of its own which dies when it has done a job, before it could say so."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

from assay import Assay
from assay.services.jobs import ingestion
from assay.settings import Settings, load

LEASE = 1.0


def configured(database: str, place: str, *, offline: bool = True) -> Settings:
    """The same library for all processes."""
    where: dict[str, Any] = {"database": database, "blobs": str(Path(place) / "blobs")} if database else {}
    web = {"allow": "127.0.0.1", "robots": False}
    return load(search={"offline": offline}, web=web, workers={"lease": LEASE, "jobs": 1}, **where)


def work(database: str, place: str, stored: int = 0, part: int = ingestion.PART, offline: bool = True) -> None:
    """Do one job more than `stored`, which are told of, and die; `part` files make a part."""
    ingestion.PART = part
    asyncio.run(_work(configured(database, place, offline=offline), place, stored))


async def _work(settings: Settings, place: str, stored: int) -> None:
    async with Assay(settings, home=Path(place) / "home") as assay:
        worker = assay.job_worker(1, lambda _: None)
        end, left = worker._end, stored

        async def killed(*said: Any) -> None:
            nonlocal left
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            await end(*said)

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
