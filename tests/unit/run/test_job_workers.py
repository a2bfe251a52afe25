"""A worker of jobs whose job another worker has taken."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest
from queued_jobs import by, job

from assay.run.job_worker import JobInHand, JobWorker, JobWorkerLimits, Result
from assay.run.process import SystemClock
from assay.store.sql import open_store

TTL, SECONDS = 0.4, 60


async def test_a_job_lost_while_it_is_written_is_told_once_and_logged_by_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wall = [1_800_000_000.0]
    store, lines = open_store(tmp_path, wall=lambda: wall[0]), list[str]()

    async def lose(hand: JobInHand) -> Result:
        while await store.jobs.claim(by("another", ttl=60.0)) is None:  # this one may have renewed it just now
            wall[0] += 10
        try:
            await asyncio.sleep(SECONDS)
        finally:  # it was writing when it heard that the job is lost
            await hand.store_changes()
        return {}

    limits = JobWorkerLimits(slots=1, per_user=0, ttl=TTL, tells_all=False)
    worker = JobWorker(store.jobs, {"add": lose}, SystemClock(), store.journal.listen, limits, lines.append)
    await store.jobs.put([job("a")])
    async with asyncio.timeout(SECONDS):
        await worker.work(until_empty=True)
    gc.collect()
    await asyncio.sleep(0)
    assert (await store.jobs.find("a")).holder == "another"
    assert (len(lines), lines[0]) == (2, "job a (name of a): started")
    assert lines[1].startswith("job a: job a was taken over from")
    assert "never retrieved" not in caplog.text
    await store.close()
