"""Many documents read by workers: `python -m bench ingestion [--documents 20000] [--workers 1,2,4] [--kill-every 60]`.

`assay worker --jobs 1` processes over PostgreSQL read a folder of small letters, all different, which `assay docs add
FOLDER --queue` would queue. With `--kill-every`, a random worker is killed at this interval (SIGKILL) and another one
started. The bench prints the time until the job is done, what each worker read, and whether each file became one
document: `lost` counts files without a document, `twice` files named by more than one part or stored more than once.
PostgreSQL is the one in `DATABASE_URL`, else one of our own on loopback.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

import postgres

from assay import Assay, settings
from assay.core.ports.jobs import JOB_ENDED, Job, JobFilter
from assay.services.jobs.ingestion import WorkerFigures
from assay.services.jobs.specifications import AddJob

LOOK_SECONDS = 0.5
IN_A_FOLDER = 500
WORDS = "harbor pier tide ledger cargo lantern rope mast anchor chart storm quay customs crew mate master".split()


def written(folder: Path, documents: int, seed: int) -> None:
    """Letters of some 150 words, each with a number of its own."""
    drawn = random.Random(seed)
    for number in range(documents):
        at = folder / f"{number // IN_A_FOLDER:05}"
        if number % IN_A_FOLDER == 0:
            at.mkdir(parents=True)
        body = " ".join(drawn.choices(WORDS, k=150))
        (at / f"letter{number:07}.txt").write_text(f"Letter {number} to the harbor office.\n\n{body}\n")


class Workers:
    """`assay worker` processes, each with a home of its own, as on machines of their own."""

    def __init__(self, base: Path, url: str, count: int) -> None:
        self._base, self._count, self._made = base, count, 0
        self._environment = {**os.environ, "ASSAY_DATABASE": url, "ASSAY_BLOBS": str(base / "blobs")}
        self._going: list[subprocess.Popen[bytes]] = []
        self.killed = 0
        self.fill()

    def fill(self) -> None:
        """Start those which are missing."""
        while len(self._going) < self._count:
            home = self._base / f"worker{self._made}"
            self._made += 1
            line = [sys.executable, "-m", "assay", "worker", "-q", "--jobs", "1"]
            self._going.append(subprocess.Popen(line, env={**self._environment, "ASSAY_HOME": str(home)}))

    def kill(self) -> None:
        """Kill one, and start another."""
        doomed = self._going.pop(random.randrange(len(self._going)))
        doomed.kill()
        doomed.wait()
        self.killed += 1
        self.fill()

    def end(self) -> None:
        """Let all go."""
        for process in self._going:
            process.terminate()
        for process in self._going:
            process.wait(timeout=60)


@dataclass(frozen=True)
class Round:
    """What came of one: seconds, workers killed, the job with its parts, what each worker did, documents held."""

    took: float
    killed: int
    job: Job
    parts: list[Job]
    workers: list[WorkerFigures]
    held: int


async def read(folder: Path, base: Path, url: str, workers: int, kill_every: float) -> Round:
    """Have it read."""
    configured = settings.load(database=url, blobs=str(base / "blobs"))
    async with Assay(configured, home=base / "asking") as assay:
        job = await assay.begin_job(AddJob(paths=(str(folder),), collection="letters"))
        fleet, start = await asyncio.to_thread(Workers, base, url, workers), time.monotonic()
        killed_at = start
        try:
            while (now := await assay.job(job.id)).state not in JOB_ENDED:
                await asyncio.sleep(LOOK_SECONDS)
                if kill_every and time.monotonic() - killed_at > kill_every:
                    killed_at = time.monotonic()
                    await asyncio.to_thread(fleet.kill)
            took = time.monotonic() - start
        finally:
            await asyncio.to_thread(fleet.end)
        parts = await assay.jobs(JobFilter(parent=job.id, limit=1_000_000))
        figures = await assay.job_figures(job.id)
        return Round(took, fleet.killed, now, parts, figures, len(await assay.documents("letters")))


def print_round(documents: int, workers: int, came: Round) -> None:
    """Print the figures of one round."""
    named = Counter(file for part in came.parts for file in part.arguments["files"])
    twice = sum(many - 1 for many in named.values()) + max(came.held - documents, 0)
    print(
        f"{documents} documents, {workers} workers, {came.killed} killed: {came.job.state} in {came.took:.1f} s,"
        f" {documents / came.took:.0f} a second; lost {documents - came.held}, twice {twice}"
        f"{f' ({came.job.error})' if came.job.error else ''}; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    for each in came.workers:
        speed = each.files / each.seconds
        print(f"  {each.worker.split(' on ')[0]}: {each.parts} parts, {speed:.0f} files a second", flush=True)


def main(documents: int, counts: list[int], kill_every: float, seed: int) -> None:
    """Print the figures."""
    with postgres.running() as url, tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "letters"
        written(folder, documents, seed)
        for count in counts:
            base = Path(place) / f"with{count}"
            base.mkdir()
            print_round(documents, count, asyncio.run(read(folder, base, postgres.with_schema(url), count, kill_every)))
        print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--workers", default="1,2,4", help="how many, separated by commas")
    parser.add_argument("--kill-every", type=float, default=0.0, help="seconds between kills; 0: none")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if missing := postgres.reason_to_skip():
        sys.exit(missing)
    main(options.documents, [int(each) for each in options.workers.split(",")], options.kill_every, options.seed)
