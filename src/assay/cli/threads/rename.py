"""`assay threads rename`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay.cli import options
from assay.cli.library import stored
from assay.cli.terminal import clean, say
from assay.cli.threads.thread_names import thread_names


@click.command("rename")
@click.argument("reference", metavar="THREAD", shell_complete=thread_names)
@click.argument("title")
@options.common
def command(reference: str, title: str, home: Path | None) -> None:
    """Give THREAD a TITLE; an empty one takes it away. Its name, by which --thread goes on in it, stays.

    \b
        assay threads rename tides "Tides of Brittany"
        assay threads rename tides ""
    """
    asyncio.run(_rename(reference, title, home))


async def _rename(reference: str, title: str, home: Path | None) -> None:
    async with stored(home) as assay:
        row = await assay.rename_thread(reference, title)
    say(f"{clean(row.name)}: {clean(row.title) or 'no title'}")
