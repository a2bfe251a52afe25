"""`assay threads rm`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay.cli import options
from assay.cli.confirmation import confirm
from assay.cli.library import stored
from assay.cli.progress import counted
from assay.cli.runs.retention import said
from assay.cli.terminal import clean, say
from assay.cli.threads.thread_names import thread_names


@click.command("rm")
@click.argument("reference", metavar="THREAD", shell_complete=thread_names)
@click.option("-y", "--yes", is_flag=True, help="Ask nothing.")
@options.common
def command(reference: str, yes: bool, home: Path | None) -> None:
    """Delete THREAD with all its runs, and the documents which only they had read.

    Nothing is deleted while a live process executes one of them.

    \b
        assay threads rm tides
        assay threads rm tides --yes
    """
    asyncio.run(_remove(reference, yes, home))


async def _remove(reference: str, yes: bool, home: Path | None) -> None:
    async with stored(home) as assay:
        row = await assay.thread(reference)
        named = f"{clean(row.name)}  {row.last_at[:10]}  {clean(row.title or row.question)}"
        confirm(f"Delete the thread with {counted(row.runs, 'run')}?", [named], yes=yes)
        deleted = await assay.delete_thread(row.name)
        swept = await assay.tidy()
    say(f"{counted(len(deleted), 'run')} deleted{said(swept)}")
