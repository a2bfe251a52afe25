"""`assay docs search`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from assay import Assay
from assay.cli import options
from assay.cli.docs.options import collection as collection_option
from assay.cli.library import check_collection, stored
from assay.cli.terminal import clean, write
from assay.core.ports import Hit


class Asked(msgspec.Struct, frozen=True):
    """A row of a batch."""

    id: str | int
    query: str


class Found(msgspec.Struct, frozen=True, omit_defaults=True):
    """A document as an answer names it; `document` is its hash, `passages` only where a single query is asked."""

    document: str
    url: str
    title: str
    score: float
    passages: tuple[str, ...] = ()


class Answered(msgspec.Struct, frozen=True):
    """A batch's row, answered."""

    id: str | int
    hits: list[Found]


@click.command("search")
@click.argument("query", required=False)
@click.option("-k", "limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many documents.")
@click.option(
    "--batch",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE.jsonl",
    help="Many queries: rows {id, query} in, rows {id, hits} out.",
)
@collection_option
@options.json_output
@options.common
def command(
    query: str | None, limit: int, batch: Path | None, collection: str, as_json: bool, home: Path | None
) -> None:
    """Search the documents of a collection for QUERY, best first."""
    if (query is None) == (batch is None):
        raise click.UsageError("give a query, or --batch FILE.jsonl")
    if batch is not None:
        asyncio.run(_batch(batch, limit, collection, home))
        return
    hits = asyncio.run(_search(query or "", limit, collection, home))
    if as_json:
        found = [_found(hit, passages=True) for hit in hits]
        write(msgspec.json.format(msgspec.json.encode({"query": query, "hits": found})).decode())
    else:
        _show(hits)


async def _search(query: str, limit: int, collection: str, home: Path | None) -> list[Hit]:
    async with stored(home) as assay:
        hits = await assay.search(query, limit=limit, collection=collection)
        if not hits:
            await check_collection(assay, collection)
        return hits


async def _batch(file: Path, limit: int, collection: str, home: Path | None) -> None:
    async with stored(home) as assay:
        await check_collection(assay, collection)
        for asked in _rows(file):
            write(msgspec.json.encode(await _answer(assay, asked, limit, collection)).decode())


async def _answer(assay: Assay, asked: Asked, limit: int, collection: str) -> Answered:
    hits = await assay.search(asked.query, limit=limit, collection=collection)
    return Answered(asked.id, [_found(hit) for hit in hits])


def _rows(file: Path) -> Iterator[Asked]:
    with click.open_file(str(file), "rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _row(line, f"{file}, line {number}")


def _row(line: bytes, place: str) -> Asked:
    try:
        return msgspec.json.decode(line, type=Asked)
    except msgspec.DecodeError as error:
        raise click.UsageError(f"{place} is no row {{id, query}}: {error}") from error


def _found(hit: Hit, *, passages: bool = False) -> Found:
    texts = tuple(span.text for span in hit.spans) if passages else ()
    return Found(hit.document.sha256, hit.document.url, hit.document.title, hit.score, texts)


def _show(hits: list[Hit]) -> None:
    if not hits:
        click.echo("nothing found", err=True)
    for hit in hits:
        write(f"{clean(hit.document.title or hit.document.name)}  {clean(hit.document.url)}  ({hit.score:.2f})")
        for span in hit.spans[:2]:
            write(f"    {clean(span.text)}")
