"""`assay docs list`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
import msgspec

from assay.app.assay import DEFAULT
from assay.cli import options
from assay.cli.docs.docs_options import collection as collection_option
from assay.cli.library import HOW_TO_ADD, check_collection, exists, stored, without_documents
from assay.cli.tables import table
from assay.cli.terminal import say, write
from assay.core.sources import Document


@click.command("list")
@collection_option
@options.json_output
@options.common
def command(collection: str, as_json: bool, home: Path | None) -> None:
    """List the documents of a collection, oldest first.

    \b
        assay docs list
        assay docs list -c thesis --json
    """
    documents, hint = asyncio.run(_documents(collection, home))
    if not documents:
        say(hint)
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(documents)).decode())
        return
    rows = [(each.sha256[:8], each.title or each.name, each.media_type, str(each.size), each.url) for each in documents]
    table(("document", "title", "type", "bytes", "from"), rows)


async def _documents(collection: str, home: Path | None) -> tuple[list[Document], str]:
    """The documents, and what to say where there are none."""
    if collection == DEFAULT and not exists(home):
        return [], HOW_TO_ADD
    async with stored(home) as assay:
        await check_collection(assay, collection)
        documents = await assay.documents(collection)
        return documents, "" if documents else await without_documents(assay, collection)
