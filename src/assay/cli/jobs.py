"""Jobs: `list`, `show`, `watch`, `cancel`, `retry`; and what a command says which left one to the workers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click
import msgspec

from assay.cli import options
from assay.cli.exits import Exit
from assay.cli.interrupts import left_by_ctrl_c
from assay.cli.library import opened, stored
from assay.cli.options import Command
from assay.cli.progress import counted
from assay.cli.tables import table
from assay.cli.terminal import TerminalOptions, clean, say, write
from assay.core.ports.jobs import Job, JobFilter, JobState
from assay.services.jobs.specifications import JobWork
from assay.settings import Settings

NO_JOBS = "there are no jobs: `assay docs add PATH --queue` leaves one to the workers"
JOB_WORDS = {"failed": "failed", "cancelled": "was cancelled"}
_STATES: tuple[JobState, ...] = get_args(JobState)


def queue_option(command: Command) -> Command:
    """`--queue`, for what can be left to a worker."""
    return click.option(
        "--queue", "queued", is_flag=True, help="Print a job's id and leave the work to a worker (assay worker)."
    )(command)


def leave(works: Sequence[JobWork], home: Path | None, configured: Settings, verbosity: int) -> None:
    """Leave work to the workers; the ids of the jobs go to stdout."""
    for job in asyncio.run(_begun(works, home, configured)):
        write(job.id)
        if verbosity >= 0:
            say(f"queued: {clean(job.name)}; to watch: assay jobs watch {job.id}")


async def _begun(works: Sequence[JobWork], home: Path | None, configured: Settings) -> list[Job]:
    async with opened(home, configured) as assay:
        return [await assay.begin_job(work) for work in works]


@click.command("list")
@click.option(
    "--state", "states", multiple=True, type=click.Choice(_STATES), help="Only jobs in this state; repeatable."
)
@click.option("-n", "--limit", type=click.IntRange(1, 10_000), default=30, show_default=True, help="Jobs to list.")
@options.json_output
@options.common
def list_jobs(states: tuple[JobState, ...], limit: int, as_json: bool, home: Path | None) -> None:
    """Jobs, newest first: id, state, progress, what it is, and its last word. They are listed for 30 days.

    \b
        assay jobs list
        assay jobs list --state failed --json
    """
    found = asyncio.run(_listed(home, JobFilter(states=frozenset(states), limit=limit)))
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(found)).decode())
        return
    if not found:
        say(NO_JOBS)
    table(
        ("job", "state", "done", "what", "last word"),
        [(job.id, job.state, _progress(job), job.name, job.error or job.line) for job in found],
    )


@click.command("show")
@click.argument("id", metavar="ID")
@options.json_output
@options.common
def show_job(id: str, as_json: bool, home: Path | None) -> None:
    """How job ID stands: its state, who has it, what came of it, and what each worker did.

    \b
        assay jobs show k3v9q2m4p1
        assay jobs show k3v9q2m4p1 --json
    """
    job = asyncio.run(_found(home, id))
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(job)).decode())
        return
    for line in _lines(job):
        write(clean(line))


@click.command("watch")
@click.argument("id", metavar="ID")
@options.common
@click.pass_obj
def watch_job(state: TerminalOptions, id: str, home: Path | None) -> int:
    """Say how job ID goes until it ends. Ctrl-C leaves it to its worker. Exits with 1 where it did not get done.

    \b
        assay jobs watch k3v9q2m4p1
        assay jobs watch k3v9q2m4p1 --home ~/research
    """
    with left_by_ctrl_c():
        job = asyncio.run(_watched(home, id, state.verbosity))
    if job.state == "done":
        return Exit.DONE
    say(clean(f"job {job.id} {JOB_WORDS[job.state]}{f': {job.error}' if job.error else ''}"))
    return Exit.FAILED


@click.command("cancel")
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@options.common
def cancel_job(ids: Sequence[str], home: Path | None) -> None:
    """End the jobs ID…: at once where they wait, within seconds where a worker has them. What is done stays.

    \b
        assay jobs cancel k3v9q2m4p1
        assay jobs cancel k3v9q2m4p1 m2p4h8t6r0
    """
    for job in asyncio.run(_cancelled(home, ids)):
        say(f"job {job.id} is {'being stopped' if job.stopping and job.state == 'running' else job.state}")


@click.command("retry")
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@options.common
def retry_job(ids: Sequence[str], home: Path | None) -> None:
    """Have the jobs ID…, which failed or were cancelled, taken up again; what they have done is not done twice.

    \b
        assay jobs retry k3v9q2m4p1
        assay jobs retry k3v9q2m4p1 m2p4h8t6r0
    """
    for job in asyncio.run(_retried(home, ids)):
        say(f"job {job.id} waits for a worker")


async def _listed(home: Path | None, wanted: JobFilter) -> list[Job]:
    async with stored(home) as assay:
        return await assay.jobs(wanted)


async def _found(home: Path | None, id: str) -> Job:
    async with stored(home) as assay:
        return await assay.job(id)


async def _watched(home: Path | None, id: str, verbosity: int) -> Job:
    async with stored(home) as assay:
        said = ""
        async for job in assay.follow_job(id):
            line = f"{job.state}{_bracketed(_progress(job))}{f': {job.line}' if job.line else ''}"
            if verbosity >= 0 and line != said:
                say(clean(line))
            said = line
        return await assay.job(id)


async def _cancelled(home: Path | None, ids: Sequence[str]) -> list[Job]:
    async with stored(home) as assay:
        return [await assay.cancel_job(id) for id in ids]


async def _retried(home: Path | None, ids: Sequence[str]) -> list[Job]:
    async with stored(home) as assay:
        return [await assay.retry_job(id) for id in ids]


def _progress(job: Job) -> str:
    return f"{job.finished} of {job.total}" if job.total else ""


def _bracketed(text: str) -> str:
    return f" ({text})" if text else ""


def _lines(job: Job) -> list[str]:
    lines = [f"{job.name}", f"{job.state}{_bracketed(_progress(job))}{f': {job.line}' if job.line else ''}"]
    if job.holder:
        lines.append(f"done by {job.holder}")
    if job.error:
        lines.append(job.error)
    counts = {name: value for name, value in job.result.items() if isinstance(value, int | str)}
    lines += [f"{name}: {value}" for name, value in counts.items()]
    for each in job.result.get("workers", ()):
        speed = each["files"] / each["seconds"] if each["seconds"] else 0.0
        lines.append(
            f"{each['worker']}: {counted(each['parts'], 'part')}, {each['files']} files, {speed:.1f} files a second"
        )
    return [*lines, *(f"warning: {warning}" for warning in job.result.get("warnings", ()))]
