"""`assay schedule watch`."""

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
from assay.cli.progress import counted
from assay.cli.run_watch import Output
from assay.cli.schedule.due_runs import ask_due, output_for
from assay.cli.terminal import TerminalOptions, say

EVERY = 20.0
"""Seconds between two looks: schedules may be added and removed meanwhile."""


@click.command("watch")
@notify_options.notify
@options.json_output
@options.common
@click.pass_obj
def command(state: TerminalOptions, notify: Sequence[str], as_json: bool, home: Path | None) -> int:
    """Stay, ask each question when it is due, and print what changed; Ctrl-C or SIGTERM ends it.

    What a run was at when it was ended is gone on with by the next `watch` or `run-due`.

    \b
        assay schedule watch --notify https://example.org/hook
        assay schedule watch
    """
    configured = settings.load()
    folder = home or configured.home
    output = output_for(state, configured, notify, as_json=as_json)
    return asyncio.run(_stay(ScheduleBook(folder), folder, configured, output))


async def _stay(book: ScheduleBook, folder: Path, configured: settings.Settings, output: Output) -> Exit:
    if output.verbosity >= 0:
        say(f"watching {counted(len(book.all()), 'schedule')} (Ctrl-C ends)")
    try:
        with termination(), termination(signal.SIGINT):
            while True:
                await ask_due(book, folder, configured, output)
                await asyncio.sleep(EVERY)
    except Terminated as ended:
        return Exit.DONE if ended.number == signal.SIGINT else Exit.TERMINATED
