"""Runs left to others: with `--detach` to a process which outlives the terminal, with `--queue` to workers."""

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
from assay.cli.terminal import Exit, say, write
from assay.core.errors import StoreError
from assay.services.home_paths import log_file

SECONDS = 20.0
"""How long the process may take until it executes the run."""
POLL = 0.05
SHOWN = 5
"""Lines of the log which are shown where it could not."""


def check(output: Output, *, detach: bool, queue: bool = False) -> None:
    """Refuse what a run cannot give that is left alone, to a process of its own or to the workers.

    Raises:
        click.UsageError: its events are wanted on stdout; of a queued run, its files here too, or such a process.
    """
    if detach and queue:
        raise click.UsageError("--queue and --detach exclude each other: a worker executes the run, or a process here")
    if (detach or queue) and output.stdout == "events":
        way = "--queue" if queue else "--detach"
        raise click.UsageError(f"{way} and --events exclude each other; to see them: assay runs watch ID --events")
    if queue and output.files:
        raise click.UsageError("--queue and -o exclude each other; when it is done: assay runs export ID -o FILE")


async def leave(assay: Assay, run_id: str, home: Path, output: Output) -> Exit:
    """Have another process execute a stored run; its id goes to stdout as soon as it does.

    Raises:
        StoreError: the log cannot be written, or the process cannot be started.
    """
    log = log_file(home, run_id)
    process = start(command(run_id, home, output), log)
    if not await _begun(assay, run_id, process):
        for line in tail(log):
            say(line)
        say(f"run {run_id} was not taken up; to execute it here: assay runs resume {run_id}")
        return Exit.FAILED
    if output.stdout == "json":
        said = {"run": run_id, "process": process.pid, "log": str(log)}
        write(msgspec.json.encode(said).decode())
    else:
        write(run_id)
    if output.verbosity >= 0:
        say(f"runs in process {process.pid}; to watch: assay runs watch {run_id}; log: {log}")
    return Exit.DONE


def command(run_id: str, home: Path, output: Output) -> list[str]:
    """What executes the run; files are named by their whole path."""
    line = [sys.executable, "-P", "-m", "assay", "runs", "resume", run_id, "--home", str(home.absolute())]
    for path in output.files:
        line += ["-o", str(path.absolute())]
    for target in output.notify:
        line += ["--notify", target.text] if target.named else []  # what the settings name, it reads there
    return [*line, "--citations", output.citations, *(["--strict"] if output.strict else [])]


def start(line: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """A process that no terminal, and no end of this one, takes along.

    Raises:
        StoreError: it cannot be had, or its log cannot be written.
    """
    flags = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as file:
            log.chmod(0o600)  # what stands there is the user's own
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


async def _begun(assay: Assay, run_id: str, process: subprocess.Popen[bytes]) -> bool:
    """Wait until the process executes the run, or has done so; False when it ended, or hangs, without."""
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


def tail(log: Path) -> list[str]:
    """The last lines of a log."""
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()[-SHOWN:]
    except OSError:
        return []


def queued(run_id: str, output: Output) -> Exit:
    """Say that a run was left to the workers; its id goes to stdout."""
    write(msgspec.json.encode({"run": run_id}).decode() if output.stdout == "json" else run_id)
    if output.verbosity >= 0:
        say(f"queued; to watch: assay runs watch {run_id}")
    return Exit.DONE
