"""Runs executed elsewhere: with `--detach` by a process that outlives the terminal, with `--queue` by workers."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from assay import Assay
from assay.cli.run_watch import Output
from assay.cli.terminal import Exit, say, write, write_json
from assay.core.errors import StoreError
from assay.services.home_paths import log_file

SECONDS = 20.0
"""The longest wait until the process executes the run."""
POLL = 0.05
SHOWN = 5
"""Lines of the log that are shown if it could not."""


def check_options(output: Output, *, detach: bool, queue: bool = False, priority: int | None = None) -> None:
    """Refuse options that a detached or queued run cannot honour, or no other run.

    Raises:
        click.UsageError: events are requested on stdout; for a queued run, files on this machine or `detach`; for any
            other a priority.
    """
    if priority is not None and not queue:
        raise click.UsageError("--priority orders the queue: add --queue, or leave it out")
    if detach and queue:
        raise click.UsageError("--queue and --detach exclude each other: a worker executes the run, or a process here")
    if (detach or queue) and output.stdout == "events":
        option = "--queue" if queue else "--detach"
        raise click.UsageError(f"{option} and --events exclude each other; to see them: assay runs watch ID --events")
    if queue and output.files:
        raise click.UsageError("--queue and -o exclude each other; when it is done: assay runs export ID -o FILE")


async def detach_run(assay: Assay, run_id: str, home: Path, output: Output) -> Exit:
    """Have another process execute a stored run, and print its id on stdout once it does.

    Raises:
        StoreError: the log cannot be written, or the process cannot be started.
    """
    log = log_file(home, run_id)
    process = start_process(resume_command(run_id, home, output), log)
    if not await _wait_until_executed(assay, run_id, process):
        for line in last_lines(log):
            say(line)
        say(f"run {run_id} was not taken up; to execute it here: assay runs resume {run_id}")
        return Exit.FAILED
    if output.stdout == "json":
        fields = {"run": run_id, "process": process.pid, "log": str(log)}
        write_json(fields, line=True)
    else:
        write(run_id)
    if output.verbosity >= 0:
        say(f"runs in process {process.pid}; to watch: assay runs watch {run_id}; log: {log}")
    return Exit.DONE


def resume_command(run_id: str, home: Path, output: Output) -> list[str]:
    """The command that executes the run, with absolute paths of files."""
    line = [sys.executable, "-P", "-m", "assay", "runs", "resume", run_id, "--home", str(home.absolute())]
    for path in output.files:
        line += ["-o", str(path.absolute())]
    for target in output.notify:
        line += ["--notify", target.text] if target.named else []  # it reads targets in the settings itself
    return [*line, "--citations", output.citations, *(["--strict"] if output.strict else [])]


def start_process(line: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """Start a process that survives this terminal and this process.

    Raises:
        StoreError: it cannot be started, or its log cannot be written.
    """
    flags = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as file:
            log.chmod(0o600)  # the log holds the user's own data
            return subprocess.Popen(
                line,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                creationflags=flags,
            )
    except OSError as error:
        raise StoreError(f"the run cannot continue in the background ({log}): {error.strerror}") from error


async def _wait_until_executed(assay: Assay, run_id: str, process: subprocess.Popen[bytes]) -> bool:
    """Wait until the process executes the run, or has done so; False if it ended or hangs without doing so."""
    before, end = (await assay.find(run_id)).fence, time.monotonic() + SECONDS
    while time.monotonic() < end:
        ended = process.poll() is not None
        if (await assay.find(run_id)).fence > before:
            return True
        if ended:
            return False
        await asyncio.sleep(POLL)
    process.terminate()
    return False


def last_lines(log: Path) -> list[str]:
    """The last lines of a log."""
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()[-SHOWN:]
    except OSError:
        return []


def report_queued(run_id: str, output: Output) -> Exit:
    """Report that a run was left to the workers, and print its id on stdout."""
    write(msgspec.json.encode({"run": run_id}).decode() if output.stdout == "json" else run_id)
    if output.verbosity >= 0:
        say(f"queued; to watch: assay runs watch {run_id}")
    return Exit.DONE
