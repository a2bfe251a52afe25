"""`assay runs cancel`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.exits import Exit
from assay.cli.runs.run_control import controlled, tell


@click.command("cancel")
@controlled
def command(reference: str, no_wait: bool, home: Path | None) -> Exit:
    """Cancel the run ID, whatever process executes it: calls in flight end at once, findings are kept.

    \b
        assay runs cancel last
        assay runs cancel k3v9 --no-wait
    """
    return tell(
        reference,
        "cancel",
        home,
        wait=not no_wait,
        done=lambda run: f"run {run} is cancelled; what it found is kept: assay runs show {run}",
    )
