"""A real process killed with a real signal, at random moments and at store writes: the run goes on.

By default at every fifth write, the first and the last; at every one with ASSAY_CRASH=all (`make crash`).
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import re
import signal
import sqlite3
import time
from pathlib import Path
from typing import Any

import crashing
import msgspec
import pytest

ALL = os.environ.get("ASSAY_CRASH") == "all"
EVERY = 1 if ALL else 5
RANDOM_KILLS = 30 if ALL else 8
PARTS = 4  # so that workers share the writes

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["crashing"])
PERSONAL = ("run_id", "started_at", "finished_at", "usage")


class Scene:
    """One home, its documents, and the log of calls outside the database."""

    def __init__(self, folder: Path) -> None:
        self.home, self.sources = folder / "home", folder / "sources"
        self.log, self.result = folder / "calls.log", folder / "result"
        self.sources.mkdir()
        for name, text in crashing.DOCUMENTS.items():
            (self.sources / name).write_text(text)
        self.log.touch()

    def start(self, *, resume: bool = False, kill_at: int = 0, after: bool = False) -> Any:
        arguments = (str(self.home), str(self.sources), str(self.log), str(self.result), resume, kill_at, after)
        process = PROCESSES.Process(target=crashing.research, args=arguments)
        process.start()
        return process

    def finish(self, process: Any) -> bool:
        """Wait for a process; whether it ended by itself."""
        process.join(60)
        assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
        return bool(process.exitcode == 0)

    def calls(self) -> list[str]:
        return self.log.read_text().split()

    def committed(self) -> set[str]:
        """Hashes of the requests whose replies are stored."""
        with sqlite3.connect(next(self.home.glob("*.db"))) as database:
            return {row[0] for row in database.execute("SELECT input_hash FROM steps WHERE tag = 'reply/1'")}

    def has_run(self) -> bool:
        databases = list(self.home.glob("*.db"))
        if not databases:
            return False
        with sqlite3.connect(databases[0]) as database:
            try:
                return bool(database.execute("SELECT count(*) FROM runs").fetchone()[0])
            except sqlite3.OperationalError:
                return False

    def report(self) -> dict[str, Any]:
        text = self.result.read_bytes().partition(b"\n")[2].decode().replace(str(self.sources), "")
        report: dict[str, Any] = json.loads(re.sub(r'"fetched_at": "[^"]*"', '"fetched_at": ""', text))
        return {key: value for key, value in report.items() if key not in PERSONAL}

    def check_log(self) -> None:
        """No gap in `seq`, no key twice."""
        with sqlite3.connect(next(self.home.glob("*.db"))) as database:
            rows = database.execute("SELECT seq, key FROM events ORDER BY seq").fetchall()
        assert [seq for seq, _ in rows] == list(range(1, len(rows) + 1))
        assert len({key for _, key in rows}) == len(rows)

    def recover(self) -> list[str]:
        """Resume (or start, when nothing was stored yet) to the end; the calls that took."""
        before, committed = len(self.calls()), self.committed() if self.has_run() else set[str]()
        assert self.finish(self.start(resume=self.has_run()))
        repeated = self.calls()[before:]
        assert not committed & set(repeated), "a committed call was made again"
        self.check_log()
        return repeated


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], int, float]:
    """An uninterrupted run: its report, its number of writes, its seconds."""
    scene = Scene(tmp_path_factory.mktemp("whole"))
    began = time.monotonic()
    assert scene.finish(scene.start())
    took = time.monotonic() - began
    writes = int(scene.result.read_bytes().partition(b"\n")[0])
    assert len(scene.calls()) == len(scene.committed())
    report = scene.report()
    assert report["summary"]["supported"] >= 2
    return report, writes, took


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_killed_at_store_writes(
    part: int, tmp_path_factory: pytest.TempPathFactory, whole: tuple[dict[str, Any], int, float]
) -> None:
    report, writes, _ = whole
    chosen = sorted({*range(1, writes + 1, EVERY), writes})[part::PARTS]
    print(f"killed at {len(chosen)} of {writes} writes")
    assert chosen
    for number in chosen:
        scene = Scene(tmp_path_factory.mktemp(f"write-{number}"))
        assert not scene.finish(scene.start(kill_at=number, after=number % 2 == 0))
        scene.recover()
        assert scene.report() == report, f"killed at write {number}"


@pytest.mark.slow
def test_killed_at_random_moments(
    tmp_path_factory: pytest.TempPathFactory, whole: tuple[dict[str, Any], int, float]
) -> None:
    report, _, took = whole
    dice, kills = random.Random(7), 0
    while kills < RANDOM_KILLS:
        scene = Scene(tmp_path_factory.mktemp(f"random-{kills}"))
        process = scene.start()
        while process.is_alive():
            time.sleep(dice.random() * took)
            if process.is_alive():
                os.kill(process.pid, signal.SIGKILL)
                process.join()
                kills += 1
                process = scene.start(resume=scene.has_run())
        assert scene.finish(process)
        scene.check_log()
        assert scene.report() == report
    print(f"killed at {kills} random moments")


def test_a_killed_run_is_resumed_by_the_command(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    assert not scene.finish(scene.start(kill_at=20))
    scene.recover()
    rows = msgspec.json.decode(scene.result.read_bytes().partition(b"\n")[2])
    assert rows["status"] == "completed"
