"""`assay docs search`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from assay import Assay
from assay.cli import options
from assay.cli.docs.docs_options import collection_option, embedder_option
from assay.cli.library import check_collection, stored
from assay.cli.terminal import clean, say, write
from assay.core.json_decoders import UNREADABLE
from assay.core.ports import Explanation, Hit, WordScore

MOST_WORDS = 8
"""Words of an explanation which are shown one by one."""


class QueryRow(msgspec.Struct, frozen=True):
    """A row of a batch."""

    id: str | int
    query: str


class DocumentHit(msgspec.Struct, frozen=True, omit_defaults=True):
    """A document as an answer names it; `document` is its hash, `passages` only where a single query is asked."""

    document: str
    url: str
    title: str
    score: float
    passages: tuple[str, ...] = ()


class Explained(msgspec.Struct, frozen=True):
    """A document, and why it stands where it stands; what was not asked, or does not know it, is null."""

    found: DocumentHit
    lexical: float | None
    lexical_rank: int | None
    cosine: float | None
    cosine_rank: int | None
    words: tuple[WordScore, ...]


class QueryResult(msgspec.Struct, frozen=True):
    """A batch's row, answered."""

    id: str | int
    hits: list[DocumentHit]


@click.command("search")
@click.argument("query", required=False)
@click.option(
    "-k", "limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Number of documents to show."
)
@click.option(
    "--batch",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE.jsonl",
    help="Read many queries: rows {id, query} in, rows {id, hits} out.",
)
@click.option("--explain", is_flag=True, help="Explain the rank of each hit: words, cosine, ranks.")
@embedder_option
@collection_option
@options.json_output
@options.common
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
    found = asyncio.run(_search(query or "", limit, collection, embedder, home, explain))
    if as_json:
        hits = [_explained(each) if explain else _found(each.hit, passages=True) for each in found]
        write(msgspec.json.format(msgspec.json.encode({"query": query, "hits": hits})).decode())
    else:
        _show(found, explain)


async def _search(
    query: str, limit: int, collection: str, embedder: str | None, home: Path | None, explain: bool
) -> list[Explanation]:
    async with stored(home, embedder) as assay:
        if explain:
            found = await assay.explain(query, limit=limit, collection=collection)
        else:
            found = [Explanation(hit=hit) for hit in await assay.search(query, limit=limit, collection=collection)]
        if not found:
            await check_collection(assay, collection)
        return found


async def _batch(file: Path, limit: int, collection: str, embedder: str | None, home: Path | None) -> None:
    async with stored(home, embedder) as assay:
        await check_collection(assay, collection)
        for asked in _rows(file):
            write(msgspec.json.encode(await _answer(assay, asked, limit, collection)).decode())


async def _answer(assay: Assay, asked: QueryRow, limit: int, collection: str) -> QueryResult:
    hits = await assay.search(asked.query, limit=limit, collection=collection)
    return QueryResult(asked.id, [_found(hit) for hit in hits])


def _rows(file: Path) -> Iterator[QueryRow]:
    with click.open_file(str(file), "rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _row(line, f"{file}, line {number}")


def _row(line: bytes, place: str) -> QueryRow:
    try:
        return msgspec.json.decode(line, type=QueryRow)
    except UNREADABLE as error:
        raise click.UsageError(f"{place} is no row {{id, query}}: {error}") from error


def _found(hit: Hit, *, passages: bool = False) -> DocumentHit:
    texts = tuple(span.text for span in hit.spans) if passages else ()
    return DocumentHit(hit.document.sha256, hit.document.url, hit.document.title, hit.score, texts)


def _explained(found: Explanation) -> Explained:
    return Explained(
        _found(found.hit, passages=True),
        found.lexical,
        found.lexical_rank,
        found.cosine,
        found.cosine_rank,
        found.words,
    )


def _show(found: list[Explanation], explain: bool) -> None:
    if not found:
        say("nothing found")
    for each in found:
        hit = each.hit
        write(f"{clean(hit.document.title or hit.document.name)}  {clean(hit.document.url)}  ({hit.score:.2f})")
        if explain:
            for line in _reasons(each):
                write(f"    {clean(line)}")
        for span in hit.spans[:2]:
            write(f"    {clean(span.text)}")


def _reasons(found: Explanation) -> Iterator[str]:
    """Why a hit stands where it stands, in lines."""
    if found.lexical is None:
        yield "by words: not found"
    else:
        yield f"by words: {found.lexical:.2f}, rank {found.lexical_rank}"
        for word in found.words[:MOST_WORDS]:
            yield f"  {word.word} in {word.field}: {word.score:.2f}{' (added by the search)' if word.added else ''}"
        if rest := found.words[MOST_WORDS:]:
            yield f"  {len(rest)} more: {sum(word.score for word in rest):.2f}"
    if found.cosine is not None:
        yield f"by meaning: cosine {found.cosine:.3f}, rank {found.cosine_rank}"
