"""The watchdog names what holds up an event loop."""

from __future__ import annotations

import asyncio
import time

import pytest

from assay.telemetry.watchdog import Stall, Watchdog

pytestmark = pytest.mark.skipif(not hasattr(time, "pthread_getcpuclockid"), reason="no processor time of threads here")


def counts_for(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


async def test_what_holds_up_the_loop_is_named() -> None:
    told: list[Stall] = []
    async with Watchdog(tell=told.append) as watchdog:
        await asyncio.sleep(0.05)
        counts_for(0.3)
        await asyncio.sleep(0.05)
    assert told == watchdog.stalls
    assert len(told) == 1
    assert told[0].seconds > 0.25
    assert "counts_for" in "".join(told[0].stack)
    assert "test_watchdog.py" in str(told[0])


async def test_work_in_a_thread_and_waiting_are_no_stalls() -> None:
    async with Watchdog(0.2) as watchdog:
        await asyncio.to_thread(counts_for, 0.3)
        time.sleep(0.3)  # no processor time: as on a machine which is busy with other things
        await asyncio.sleep(0.05)
    assert watchdog.stalls == []


async def test_it_ends_with_the_block() -> None:
    async with Watchdog() as watchdog:
        await asyncio.sleep(0)
    counts_for(0.1)
    await asyncio.sleep(0.05)
    assert watchdog.stalls == []
