"""Schedules: `list`, `rm`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from assay import settings
from assay.cli import options
from assay.cli.progress import counted
from assay.cli.tables import table
from assay.cli.terminal import say, write
from assay.services.schedules import ScheduleBook, said


@click.command("list")
@options.json_output
@options.common
def list_schedules(as_json: bool, home: Path | None) -> None:
    """The schedules, in the order of making: id, how often, when due, its latest run, question.

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
            (each.id, said(each.every), each.next_at[:16].replace("T", " "), each.current or each.last, each.question)
            for each in schedules
        ],
    )


@click.command("rm")
@click.argument("references", nargs=-1, required=True, metavar="ID…")
@options.common
def remove_schedule(references: Sequence[str], home: Path | None) -> None:
    """Forget the schedules ID… (or the starts of their ids); the runs which answered them stay.

    \b
        assay schedule rm k3v9q2
        assay schedule rm k3v9 m2p4
    """
    book = ScheduleBook(home or settings.load().home)
    ids = {book.find(reference).id for reference in references}
    for id in ids:
        book.remove(id)
    say(f"{counted(len(ids), 'schedule')} removed")
