"""Real processes on one home: runs controlled from another one, left alone, taken over, and a database locked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import stopped
import warm
from fleet import QUESTION, WAIT, scenes
from shells import CommandResult, Shell, apart
from stopping import locked, stop

from assay.store.sql import sqlite

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals between processes")


Started = warm.Process | subprocess.Popen[bytes]


class Processes:
    """Runs in processes of their own; none outlives the test."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.log = folder / "calls.log"
        self.log.touch()
        self.folder, self._capsys = folder, capsys
        self.shell = Shell(folder, capsys, scenes(self.log), QUESTION)
        self.started: list[Started] = []

    def slow(self, **delays: int) -> None:
        (self.folder / "script.json").write_text(json.dumps(scenes(self.log, **delays)))

    def start(self, *arguments: object, **ways: Any) -> Started:
        process = self.shell.start(*arguments, stderr=subprocess.PIPE, **ways)
        self.started.append(process)
        return process

    def research(self, *arguments: object) -> Started:
        return self.start(QUESTION, "--in", self.shell.notes, "--model", self.shell.model, *arguments)

    def run(self, *arguments: object) -> CommandResult:
        return self.shell.run(*arguments)

    def calls(self) -> list[tuple[str, int]]:
        rows = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [(row["task"], row["turn"]) for row in rows]

    def until(self, *call: object) -> None:
        """Until the model has been asked that."""
        self.wait(lambda: call in self.calls())

    def wait(self, done: Callable[[], bool]) -> None:
        end = time.monotonic() + WAIT
        while not done():
            assert time.monotonic() < end, self.calls()
            time.sleep(0.02)

    @staticmethod
    def end(process: Started) -> CommandResult:
        out, err = process.communicate(timeout=WAIT)
        return CommandResult(process.returncode, out.decode(), err.decode())

    def status(self) -> str:
        return str(json.loads(self.run("runs", "list", "--json").stdout)[0]["status"])


@pytest.fixture
def processes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Processes]:
    apart(tmp_path, monkeypatch)
    made = Processes(tmp_path, capsys)
    yield made
    for process in made.started:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.communicate()


def test_a_run_is_paused_from_elsewhere_its_process_says_so_and_another_goes_on(processes: Processes) -> None:
    processes.slow(find=60_000)
    running = processes.research("-q")
    processes.until("find", 1)
    paused = processes.run("runs", "pause", "last")
    assert (paused.returncode, "is paused; to continue: assay runs resume" in paused.stderr) == (0, True), paused.stderr
    done = processes.end(running)
    assert (done.returncode, done.stdout) == (4, "")
    assert processes.run("runs", "list").stdout.split("\t")[2] == "paused"
    assert processes.run("runs", "watch", "last").returncode == 4
    processes.slow()
    resumed = processes.run("runs", "resume", "last")
    assert (resumed.returncode, "seven metres" in resumed.stdout) == (0, True), resumed.stderr
    repeated = {call for call, count in Counter(processes.calls()).items() if count > 1}
    assert repeated == {("find", 1)}


def test_a_run_is_cancelled_from_elsewhere_within_a_second_and_asks_nothing_more(processes: Processes) -> None:
    processes.slow(orchestrate=60_000)
    running = processes.research("-q")
    processes.until("orchestrate", 0)
    asked = time.monotonic()
    assert processes.run("runs", "cancel", "last").returncode == 0
    assert time.monotonic() - asked < 30.0  # half of what the call in flight takes; how fast: test_owner_control
    done = processes.end(running)
    assert (done.returncode, done.stdout) == (130, "")
    assert processes.calls()[-1] == ("orchestrate", 0)
    again = processes.run("runs", "cancel", "last")
    assert (again.returncode, "has ended (cancelled)" in again.stderr) == (2, True)


@pytest.mark.parametrize("heard", [True, False])
def test_an_agent_is_stopped_from_elsewhere_though_the_process_is_killed(processes: Processes, *, heard: bool) -> None:
    """Killed after it heeded the request, or before it could: the agent is not asked again, and the report says why."""
    processes.slow(find=60_000, write=0 if not heard else 60_000)
    running = processes.research("-q")
    processes.until("find", 1)
    if not heard:
        stop(running.pid, processes.shell.home)
    asked = processes.run("runs", "cancel", "last", "--agent", "1", *([] if heard else ["--no-wait"]))
    text = "agent 1 of run" if heard else "is stored"
    assert (asked.returncode, text in asked.stderr) == (0, True), asked.stderr
    if heard:
        processes.until("write", 0)
    running.kill()
    processes.end(running)
    processes.slow()
    resumed = processes.run("runs", "resume", "last")
    assert "the agent was stopped on request" in resumed.stdout, resumed.stderr
    assert Counter(processes.calls())["find", 1] == 1
    again = processes.run("runs", "cancel", "last", "--agent", "1")
    assert (again.returncode, "none of its agents is still working" in again.stderr) == (2, True)


