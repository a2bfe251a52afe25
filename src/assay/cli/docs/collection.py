"""`assay docs collection`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay import Assay
from assay.cli import options
from assay.cli.collection_names import collection_names
from assay.cli.library import opened, stored
from assay.cli.progress import counted
from assay.cli.terminal import clean, say, write
from assay.core.ports import Origin


@click.command("collection")
@click.argument("name", shell_complete=collection_names)
@click.option(
    "--private/--public",
    "private",
    default=None,
    help="Keep its documents on this machine: remote models never see them, and no web search runs beside them.",
)
@options.common
def command(name: str, private: bool | None, home: Path | None) -> None:
    """What the collection NAME was added from; or mark it as private, before anything is added if you like.

    A run which would show private documents to a model elsewhere, or search the web with them in scope, is refused
    before anything is sent; --allow-private lets it.

    \b
        assay docs collection diary --private
        assay docs add ~/diary -c diary
    """
    asyncio.run(_show(name, home) if private is None else _mark(name, private, home))


async def _mark(name: str, private: bool, home: Path | None) -> None:
    async with opened(home) as assay:
        await assay.mark(name, private=private)
    say(f"the collection {name} is {'private' if private else 'not private'}")


async def _show(name: str, home: Path | None) -> None:
    async with stored(home) as assay:
        await assay.check_collection(name)
        write(await _line(assay, name))
        for origin in await assay.origins(name):
            write(_told(origin))


async def _line(assay: Assay, name: str) -> str:
    row = next(row for row in await assay.collections() if row.name == name)
    private = ", private" if row.private else ""
    return f"{clean(row.name)}: {counted(row.documents, 'document')}{private}"


def _told(origin: Origin) -> str:
    out = f", {len(origin.left_out)} taken out" if origin.left_out else ""
    given = counted(len(origin.documents), "document")
    return f"  {clean(origin.place)}  ({origin.kind}, {given}{out}, looked at {origin.synced_at})"
