"""`assay docs collections`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
import msgspec

from assay.cli import options
from assay.cli.library import HOW_TO_ADD, exists, stored
from assay.cli.progress import counted
from assay.cli.tables import table
from assay.cli.terminal import say, write
from assay.core.ports import CollectionRow


@click.command("collections")
@options.json_output
@options.common
def command(as_json: bool, home: Path | None) -> None:
    """List collections, with the number of documents and places of each.

    `assay QUESTION --in @NAME` researches in one.

    \b
        assay docs collections
        assay docs collections --json
    """
    rows = asyncio.run(_rows(home)) if exists(home) else []
    if not rows:
        say(HOW_TO_ADD)
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(rows)).decode())
        return
    cells = [
        (row.name, str(row.documents), counted(row.origins, "place"), "private" if row.private else "") for row in rows
    ]
    table(("collection", "documents", "from", ""), cells)


async def _rows(home: Path | None) -> list[CollectionRow]:
    async with stored(home) as assay:
        return await assay.collections()
