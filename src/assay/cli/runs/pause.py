"""`assay runs pause`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.exits import Exit
from assay.cli.runs.run_control import controlled, tell


@click.command("pause")
@controlled
def command(reference: str, no_wait: bool, home: Path | None) -> Exit:
    """Pause the run ID, whatever process executes it: calls in flight are let go, all else is kept.

    `assay runs resume` goes on, in any process; nothing that was finished is paid for again.

    \b
        assay runs pause last
        assay runs pause k3v9 --no-wait
    """
    return tell(
        reference,
        "pause",
        home,
        wait=not no_wait,
        done=lambda run: f"run {run} is paused; to go on: assay runs resume {run}",
    )
