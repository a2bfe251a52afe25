"""`assay docs show`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
import msgspec

from assay.cli import options
from assay.cli.docs.docs_options import any_collection
from assay.cli.library import stored
from assay.cli.terminal import clean, harmless, write
from assay.core.sources import Document


class DocumentText(msgspec.Struct, frozen=True):
    """A document with its text."""

    document: Document
    text: str


@click.command("show")
@click.argument("reference", metavar="DOC")
@click.option("--text", "only_text", is_flag=True, help="Print only its text.")
@any_collection
@options.json_output
@options.common
def command(reference: str, only_text: bool, collection: str | None, as_json: bool, home: Path | None) -> None:
    """Show DOC, named by the start of its hash, its name, address or title.

    \b
        assay docs show 1f3870be
        assay docs show harbor.md --text | less
    """
    document, text = asyncio.run(_text(reference, collection, home))
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(DocumentText(document, text))).decode())
    elif only_text:
        write(harmless(text))
    else:
        for name, value in _facts(document):
            write(f"{name:<10}  {clean(value)}")


async def _text(reference: str, collection: str | None, home: Path | None) -> tuple[Document, str]:
    async with stored(home) as assay:
        return await assay.text(reference, collection)


def _facts(document: Document) -> list[tuple[str, str]]:
    facts = [
        ("document", document.sha256),
        ("title", document.title or document.name),
        ("from", document.url),
        ("author", document.author),
        ("published", document.published),
        ("language", document.language),
        ("type", document.media_type),
        ("text", f"{document.size:,} bytes, by {document.extractor}"),
        ("snapshot", document.snapshot_sha256),
        ("read", document.fetched_at),
        *sorted(document.metadata.items()),
    ]
    return [(name, value) for name, value in facts if value]