def test_a_run_is_finished_from_elsewhere_and_steered(processes: Processes) -> None:
    processes.slow(orchestrate=60_000, write=200)
    running = processes.research("-q")
    processes.until("orchestrate", 0)
    steered = processes.run("runs", "steer", "last", "Be short.", "--no-wait")
    assert steered.returncode == 0, steered.stderr
    assert "the run follows it at its next decision" in steered.stderr
    done = processes.run("runs", "finish", "last")
    assert (done.returncode, "research of run" in done.stderr) == (0, True), done.stderr
    ended = processes.end(running)
    assert ended.returncode in (5, 6), ended.stderr
    steering = json.loads(processes.run("runs", "show", "last", "--json").stdout)["steering"]
    assert [(each["text"], each["state"], each["note"]) for each in steering] == [("Be short.", "applied", "write")]
    assert "told: Be short.: applied (followed at write)" in processes.run("runs", "show", "last").stdout


def test_a_detached_run_goes_on_in_a_session_of_its_own(processes: Processes) -> None:
    processes.slow(find=60_000)
    left = processes.end(processes.research("--detach", "--json", "-o", processes.folder / "report.md"))
    assert left.returncode == 0, left.stderr
    data = json.loads(left.stdout)
    alone = psutil.Process(data["process"])
    assert os.getsid(alone.pid) == alone.pid != os.getsid(0)
    processes.until("find", 1)
    assert processes.status() == "running"
    assert processes.run("runs", "finish", data["run"]).returncode == 0
    watched = processes.run("runs", "watch", data["run"])
    assert watched.returncode == 5, watched.stderr
    processes.wait(lambda: not alone.is_running() or alone.status() == psutil.STATUS_ZOMBIE)
    assert "seven metres" in (processes.folder / "report.md").read_text()
    log = Path(data["log"])
    assert "agent 1 started" in log.read_text()
    assert log.stat().st_mode & 0o077 == 0
    processes.run("runs", "rm", data["run"], "--yes")
    assert not log.exists()


def test_a_detached_run_that_cannot_start_says_why(processes: Processes) -> None:
    processes.shell.home.mkdir()
    (processes.shell.home / "logs").write_text("in the way")
    done = processes.run(QUESTION, "--in", processes.shell.notes, "--model", processes.shell.model, "--detach")
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot continue in the background" in done.stderr
    nothing = processes.run(QUESTION, "--in", processes.folder / "absent", "--detach")
    assert (nothing.returncode, nothing.stdout) == (2, "")
    events = processes.run(QUESTION, "--detach", "--events")
    assert (events.returncode, "runs watch ID --events" in events.stderr) == (2, True)


def test_two_processes_which_resume_one_run_execute_it_once(processes: Processes) -> None:
    processes.slow(find=400)
    processes.end(processes.research("--review-plan"))
    processes.run("runs", "approve", "last", "--no-resume")
    both = [processes.start("runs", "resume", "last", "-q") for _ in range(2)]
    done = [processes.end(process) for process in both]
    assert [each.returncode for each in done] == [0, 0], done
    assert done[0].stdout == done[1].stdout != ""
    assert max(Counter(processes.calls()).values()) == 1


def test_a_stopped_process_is_taken_over_and_when_woken_writes_nothing(processes: Processes) -> None:
    processes.slow(find=5_000)
    processes.end(processes.research("--review-plan"))
    processes.run("runs", "approve", "last", "--no-resume")
    run_id = json.loads(processes.run("runs", "list", "--json").stdout)[0]["run_id"]
    old = processes.shell.spawn(stopped.__file__, processes.shell.home, run_id, stderr=subprocess.PIPE)
    processes.started.append(old)
    processes.until("find", 1)
    stop(old.pid, processes.shell.home)
    time.sleep(stopped.TTL + 0.3)

    processes.slow()
    taken = processes.run("runs", "resume", run_id)
    assert (taken.returncode, "seven metres" in taken.stdout) == (0, True), taken.stderr
    events = processes.run("runs", "watch", run_id, "--events").stdout
    os.kill(old.pid, signal.SIGCONT)
    out = processes.end(old).stdout.splitlines()
    assert out[0] == "holding"
    assert out[1].startswith(f"FenceLost: run {run_id} was taken over from process {old.pid}")
    assert out[1].endswith("this process may not write it any more")
    assert processes.run("runs", "watch", run_id, "--events").stdout == events
    assert [json.loads(line)["seq"] for line in events.splitlines()] == list(range(1, len(events.splitlines()) + 1))


def test_a_database_locked_for_some_seconds_only_delays(processes: Processes) -> None:
    processes.slow(find=300)
    running = processes.research("-q")
    processes.until("orchestrate", 0)
    with locked(processes.shell.home):
        time.sleep(1.5)
    done = processes.end(running)
    assert (done.returncode, "seven metres" in done.stdout) == (0, True), done.stderr


def test_a_database_locked_for_too_long_is_a_clear_error_and_loses_nothing(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes.end(processes.research("--review-plan"))
    processes.run("runs", "approve", "last", "--no-resume")
    with monkeypatch.context() as patience:
        patience.setattr(sqlite, "_PRAGMAS", ("PRAGMA busy_timeout = 200", *sqlite._PRAGMAS[1:]))
        with locked(processes.shell.home):
            done = processes.run("runs", "resume", "last")
    assert done.returncode == 1
    assert "another process has been writing to" in done.stderr
    assert "try again" in done.stderr
    assert processes.run("runs", "resume", "last").returncode == 0
