"""`assay docs rm`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import click

from assay.cli import options
from assay.cli.collection_names import collection_names
from assay.cli.confirmation import confirm
from assay.cli.library import stored
from assay.cli.progress import counted, shorten
from assay.cli.terminal import clean, say


@click.command("rm")
@click.argument("references", nargs=-1, metavar="DOC|PLACE…")
@click.option(
    "-c",
    "--collection",
    metavar="NAME",
    shell_complete=collection_names,
    help="Name of the collection (default); without DOC, remove all of it.",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask; use the defaults.")
@options.common
def command(references: Sequence[str], collection: str | None, yes: bool, home: Path | None) -> None:
    """Take documents out of a collection, or forget the collection.

    DOC is the start of its hash, its name, address, title or path; PLACE is what it was added from, a folder for one,
    and stands for all that gave. The library keeps the documents, for the reports which cite them; a sync does not
    bring back what was taken out.

    \b
        assay docs rm draft.md -c thesis
        assay docs rm papers/ -c thesis
        assay docs rm -c thesis
    """
    if not references and collection is None:
        raise click.UsageError("name documents to take out, or a collection to forget with -c NAME")
    if references:
        asyncio.run(_remove(references, collection or "default", yes, home))
    else:
        asyncio.run(_drop(collection or "default", yes, home))


async def _remove(references: Sequence[str], collection: str, yes: bool, home: Path | None) -> None:
    async with stored(home) as assay:
        meant = await assay.meant(references, collection)
        titles = [f"{each.sha256[:8]}  {shorten(clean(each.title or each.name), 100)}" for each in meant]
        confirm(f"Take {counted(len(meant), 'document')} out of {collection}?", titles, yes=yes)
        done = await assay.remove(references, collection)
    say(f"{counted(len(done), 'document')} taken out of {collection}")


async def _drop(collection: str, yes: bool, home: Path | None) -> None:
    async with stored(home) as assay:
        await assay.check_collection(collection)
        held = await assay.documents(collection)
        confirm(f"Forget the collection {collection} ({counted(len(held), 'document')})?", [], yes=yes)
        await assay.drop(collection)
    say(f"the collection {collection} is forgotten")
