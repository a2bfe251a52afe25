"""`assay runs steer`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click

from assay.app.run_control import LONGEST
from assay.cli import options
from assay.cli.exits import Exit
from assay.cli.library import stored
from assay.cli.runs.ids import run_ids
from assay.cli.runs.run_control import SECONDS, no_wait
from assay.cli.terminal import say
from assay.core.view import Steered


@click.command("steer")
@click.argument("reference", metavar="ID", shell_complete=run_ids)
@click.argument("text")
@no_wait
@options.common
def command(reference: str, text: str, no_wait: bool, home: Path | None) -> Exit:
    """Tell the run ID something while it goes on (TEXT; - reads it from stdin).

    The next decision heeds it: the orchestrator's or reflector's, else the writer's. It is stored at once, and what
    became of it stands in the run's log.

    \b
        assay runs steer last "Leave the prices out, and look for the year it was built"
        echo "only sources since 2020" | assay runs steer k3v9 -
    """
    said = sys.stdin.read(LONGEST + 2) if text == "-" else text
    told = asyncio.run(_steer(reference, said, home, 0.0 if no_wait else SECONDS))
    say(_came(told))
    return Exit.FAILED if told.state == "rejected" else Exit.DONE


async def _steer(reference: str, text: str, home: Path | None, wait: float) -> Steered:
    async with stored(home) as assay:
        row = await assay.find(reference)
        return await assay.steer(row.run_id, text, wait=wait if row.holder else 0.0)


def _came(told: Steered) -> str:
    if told.state == "applied":
        return f"heeded by the decision at {told.note}"
    if told.state == "rejected":
        return f"not heeded: {told.note}"
    return "stored; the run's next decision heeds it"
