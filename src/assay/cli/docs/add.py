"""`assay docs add`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import click

from assay.app.warnings import summed
from assay.cli import options
from assay.cli.arguments import paths_from
from assay.cli.completing import any_path
from assay.cli.library import opened
from assay.cli.progress import counted
from assay.cli.terminal import State, say


@click.command("add")
@click.argument("paths", nargs=-1, required=True, metavar="PATH…", shell_complete=any_path)
@options.collection
@options.common
@click.pass_obj
def command(state: State, paths: Sequence[str], collection: str, home: Path | None) -> None:
    """Add files, folders, globs or addresses of pages (- reads them from stdin); unchanged files cost nothing."""
    asyncio.run(_add(paths_from(paths), collection, home, state.verbosity))


async def _add(paths: list[str], collection: str, home: Path | None, verbosity: int) -> None:
    async with opened(home) as assay:
        done = await assay.add(paths, collection=collection, progress=say if verbosity >= 0 else None)
    for warning in done.warnings if verbosity > 0 else summed(done.warnings):
        say(f"warning: {warning}")
    if verbosity >= 0:
        say(f"{counted(done.documents, 'document')} from {counted(done.files, 'file')}, {done.added} of them new")
