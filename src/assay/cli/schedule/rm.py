"""`assay schedule rm`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from assay import settings
from assay.app.schedules import ScheduleBook
from assay.cli import options
from assay.cli.progress import counted
from assay.cli.terminal import say


@click.command("rm")
@click.argument("references", nargs=-1, required=True, metavar="ID…")
@options.common
def command(references: Sequence[str], home: Path | None) -> None:
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
