"""`assay worker`: whether one lives, and what it says in which form."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import warm
from serving import WAIT, environment
from waiting import until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are stopped by signals")


@contextmanager
def worker(home: Path, log: Path, **variables: str) -> Iterator[Any]:
    """A worker over a home, whose words are in `log`, until the block ends."""
    with log.open("wb") as stderr:
        process = warm.start("worker", env=environment(home, **variables), stdout=stderr, stderr=stderr)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait(timeout=WAIT)


def checked(home: Path) -> tuple[int, str]:
    done = warm.run("worker", "--check", env=environment(home))
    return done.returncode, done.stderr


def aged(home: Path) -> None:
    """Make the last sign of life older than any worker's that is well."""
    (sign,) = (home / "workers").iterdir()
    before = sign.stat().st_mtime - 100
    os.utime(sign, (before, before))


async def test_a_check_tells_a_worker_at_work_from_a_frozen_and_an_ended_one(tmp_path: Path) -> None:
    home = tmp_path / "home"
    code, said = checked(home)
    assert (code, said.split(":")[0]) == (1, f"no worker of {home} is at work on this machine")
    with worker(home, tmp_path / "log") as process:
        await until(lambda: checked(home)[0] == 0)
        assert f"process {process.pid} on " in checked(home)[1]
        process.send_signal(signal.SIGSTOP)
        aged(home)
        code, said = checked(home)
        assert code == 1
        assert "looked into the queue 10" in said
        process.send_signal(signal.SIGCONT)
        await until(lambda: checked(home)[0] == 0)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=WAIT) == 143
        assert checked(home)[0] == 1
        assert not list((home / "workers").iterdir())
    with worker(home, tmp_path / "log") as process:
        await until(lambda: checked(home)[0] == 0)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=WAIT)
        assert checked(home)[0] == 1


async def test_a_worker_speaks_in_the_form_of_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with worker(tmp_path / "home", log, ASSAY_LOG_FORMAT="json"):
        await until(lambda: log.read_text().count("\n") >= 2)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert {(line["level"], line["event"]) for line in lines} == {("info", "worker")}
    assert lines[0]["message"] == "worker for 4 runs at once; Ctrl-C ends it"
