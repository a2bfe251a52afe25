"""The watchdog names what holds up an event loop."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from inner_pytest import environment
from stalling import unstalled

from assay.telemetry.watchdog import Stall, Watchdog

pytestmark = pytest.mark.skipif(not hasattr(time, "pthread_getcpuclockid"), reason="no processor time of threads here")


TESTS = Path(__file__).parents[2]


def counts_for(seconds: float) -> None:
    """Compute for so long; on a busy machine longer, until other threads have had their turns meanwhile."""
    turns = threading.Thread(target=lambda: [time.sleep(0.02) for _ in range(5)])
    turns.start()
    until = time.thread_time() + seconds
    while time.thread_time() < until or turns.is_alive():
        pass


async def test_what_holds_up_the_loop_is_named() -> None:
    received: list[Stall] = []
    async with Watchdog(tell=received.append) as watchdog:
        await asyncio.sleep(0.05)
        counts_for(0.3)
        await asyncio.sleep(0.05)
    assert received == watchdog.stalls
    assert len(received) == 1
    assert received[0].seconds > 0.25
    assert "counts_for" in "".join(received[0].stack)
    assert "test_watchdog.py" in str(received[0])


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


async def test_a_test_which_holds_up_its_loop_fails_and_is_told_by_what() -> None:
    async def held_up() -> None:
        async with unstalled(0.1):
            await asyncio.sleep(0.02)
            counts_for(0.3)
            await asyncio.sleep(0.05)

    with pytest.raises(AssertionError, match="counts_for"):
        await held_up()


def test_the_option_tells_what_held_up_the_tests(tmp_path: Path) -> None:
    test = "import asyncio, time\n\nasync def test_it():\n    await asyncio.sleep(0.02)\n"
    test += "    until = time.thread_time() + 0.5\n    while time.thread_time() < until:\n        pass\n"
    (tmp_path / "test_held_up.py").write_text(test + "    await asyncio.sleep(0.05)\n")
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "--stalls=100", "-p", "conftest", str(tmp_path)]
    support = os.pathsep.join(map(str, (TESTS, TESTS / "support")))
    done = subprocess.run(
        [*command, "--rootdir", str(tmp_path), "-o", "asyncio_mode=auto", "-c", os.devnull],
        env=environment(PYTHONPATH=support),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "test_held_up.py::test_it: the event loop was held up for" in done.stdout, done.stdout + done.stderr
