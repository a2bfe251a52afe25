"""A fleet upgraded from one release to the next, both installed as their users install them, over one PostgreSQL.

python tests/runs/rolling_releases.py --before 0284cd3

Builds the wheel of an earlier commit, and one of this tree under a higher version, and installs each with what its
lock names into an environment of its own. Then: runs of the old release are executed by its workers; a worker of the
new one comes and upgrades the tables meanwhile; the old go on, and finish; both share the queue, each what it may;
an old worker is ended in the middle of a run, which the new one goes on with; and one of the old release that is
started now is refused.
"""

from __future__ import annotations

import argparse
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import postgres
import psycopg
from fleet import QUESTION, Fleet
from sqlalchemy import make_url

ROOT = Path(__file__).parents[2]
SECONDS = 300.0
ENDED = (0, 130, 143, -signal.SIGTERM)
"""How a worker may end which was asked to."""
NEXT = "0.99.0"
"""The version under which this tree is installed: higher than any before it."""


@dataclass
class Release:
    """An installed release, and the processes of it."""

    program: Path
    fleet: Fleet
    workers: list[tuple[subprocess.Popen[bytes], Path]] = field(default_factory=list)

    def run(self, *arguments: object, code: int = 0) -> str:
        line = [str(self.program), *map(str, arguments)]
        done = subprocess.run(line, env=self.fleet.environment, capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == code, f"{line}: {done.returncode} {done.stderr}"
        return done.stdout + done.stderr

    def queue(self) -> str:
        model = f"scripted:{self.fleet.folder / 'script.json'}"
        done = self.run(QUESTION, "--in", self.fleet.notes, "--model", model, "--queue", "--home", self.home("asking"))
        return done.split()[0]

    def home(self, name: str) -> Path:
        return self.fleet.folder / f"{self.program.parents[1].name}-{name}"

    def worker(self, *arguments: object) -> Path:
        """One more, at work; what it says goes to the file."""
        number = len(self.workers)
        log = self.fleet.folder / f"{self.program.parents[1].name}-{number}.log"
        line = [str(self.program), "worker", "--home", str(self.home(f"worker-{number}")), *map(str, arguments)]
        with log.open("wb") as written:
            started = subprocess.Popen(line, env=self.fleet.environment, stdout=written, stderr=written)
        self.workers.append((started, log))
        until(lambda: "at once" in log.read_text(), f"{line} takes runs: {log.read_text()}")
        return log

    def close(self) -> None:
        for process, _ in self.workers:
            if process.poll() is None:
                process.kill()
            process.wait(120)


class Seen(list[str]):
    """What was seen, said at once."""

    def append(self, line: str) -> None:
        super().append(line)
        print(line, flush=True)


def until(is_so: Callable[[], bool], what: str) -> float:
    """Wait; how long it took."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() - began < SECONDS, f"after {SECONDS:.0f} s it is not so that {what}"
        time.sleep(0.1)
    return time.monotonic() - began


def installed(folder: Path, source: Path, name: str) -> Path:
    """The program of a tree, built as a wheel and installed with the libraries it locks."""
    wheels = folder / f"{name}-dist"
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(wheels), str(source)]
    subprocess.run(build, check=True, capture_output=True)
    place = folder / name
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    pip = [str(place / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", str(source / "deploy" / "requirements.lock")], check=True, capture_output=True)
    (wheel,) = wheels.glob("*.whl")
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True, capture_output=True)
    return place / "bin" / "assay"


def tree(folder: Path, commit: str, version: str = "") -> Path:
    """The files of a commit, under a version."""
    place = folder / f"tree-{commit}"
    place.mkdir()
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(place)], input=packed, check=True)
    if version:
        project = place / "pyproject.toml"
        project.write_text(re.sub(r'(?m)^version = ".*"$', f'version = "{version}"', project.read_text(), count=1))
    return place


def upgrade(old: Release, new: Release, seconds: float) -> list[str]:
    """The whole of it; what was seen, a line each. One call of each run takes so many seconds."""
    fleet, seen = old.fleet, Seen()
    fleet.slow(find=int(seconds * 1000))
    first = [old.queue() for _ in range(2)]
    before = schema(fleet)
    old.worker("--slots", 3)
    until(lambda: fleet.calls().count(("find", 1)) >= 2, "two runs of the old release are in a long call")
    handed = old.queue()  # later it could not: tables which are newer are refused
    until(lambda: held(fleet) == 3, "three runs of the old release are executed")
    fences = {run: fence(fleet, run) for run in first}
    began = time.monotonic()
    log = new.worker("--slots", 3)
    after = schema(fleet)
    seen.append(f"schema {before} -> {after} by the new worker {time.monotonic() - began:.1f} s after its start")
    assert before != after, "the two releases have the same tables: nothing is shown"
    assert held(fleet) == 3, "the old worker lost runs while the tables were upgraded"
    until(lambda: all(status(fleet, run) == "completed" for run in first), "the old worker finishes on the new tables")
    whole = [run for run in first if fence(fleet, run) == fences[run]]
    seen.append(f"{len(whole)} of 2 runs of the old worker went on over the upgrade without a hand-over, all completed")

    assert status(fleet, handed) == "running", "the third run ended before the other two"
    fleet.slow()
    began = time.monotonic()
    old.workers[0][0].send_signal(signal.SIGTERM)
    assert old.workers[0][0].wait(120) in ENDED
    until(lambda: fence(fleet, handed) > 1, "the new worker has the run of the old one")
    seen.append(f"a run of the old worker was the new one's {time.monotonic() - began:.1f} s after SIGTERM")
    until(lambda: status(fleet, handed) == "completed", "the new worker finishes a run which the old one began")

    newer = new.queue()
    until(lambda: status(fleet, newer) == "completed", "the new worker does a run of its own release")
    assert f"run {newer}" in log.read_text()
    seen.append("a run queued by the new release was done by the new worker")
    for run in (*first, newer, handed):
        numbers = sequence(fleet, run)
        assert numbers == list(range(1, len(numbers) + 1)), f"run {run} has gaps: {numbers}"
    seen.append("events of all four runs are without a gap, each run ended once")

    done = old.run("worker", "--until-empty", "--home", old.home("late"), code=1)
    assert f"schema {after}" in done, done
    seen.append(f"an old worker started now is refused: {done.strip().splitlines()[-1]}")
    return seen


def asked(fleet: Fleet, query: str, *values: object) -> list[tuple[object, ...]]:
    with psycopg.connect(postgres.bare(fleet.database), autocommit=True) as connection:
        connection.execute(f"SET search_path = {make_url(fleet.database).query['schema']}")
        return connection.execute(query, values).fetchall()


def schema(fleet: Fleet) -> str:
    ((found,),) = asked(fleet, "SELECT version_num FROM assay_schema")
    return str(found)


def held(fleet: Fleet) -> int:
    now = "extract(epoch FROM clock_timestamp())"
    ((found,),) = asked(fleet, f"SELECT count(*) FROM runs WHERE holder <> '' AND lease_until > {now}")
    return int(str(found))


def status(fleet: Fleet, run: str) -> str:
    ((found,),) = asked(fleet, "SELECT status FROM runs WHERE run_id = %s", run)
    return str(found)


def fence(fleet: Fleet, run: str) -> int:
    ((found,),) = asked(fleet, "SELECT fence FROM runs WHERE run_id = %s", run)
    return int(str(found))


def sequence(fleet: Fleet, run: str) -> list[int]:
    query = "SELECT seq FROM events e JOIN runs r ON r.number = e.run WHERE r.run_id = %s ORDER BY seq"
    return [int(str(seq)) for (seq,) in asked(fleet, query, run)]


def rolled(before: Path, now: Path, server: str, seconds: float = 20.0) -> list[str]:
    """Over a database of its own; `before` and `now` are the programs of two releases."""
    with tempfile.TemporaryDirectory(prefix="assay-rolling-", ignore_cleanup_errors=True) as place:
        fleet = Fleet(Path(place), postgres.with_schema(server), lease=4.0)
        old, new = Release(before, fleet), Release(now, fleet)
        try:
            return upgrade(old, new, seconds)
        finally:
            old.close()
            new.close()
            postgres.drop(fleet.database)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", default="0284cd3", help="commit of the earlier release")
    parser.add_argument("--now", default="HEAD", help="commit of the next one")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long one call of each run takes")
    parser.add_argument("--keep", type=Path, help="folder of the installed releases, used again where it is there")
    asked_for = parser.parse_args()
    if why := postgres.reason_to_skip():
        sys.exit(why)
    folder = asked_for.keep or Path(tempfile.mkdtemp(prefix="assay-releases-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        programs = [folder / name / "bin" / "assay" for name in ("before", "now")]
        if not programs[0].exists():
            installed(folder, tree(folder, asked_for.before), "before")
        if not programs[1].exists():
            installed(folder, tree(folder, asked_for.now, NEXT), "now")
        with postgres.running() as server:
            rolled(*programs, server, asked_for.seconds)
    finally:
        if asked_for.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
