"""`assay schedule list`."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from assay import settings
from assay.app.schedules import ScheduleBook, said
from assay.cli import options
from assay.cli.tables import table
from assay.cli.terminal import say, write


@click.command("list")
@options.json_output
@options.common
def command(as_json: bool, home: Path | None) -> None:
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
