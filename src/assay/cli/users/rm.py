"""`assay users rm`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import click

from assay.cli import options
from assay.cli.confirmation import confirm
from assay.cli.library import opened
from assay.cli.progress import counted
from assay.cli.terminal import say


@click.command("rm")
@click.argument("names", nargs=-1, required=True, metavar="NAME…")
@click.option("--data", is_flag=True, help="Delete their runs, links, schedules, collections and uploads too.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask; use the defaults.")
@options.common
def command(names: Sequence[str], data: bool, yes: bool, home: Path | None) -> None:
    """Remove users: their sessions and tokens are worthless at once.

    Their runs and documents stay stored, for a user of the same name, or are deleted with --data.

    \b
        assay users rm ana
        assay users rm ana ben --data
    """
    if data:
        confirm(f"Delete all data of {counted(len(names), 'user')}?", names, yes=yes)
    asyncio.run(_remove(names, data, home))
    say(f"{counted(len(names), 'user')} removed")


async def _remove(names: Sequence[str], data: bool, home: Path | None) -> None:
    async with opened(home) as assay:
        for name in names:
            if data:
                await assay.users.close(name)
                erased = await assay.owned_by(name).erase()
                say(
                    f"of {name} were deleted: {counted(erased.runs, 'run')}, "
                    f"{counted(erased.collections, 'collection')}, {counted(erased.schedules, 'schedule')}"
                )
                if not erased.swept:
                    say("texts which nobody refers to any more go with the next clean-up: assay runs prune")
            await assay.users.remove(name)
            await assay.note("remove_user", name)
