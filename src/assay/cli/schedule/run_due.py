"""`assay schedule run-due`."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from pathlib import Path

import click

from assay import settings
from assay.app.schedules import ScheduleBook
from assay.cli import notify_options, options
from assay.cli.exits import Exit
from assay.cli.interrupts import Terminated, termination
from assay.cli.run_watch import Output
from assay.cli.schedule.due_runs import ask_due, output_for
from assay.cli.terminal import TerminalOptions, say


@click.command("run-due")
@notify_options.notify
@options.json_output
@options.common
@click.pass_obj
def command(state: TerminalOptions, notify: Sequence[str], as_json: bool, home: Path | None) -> int:
    """Ask every question that is due, one after another, and print how each report differs from the one before.

    For cron or a systemd timer: called more often than a question is due, it does nothing in between, and two calls
    at once do not ask twice. A run which a killed process left is gone on with. With --json a line each: {"schedule",
    "run", "status", "changes", …}. Exit codes: 0 done, or nothing due; 1 a run failed; 7 a run waits for answers.

    \b
        assay schedule run-due
        0 * * * *  assay schedule run-due -q --notify "mail -s assay me@example.org"
        assay schedule run-due --json
    """
    configured = settings.load()
    folder = home or configured.home
    output = output_for(state, configured, notify, as_json=as_json)
    return asyncio.run(_once(ScheduleBook(folder), folder, configured, output))


async def _once(book: ScheduleBook, folder: Path, configured: settings.Settings, output: Output) -> Exit:
    try:
        with termination(), termination(signal.SIGINT):
            return await ask_due(book, folder, configured, output)
    except Terminated as ended:
        say("interrupted; the next call goes on with what was begun")
        return Exit.CANCELLED if ended.number == signal.SIGINT else Exit.TERMINATED
