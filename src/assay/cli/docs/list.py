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
from assay.core.ports import SkippedFile
from assay.core.sources import Document


@click.command("list")
@collection_option
@click.option("--skipped", is_flag=True, help="List instead what was skipped where it was added from, and why.")
@options.json_output
@options.common
def command(collection: str, skipped: bool, as_json: bool, home: Path | None) -> None:
    """List the documents of a collection, oldest first; or what adding or syncing it skipped.

    \b
        assay docs list -c thesis --json
        assay docs list -c thesis --skipped
    """
    if skipped:
        _list_skipped(asyncio.run(_skipped(collection, home)), as_json)
        return
    documents, hint = asyncio.run(_documents(collection, home))
    if not documents:
        say(hint)
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(documents)).decode())
        return
    rows = [(each.sha256[:8], each.title or each.name, each.media_type, str(each.size), each.url) for each in documents]
    table(("document", "title", "type", "bytes", "from"), rows)


def _list_skipped(files: list[SkippedFile], as_json: bool) -> None:
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(files)).decode())
        return
    if not files:
        say("nothing was skipped")
    table(("file", "read", "reason"), [(each.path, "partly" if each.partly else "no", each.reason) for each in files])


async def _skipped(collection: str, home: Path | None) -> list[SkippedFile]:
    if collection == DEFAULT and not exists(home):
        return []
    async with stored(home) as assay:
        await check_collection(assay, collection)
        found = [each for origin in await assay.origins(collection) for each in origin.skipped]
        return list(dict.fromkeys(found))


async def _documents(collection: str, home: Path | None) -> tuple[list[Document], str]:
    """The documents, and what to say where there are none."""
    if collection == DEFAULT and not exists(home):
        return [], HOW_TO_ADD
    async with stored(home) as assay:
        await check_collection(assay, collection)
        documents = await assay.documents(collection)
        return documents, "" if documents else await without_documents(assay, collection)
