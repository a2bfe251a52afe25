"""Schedules: `add`, `list`, `rm`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import click
import msgspec

from assay import settings
from assay.cli import options, run_options
from assay.cli.arguments import ResearchCommand, paths_from, question_from, there
from assay.cli.terminal import TerminalOptions, say, table, write
from assay.core.milestones import counted
from assay.services.schedules import ScheduleBook, format_interval, read_every
from assay.services.schedules.book import lasting, lasting_sources


@click.command("add", cls=ResearchCommand)
@click.argument("words", nargs=-1, metavar="QUESTION")
@click.option("--every", required=True, metavar="TIME", help="Interval: 30m, 12h, 7d, 2w, hourly, daily, weekly.")
@run_options.places(", as they are then")
@run_options.run_options("schedule")
@options.common
@click.pass_obj
def add_schedule(
    state: TerminalOptions, /, words: Sequence[str], every: str, paths: Sequence[str], home: Path | None, **ways: Any
) -> None:
    """Ask QUESTION every TIME, and print the schedule's id. It is due at once, for `assay schedule run-due`.

    Options given here are stored. Everything else comes from the settings at the time of each run. --template,
    --instructions and --schema are read now, the documents of --in each time.

    \b
        assay schedule add "What is new in Python packaging?" --every 7d
        assay schedule add "Which prices changed?" --every daily --in prices/ --max-usd 0.50
    """
    configured = settings.load()
    question, seconds = question_from(words, paths), read_every(every)
    kept = lasting(question, cast("Any", ways), configured)
    sources = lasting_sources(there(paths_from(paths))) if paths else None
    made = ScheduleBook(home or configured.home).add(question, seconds, sources, kept, datetime.now(UTC))
    write(made.id)
    if state.verbosity >= 0:
        say(f"asked every {format_interval(seconds)} by `assay schedule run-due` (cron) or `assay schedule watch`")


@click.command("list")
@options.json_output
@options.common
def list_schedules(as_json: bool, home: Path | None) -> None:
    """List schedules, oldest first: id, interval, next time, latest run, question.

    \b
        assay schedule list
        assay schedule list --json
    """
    schedules = ScheduleBook(home or settings.load().home).all()
    if not schedules:
        say("there are no schedules yet: `assay schedule add QUESTION --every 7d` makes the first")
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(schedules)).decode())
        return
    table(
        ("schedule", "every", "due", "last run", "question"),
        [
            (
                each.id,
                format_interval(each.every),
                each.next_at[:16].replace("T", " "),
                each.current or each.last,
                each.question,
            )
            for each in schedules
        ],
    )


@click.command("rm")
@click.argument("references", nargs=-1, required=True, metavar="ID…")
@options.common
def remove_schedule(references: Sequence[str], home: Path | None) -> None:
    """Delete the schedules ID… (or the starts of ids). Their runs stay.

    \b
        assay schedule rm k3v9q2
        assay schedule rm k3v9 m2p4
    """
    book = ScheduleBook(home or settings.load().home)
    ids = {book.find(reference).id for reference in references}
    for id in ids:
        book.remove(id)
    say(f"{counted(len(ids), 'schedule')} removed")
