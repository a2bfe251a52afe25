"""Documents: `list`, `show`, `search`, `rm`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec

from assay import Assay
from assay.app.assay import DEFAULT_COLLECTION
from assay.cli import options
from assay.cli.completion import collection_names
from assay.cli.library import (
    HOW_TO_ADD,
    check_collection,
    empty_collection_message,
    format_name,
    library_exists,
    open_existing,
    read_library,
)
from assay.cli.options import any_collection_option, collection_option, embedder_option
from assay.cli.terminal import clean, confirm, print_list, say, strip_controls, write, write_json, write_lines
from assay.core.errors import UnknownName
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.milestones import pluralize, shorten
from assay.core.ports import Explanation, Hit, SkippedFile, WordScore
from assay.core.sources import Document
from assay.services import removal


@click.command("list")
@collection_option
@click.option("--skipped", is_flag=True, help="List the files and pages that were skipped, and why.")
@options.json_output
@options.common_options
def list_documents(collection: str, skipped: bool, as_json: bool, home: Path | None) -> None:
    """List the documents of a collection, oldest first; or what adding or syncing it skipped.

    \b
        assay docs list -c thesis --json
        assay docs list -c thesis --skipped
    """
    if skipped:
        _list_skipped(asyncio.run(_skipped_files(collection, home)), as_json)
        return
    documents, copies, hint = asyncio.run(_documents(collection, home, with_copies=as_json))
    if not documents:
        say(hint)
    rows = [
        (
            document.sha256[:8],
            document.title or document.name,
            format_name(document.media_type),
            str(document.size),
            document.url,
        )
        for document in documents
    ]
    listed_documents = [
        ListedDocument(**msgspec.structs.asdict(document), copies=copies.get(document.sha256, ()))
        for document in documents
    ]
    print_list(listed_documents, ("document", "title", "type", "bytes", "from"), rows, as_json=as_json)


def _list_skipped(files: list[SkippedFile], as_json: bool) -> None:
    if not files and not as_json:
        say("nothing was skipped")
    rows = [(file.path, "partly" if file.partly else "no", file.reason) for file in files]
    print_list(files, ("file", "read", "reason"), rows, as_json=as_json)


async def _skipped_files(collection: str, home: Path | None) -> list[SkippedFile]:
    if collection == DEFAULT_COLLECTION and not library_exists(home):
        return []
    async with open_existing(home) as assay:
        await check_collection(assay, collection)
        files = [file for origin in await assay.origins(collection) for file in origin.skipped]
        return list(dict.fromkeys(files))


class ListedDocument(Document, frozen=True, kw_only=True):
    """A document with the paths of the other files that have its text."""

    copies: tuple[str, ...] = ()


async def _documents(
    collection: str, home: Path | None, *, with_copies: bool
) -> tuple[list[Document], dict[str, tuple[str, ...]], str]:
    """The documents, the copies of each if asked for, and the message if there are none."""
    if collection == DEFAULT_COLLECTION and not library_exists(home):
        return [], {}, HOW_TO_ADD
    async with open_existing(home) as assay:
        await check_collection(assay, collection)
        documents = await assay.documents(collection)
        hint = "" if documents else await empty_collection_message(assay, collection)
        return documents, await assay.copies(documents) if with_copies else {}, hint


class DocumentText(msgspec.Struct, frozen=True):
    """A document with its text, and the paths of the other files that have it."""

    document: Document
    text: str
    copies: tuple[str, ...] = ()


@click.command("show")
@click.argument("reference", metavar="DOC")
@click.option("--text", "only_text", is_flag=True, help="Print only its text.")
@any_collection_option
@options.json_output
@options.common_options
def show_document(reference: str, only_text: bool, collection: str | None, as_json: bool, home: Path | None) -> None:
    """Show DOC, named by the start of its hash, its name, address or title.

    \b
        assay docs show 1f3870be
        assay docs show harbor.md --text | less
    """
    result = read_library(home, lambda assay: _text(assay, reference, collection))
    if as_json:
        write_json(result)
    elif only_text:
        write(strip_controls(result.text))
    else:
        facts = [*_facts(result.document), *(("copy", path) for path in result.copies)]
        write_lines(f"{name:<10}  {clean(value)}" for name, value in facts)


async def _text(assay: Assay, reference: str, collection: str | None) -> DocumentText:
    document, text = await assay.text(reference, collection)
    return DocumentText(document, text, (await assay.copies([document])).get(document.sha256, ()))


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
@options.yes_option
@options.common_options
def remove_documents(references: Sequence[str], collection: str | None, yes: bool, home: Path | None) -> None:
    """Remove documents from a collection, or the whole collection.

    DOC is the start of a hash, or all of a name, address, title or path, or a pattern for these in quotes (`*`, `?`;
    `**` for any folders). PLACE is a source of the collection or a folder, and stands for all documents from there,
    however they were added. The library keeps the documents for the reports that cite them, and a sync does not bring
    them back.

    \b
        assay docs rm draft.md -c thesis
        assay docs rm papers/ -c thesis
        assay docs rm '*-draft.md' -c thesis
        assay docs rm -c thesis
    """
    if not references and collection is None:
        raise click.UsageError("name documents to remove, or a collection to delete with -c NAME")
    if references:
        asyncio.run(_remove(references, collection, yes, home))
    else:
        asyncio.run(_drop(collection or DEFAULT_COLLECTION, yes, home))


async def _expand_patterns(assay: Assay, references: Sequence[str], collection: str | None) -> Sequence[str]:
    """The references without patterns; without a default collection, the error asks for the name of another."""
    collection_name = collection or DEFAULT_COLLECTION
    try:
        await assay.check_collection(collection_name)
    except UnknownName as error:
        if collection is not None or error.kind != "collection" or not error.known:
            raise
        raise click.UsageError(f"name the collection with -c: {', '.join(error.known)}") from error
    if not any(map(removal.is_pattern, references)):
        return references
    return removal.expand_patterns(
        references, await assay.documents(collection_name), await assay.origins(collection_name), collection_name
    )


async def _remove(references: Sequence[str], collection: str | None, yes: bool, home: Path | None) -> None:
    async with open_existing(home) as assay:
        references = await _expand_patterns(assay, references, collection)
        collection = collection or DEFAULT_COLLECTION
        documents = await assay.meant(references, collection)
        titles = [
            f"{document.sha256[:8]}  {shorten(clean(document.title or document.name), 100)}" for document in documents
        ]
        confirm(f"Take {pluralize(len(documents), 'document')} out of {collection}?", titles, yes=yes)
        removed = await assay.remove(references, collection)
    say(f"{pluralize(len(removed), 'document')} taken out of {collection}")


async def _drop(collection: str, yes: bool, home: Path | None) -> None:
    async with open_existing(home) as assay:
        await assay.check_collection(collection)
        documents = await assay.documents(collection)
        confirm(f"Delete the collection {collection} ({pluralize(len(documents), 'document')})?", [], yes=yes)
        await assay.drop(collection)
    say(f"the collection {collection} is deleted")


MAX_EXPLAINED_WORDS = 8
"""The most words of an explanation that are shown one by one."""


class QueryRow(msgspec.Struct, frozen=True):
    """A row of a batch."""

    id: str | int
    query: str


class DocumentHit(msgspec.Struct, frozen=True, omit_defaults=True):
    """A document in an answer; `document` is its hash, `passages` are only present for a single query."""

    document: str
    url: str
    title: str
    score: float
    passages: tuple[str, ...] = ()


class ExplainedDocument(msgspec.Struct, frozen=True):
    """A document with the reasons for its rank; null for rankings that were not used or do not contain it."""

    found: DocumentHit
    lexical: float | None
    lexical_rank: int | None
    cosine: float | None
    cosine_rank: int | None
    words: tuple[WordScore, ...]


class QueryResult(msgspec.Struct, frozen=True):
    """A row of a batch with its answer."""

    id: str | int
    hits: list[DocumentHit]


@click.command("search")
@click.argument("query", required=False)
@click.option(
    "-k", "limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Number of documents to show."
)
@click.option(
    "--batch",
    type=options.FilePath(exists=True, dir_okay=False, allow_dash=True),
    metavar="FILE.jsonl",
    help="Read many queries: rows {id, query} in, rows {id, hits} out.",
)
@click.option("--explain", is_flag=True, help="Explain the rank of each hit: words, cosine, ranks.")
@embedder_option
@collection_option
@options.json_output
@options.common_options
def search(
    query: str | None,
    limit: int,
    batch: Path | None,
    explain: bool,
    embedder: str | None,
    collection: str,
    as_json: bool,
    home: Path | None,
) -> None:
    """Search the documents of a collection for QUERY, best first.

    \b
        assay docs search "tidal range" -c thesis
        assay docs search "tidal range" --explain
    """
    if (query is None) == (batch is None):
        raise click.UsageError("give a query, or --batch FILE.jsonl")
    if batch is not None and explain:
        raise click.UsageError("--explain is for one query, not for --batch")
    if batch is not None:
        asyncio.run(_batch(batch, limit, collection, embedder, home))
        return
    explanations = asyncio.run(_search(query or "", limit, collection, embedder, home, explain))
    if as_json:
        hits = [
            _explain(explanation) if explain else _document_hit(explanation.hit, passages=True)
            for explanation in explanations
        ]
        write_json({"query": query, "hits": hits})
    else:
        write_lines(line for explanation in explanations for line in _hit_lines(explanation, explain))


async def _search(
    query: str, limit: int, collection: str, embedder: str | None, home: Path | None, explain: bool
) -> list[Explanation]:
    async with open_existing(home, embedder) as assay:
        if explain:
            explanations = await assay.explain(query, limit=limit, collection=collection)
        else:
            explanations = [
                Explanation(hit=hit) for hit in await assay.search(query, limit=limit, collection=collection)
            ]
        if not explanations:
            await check_collection(assay, collection)
            say(
                "nothing found"
                if await assay.documents(collection)
                else await empty_collection_message(assay, collection)
            )
        return explanations


async def _batch(file: Path, limit: int, collection: str, embedder: str | None, home: Path | None) -> None:
    async with open_existing(home, embedder) as assay:
        await check_collection(assay, collection)
        for row in _rows(file):
            write_json(await _answer(assay, row, limit, collection), line=True)


async def _answer(assay: Assay, row: QueryRow, limit: int, collection: str) -> QueryResult:
    hits = await assay.search(row.query, limit=limit, collection=collection)
    return QueryResult(row.id, [_document_hit(hit) for hit in hits])


def _rows(file: Path) -> Iterator[QueryRow]:
    with click.open_file(str(file), "rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _row(line, f"{file}, line {number}")


def _row(line: bytes, location: str) -> QueryRow:
    try:
        return msgspec.json.decode(line, type=QueryRow)
    except DECODE_ERRORS as error:
        raise click.UsageError(f"{location} is no row {{id, query}}: {error}") from error


def _document_hit(hit: Hit, *, passages: bool = False) -> DocumentHit:
    texts = tuple(span.text for span in hit.spans) if passages else ()
    return DocumentHit(hit.document.sha256, hit.document.url, hit.document.title, hit.score, texts)


def _explain(explanation: Explanation) -> ExplainedDocument:
    return ExplainedDocument(
        _document_hit(explanation.hit, passages=True),
        explanation.lexical,
        explanation.lexical_rank,
        explanation.cosine,
        explanation.cosine_rank,
        explanation.words,
    )


def _hit_lines(explanation: Explanation, explain: bool) -> Iterator[str]:
    """A hit as lines: its document, the reasons for its rank, and what it says."""
    hit = explanation.hit
    yield f"{clean(hit.document.title or hit.document.name)}  {clean(hit.document.url)}  ({hit.score:.2f})"
    if explain:
        yield from (f"    {clean(line)}" for line in _reasons(explanation))
    yield from (f"    {clean(span.text)}" for span in hit.spans[:2])


def _reasons(explanation: Explanation) -> Iterator[str]:
    if explanation.lexical is None:
        yield "by words: not found"
    else:
        yield f"by words: {explanation.lexical:.2f}, rank {explanation.lexical_rank}"
        for word in explanation.words[:MAX_EXPLAINED_WORDS]:
            yield f"  {word.word} in {word.field}: {word.score:.2f}{' (added by the search)' if word.added else ''}"
        if remaining := explanation.words[MAX_EXPLAINED_WORDS:]:
            yield f"  {len(remaining)} more: {sum(word.score for word in remaining):.2f}"
    if explanation.cosine is not None:
        yield f"by meaning: cosine {explanation.cosine:.3f}, rank {explanation.cosine_rank}"
