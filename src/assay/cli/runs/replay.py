"""`assay runs replay`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
import msgspec

from assay.app.replays import Replay
from assay.cli import options
from assay.cli.exits import Exit
from assay.cli.library import stored
from assay.cli.runs.ids import run_ids
from assay.cli.terminal import clean, write

SHOWN = 20
"""Differences listed; `--json` has all of them."""


@click.command("replay")
@click.argument("reference", metavar="ID", shell_complete=run_ids)
@options.json_output
@options.common
@click.pass_context
def command(ctx: click.Context, reference: str, as_json: bool, home: Path | None) -> None:
    """Compute the run ID again from the steps it stored, and compare: no model, no search, no page is asked.

    Exits with 3 when anything differs, as it may after prompts or code have changed.

    \b
        assay runs replay last
        assay runs replay k3v9 --json
    """
    found = asyncio.run(_replay(reference, home))
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        _tell(found)
    if not found.is_same:
        ctx.exit(Exit.UNVERIFIED)


async def _replay(reference: str, home: Path | None) -> Replay:
    async with stored(home) as assay:
        return await assay.replay(reference)


def _tell(found: Replay) -> None:
    report = "the report is the same, byte for byte" if found.same_report else "the report differs"
    write(f"{found.run_id}: {report}; {found.steps} stored steps, {found.events} events computed again")
    for line in found.differences[:SHOWN]:
        write(f"  {clean(line)}")
    if len(found.differences) > SHOWN:
        write(f"  and {len(found.differences) - SHOWN} more")
