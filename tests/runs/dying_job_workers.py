"""A worker in a process of its own which dies when it has done a job, before it could say so."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

from sqlalchemy import update

from assay import Assay
from assay.services.jobs import ingestion
from assay.settings import Settings, load
from assay.store.sql.jobs import SqlJobs
from assay.store.sql.tables import jobs

LEASE = 1.0
DONE = "done"
"""The file of a worker which has done its job, and has not said so."""


def configured(database: str, place: str, *, offline: bool = True) -> Settings:
    """The same library for all processes."""
    where: dict[str, Any] = {"database": database, "blobs": str(Path(place) / "blobs")} if database else {}
    web = {"allow": "127.0.0.1", "robots": False}
    return load(search={"offline": offline}, web=web, workers={"lease": LEASE, "jobs": 1}, **where)


async def run_out(assay: Assay) -> None:
    """Let the leases of dead workers run out at once, as after `LEASE` seconds."""
    store = assay._context.store.jobs
    assert isinstance(store, SqlJobs)
    await store._transactions.execute(update(jobs).where(jobs.c.state == "running").values(lease_until=0.0))


def work(
    database: str, place: str, stored: int = 0, part: int = ingestion.FILES_PER_PART, offline: bool = True
) -> None:
    """Do one job more than `stored`, which are told of, and die; `part` files make a part."""
    ingestion.FILES_PER_PART = part
    asyncio.run(_work(configured(database, place, offline=offline), place, stored))


async def _work(settings: Settings, place: str, stored: int) -> None:
    async with Assay(settings, home=Path(place) / "home") as assay:
        worker = assay.job_worker(1, lambda _: None)
        end, left = worker._store_result, stored

        async def killed(*arguments: Any) -> None:
            nonlocal left
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            await end(*arguments)

        worker._store_result = killed  # type: ignore[method-assign]
        await worker.work()


def linger(database: str, place: str) -> None:
    """Do one job, and say so only when the file which then lies there is gone: until then it may be stopped."""
    asyncio.run(_linger(database, Path(place)))


async def _linger(database: str, place: Path) -> None:
    async with Assay(configured(database, str(place)), home=place / "home") as assay:
        worker = assay.job_worker(1, lambda _: None)
        end = worker._store_result

        async def late(*arguments: Any) -> None:
            (place / DONE).touch()
            while (place / DONE).exists():
                await asyncio.sleep(0.02)
            await end(*arguments)
            worker.stop()

        worker._store_result = late  # type: ignore[method-assign]
        await worker.work()
