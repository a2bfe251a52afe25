"""`assay runs cancel`."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.exits import Exit
from assay.cli.runs.run_control import controlled, tell, tell_agent


@click.command("cancel")
@click.option("--agent", "lane", type=click.IntRange(1), metavar="LANE", help="Stop this agent alone; the run goes on.")
@controlled
def command(reference: str, lane: int | None, no_wait: bool, home: Path | None) -> Exit:
    """Cancel the run ID, whatever process executes it: calls in flight end at once, findings are kept.

    \b
        assay runs cancel last
        assay runs cancel last --agent 2
    """
    if lane is not None:
        return tell_agent(reference, lane, home, wait=not no_wait)
    return tell(
        reference,
        "cancel",
        home,
        wait=not no_wait,
        done=lambda run: f"run {run} is cancelled; what it found is kept: assay runs show {run}",
    )
