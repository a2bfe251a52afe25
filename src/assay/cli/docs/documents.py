"""Documents: `list`, `show`, `rm`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from assay.app.assay import DEFAULT
from assay.cli import options
from assay.cli.confirmation import confirm
from assay.cli.docs.docs_options import any_collection_option, collection_option
from assay.cli.library import HOW_TO_ADD, check_collection, exists, stored, without_documents
from assay.cli.progress import counted, shorten
from assay.cli.stored_names import collection_names
from assay.cli.tables import table
from assay.cli.terminal import clean, harmless, say, write
from assay.core.ports import SkippedFile
from assay.core.sources import Document


@click.command("list")
@collection_option
@click.option("--skipped", is_flag=True, help="List instead what was skipped where it was added from, and why.")
@options.json_output
@options.common
def list_documents(collection: str, skipped: bool, as_json: bool, home: Path | None) -> None:
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


class DocumentText(msgspec.Struct, frozen=True):
    """A document with its text."""

    document: Document
    text: str


@click.command("show")
@click.argument("reference", metavar="DOC")
@click.option("--text", "only_text", is_flag=True, help="Print only its text.")
@any_collection_option
@options.json_output
@options.common
def show_document(reference: str, only_text: bool, collection: str | None, as_json: bool, home: Path | None) -> None:
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
def remove_documents(references: Sequence[str], collection: str | None, yes: bool, home: Path | None) -> None:
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
