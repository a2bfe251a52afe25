"""`assay worker`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
import msgspec

from assay import settings
from assay.cli import options
from assay.cli.exits import Exit
from assay.cli.interrupts import Terminated, interrupts, termination
from assay.cli.library import opened
from assay.cli.run_watch import Output
from assay.cli.terminal import TerminalOptions, clean, say, write
from assay.core.ports import QueueLimits
from assay.services.queue_workers import Working, work_all

FOR_ONE_MACHINE = "without a database (ASSAY_DATABASE) only runs of this home and this machine are in its queue"


@click.command("worker")
@click.option(
    "--slots", type=click.IntRange(1, 1000), metavar="N", help="Number of runs to execute at once [workers.slots: 4]."
)
@click.option(
    "--jobs", type=click.IntRange(0, 100), metavar="N", help="Number of jobs to do at once [workers.jobs: 1]; 0: none."
)
@click.option("--until-empty", is_flag=True, help="Stop when the queue has nothing left for this worker.")
@options.common
@click.pass_obj
def command(state: TerminalOptions, slots: int | None, jobs: int | None, until_empty: bool, home: Path | None) -> int:
    """Execute what others queued: runs (`assay research … --queue`) and jobs (`assay docs add … --queue`).

    One worker serves all users of one database.

    \b
        export ASSAY_DATABASE=postgresql://assay:secret@db.corp/assay
        assay worker --slots 8
        assay worker --until-empty --jobs 2

    Ctrl-C or SIGTERM lets go of everything at once; other workers go on with it where it is.
    """
    return asyncio.run(_work(state, slots, jobs, until_empty, home))


async def _work(
    state: TerminalOptions, slots: int | None, jobs: int | None, until_empty: bool, home: Path | None
) -> Exit:
    configured = settings.load()
    slots = slots or configured.workers.slots
    limits = QueueLimits(running=configured.workers.running, per_user=configured.workers.per_user)
    async with opened(home, configured) as assay:
        told = _told if state.verbosity >= 0 else _silent
        workers: list[Working] = [assay.worker(slots, limits, told)]
        if jobs := configured.workers.jobs if jobs is None else jobs:
            workers.append(assay.job_worker(jobs, told))

        def stop() -> None:
            for worker in workers:
                worker.stop()

        if state.verbosity >= 0:
            say(f"worker for {slots} run{'' if slots == 1 else 's'} at once; Ctrl-C ends it")
            if configured.database is None:
                say(FOR_ONE_MACHINE)
        try:
            with termination(), interrupts(stop):
                await work_all(workers, until_empty=until_empty)
        except Terminated:
            return Exit.TERMINATED
        return Exit.DONE


def check(output: Output, *, detach: bool) -> None:
    """Refuse what a run in the queue cannot give.

    Raises:
        click.UsageError: its events or files are wanted here, or a process of its own.
    """
    if detach:
        raise click.UsageError("--queue and --detach exclude each other: a worker executes the run, or a process here")
    if output.stdout == "events":
        raise click.UsageError("--queue and --events exclude each other; to see them: assay runs watch ID --events")
    if output.files:
        raise click.UsageError("--queue and -o exclude each other; when it is done: assay runs export ID -o FILE")


def left(run_id: str, output: Output) -> Exit:
    """Say that a run was left to the workers; its id goes to stdout."""
    write(msgspec.json.encode({"run": run_id}).decode() if output.stdout == "json" else run_id)
    if output.verbosity >= 0:
        say(f"queued; to watch: assay runs watch {run_id}")
    return Exit.DONE


def _told(line: str) -> None:
    say(clean(line))


def _silent(line: str) -> None:
    """Nothing is said."""
