"""Workers in processes of their own over one PostgreSQL database, as on machines of their own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import warm
from one_agent_script import one_agent

from assay import Assay
from assay.core.brief import ROLES
from assay.core.events import Envelope
from assay.core.ports import RunRow
from assay.settings import load

LEASE = 50.0
"""Seconds; no worker which lives is as slow as that."""
WAIT = 120.0
QUESTION = "How far does the tide rise?"
TIDES = "# Tides\n\nThe tide at Brest rises seven metres. It turns twice a day.\n"


def scenes(log: Path, **delays: int) -> list[dict[str, Any]]:
    """A whole run; `delays` are milliseconds by task, and each call is a line of `log`."""
    plan = json.dumps({"title": "Brest", "steps": [{"title": "Tide at Brest"}]})
    classify = {"name": "generate_plan", "arguments": {"complexity": "moderate"}}
    rows = [
        {"task": "triage", "reply": {"calls": [classify]}},
        {"task": "plan", "reply": {"text": plan}},
        *one_agent(),
    ]
    return [row | {"log": str(log), "delay_ms": delays.get(row["task"], 0)} for row in rows]


@dataclass
class Process:
    """A worker, and what it says."""

    popen: warm.Started
    log: Path

    def output(self) -> str:
        return self.log.read_text()

    def signal(self, number: signal.Signals) -> None:
        self.popen.send_signal(number)

    def end(self) -> int:
        return self.popen.wait(WAIT)


class Fleet:
    """Workers, each with a home of its own; documents and runs in one database, blobs in one folder."""

    def __init__(self, folder: Path, database: str, lease: float = LEASE, *, forks: bool = False) -> None:
        """`forks`: processes are forks of a warm one (what their start takes is not measured then)."""
        self.database, self._start = database, warm.start if forks else warm.start_new
        self.folder, self.calls_log, self.notes = folder, folder / "calls.log", folder / "tides.md"
        self.calls_log.touch()
        self.notes.write_text(TIDES)
        self.slow()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")} | {
            "ASSAY_DATABASE": database,
            "ASSAY_BLOBS": str(folder / "blobs"),
            "ASSAY_CONFIG": str(folder / "config.toml"),
            "ASSAY_SEARCH_OFFLINE": "true",
        }
        self.lease(lease)
        self.workers: list[Process] = []

    def lease(self, seconds: float) -> None:
        """How long workers which are begun from now on hold a run without a word."""
        self.environment["ASSAY_WORKERS_LEASE"] = str(seconds)

    def slow(self, **delays: int) -> None:
        (self.folder / "script.json").write_text(json.dumps(scenes(self.calls_log, **delays)))

    def run(self, *arguments: object, code: int = 0, path: Path | None = None) -> str:
        """A command, of the release which lies in `path`, or of this one; its stdout."""
        done = warm.run(
            *arguments,
            start=self._start if path is None else warm.start_new,
            timeout=WAIT,
            env=self._at("asking", path),
        )
        assert done.returncode == code, done.stderr
        return done.stdout

    def assay(self) -> Assay:
        """The same database, from this process."""
        configured = load(database=self.database, blobs=self.folder / "blobs", search={"offline": True})
        return Assay(configured, home=self.folder / "asking")

    def queue(self, priority: int = 0, **wanted: Any) -> str:
        """The id of a new run."""
        roles = dict.fromkeys(ROLES, (f"scripted:{self.folder / 'script.json'}",))

        async def put() -> str:
            async with self.assay() as assay:
                run_id = await assay.create(QUESTION, sources=self.notes, models=roles, **wanted)
                await assay.enqueue(run_id, priority=priority)
                return run_id

        return asyncio.run(put())

    def worker(self, *arguments: object, path: Path | None = None) -> Process:
        """A worker; of the release which lies in `path`, or of this one."""
        name = f"worker-{len(self.workers)}"
        log = self.folder / f"{name}.log"
        with log.open("wb") as file:
            ways: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": file, "env": self._at(name, path)}
            line = ["worker", *map(str, arguments)]
            popen = (self._start if path is None else warm.start_new)(*line, **ways)
        self.workers.append(Process(popen, log))
        return self.workers[-1]

    def _at(self, home: str, path: Path | None = None) -> Mapping[str, str]:
        release = {"PYTHONPATH": str(path)} if path else {}
        return self.environment | release | {"ASSAY_HOME": str(self.folder / home)}

    def calls(self) -> list[tuple[str, int]]:
        rows = [json.loads(line) for line in self.calls_log.read_text().splitlines()]
        return [(row["task"], row["turn"]) for row in rows]

    def rows(self) -> list[RunRow]:
        """All runs, newest first."""

        async def look() -> list[RunRow]:
            async with self.assay() as assay:
                return await assay.runs()

        return asyncio.run(look())

    def events(self, run_id: str) -> list[Envelope]:
        async def look() -> list[Envelope]:
            async with self.assay() as assay:
                return await assay.events(run_id)

        return asyncio.run(look())

    def approve(self, run_id: str) -> None:
        async def approve() -> None:
            async with self.assay() as assay:
                await assay.approve(run_id)

        asyncio.run(approve())

    def wait(self, done: Callable[[], bool], seconds: float = WAIT) -> float:
        """Until that is so; the seconds it took."""
        start = time.monotonic()
        while not done():
            assert time.monotonic() < start + seconds, [worker.output() for worker in self.workers]
            time.sleep(0.02)
        return time.monotonic() - start

    def until_done(self, runs: Sequence[str]) -> None:
        """Until workers have said of each of these that it is completed."""

        def completed() -> set[str]:
            text = "\n".join(worker.output() for worker in self.workers)
            return set(re.findall(r"run (\w+): completed", text))

        self.wait(lambda: set(runs) <= completed())

    def close(self) -> None:
        for worker in self.workers:
            worker.popen.send_signal(signal.SIGCONT)
            worker.popen.kill()
            worker.popen.wait()
