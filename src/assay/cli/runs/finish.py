"""`assay runs finish`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.exits import Exit
from assay.cli.runs.run_control import controlled, tell


@click.command("finish")
@controlled
def command(reference: str, no_wait: bool, home: Path | None) -> Exit:
    """Finish the run ID: research ends now, and the report is written and verified from what was found.

    \b
        assay runs finish last
        assay runs finish k3v9 --no-wait
    """
    return tell(
        reference,
        "finish",
        home,
        wait=not no_wait,
        done=lambda run: f"research of run {run} has ended, its report is being written: assay runs watch {run}",
    )
