"""`assay docs sync`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay.app.assay import DEFAULT
from assay.app.collections import Synced
from assay.cli import options
from assay.cli.collection_names import collection_names
from assay.cli.docs.background import embed_in_background
from assay.cli.docs.docs_options import collection
from assay.cli.docs.docs_options import embedder as embedder_option
from assay.cli.docs.intake_report import skipped_count, tell
from assay.cli.library import configured_for, stored
from assay.cli.progress import counted
from assay.cli.terminal import TerminalOptions, say


@click.command("sync")
@click.argument("name", required=False, shell_complete=collection_names)
@collection
@embedder_option
@options.common
@click.pass_obj
def command(state: TerminalOptions, name: str | None, collection: str, embedder: str | None, home: Path | None) -> None:
    """Look again at everything a collection was added from: new documents come in, changed and deleted ones leave.

    NAME is the collection, as -c names it; @NAME is the same.

    What leaves a collection stays in the library, for the reports which cite it. A page or a repository which cannot be
    reached now stays as it was.

    \b
        assay docs sync thesis
        assay docs sync
    """
    if name and collection != DEFAULT:
        raise click.UsageError("name the collection once: NAME, or -c NAME")
    done = asyncio.run(_sync(name.removeprefix("@") if name else collection, home, state.verbosity))
    embed_in_background(configured_for(embedder), home, state.verbosity)
    tell(done.warnings, done.notes, done.skipped, state.verbosity)
    if state.verbosity >= 0:
        say(
            f"{done.added} added, {done.updated} updated, {done.removed} removed: {counted(done.documents, 'document')}"
            f"{skipped_count(done.skipped, done.collection)}"
        )


async def _sync(collection: str, home: Path | None, verbosity: int) -> Synced:
    async with stored(home) as assay:
        return await assay.sync(collection, progress=say if verbosity >= 0 else None)
