"""What a run would read of pages and files: their text and metadata; nothing is stored.

Pages are fetched by the rules of the settings.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec

from assay import plugins
from assay.core.errors import ExtractError, FetchFailed, UsageError
from assay.core.ports import Clock, Extractor, Fetcher, PageCache
from assay.core.sources import RENDERED_HEADER, BlockKind, Extracted, Fetched, Syntax, sha256
from assay.evidence.ingest import (
    FileToRead,
    IngestPart,
    Unit,
    UnitProblem,
    Units,
    extractor_for,
    find_files,
    page_text,
    printable,
)
from assay.evidence.ingest.files import NAME_TEXT
from assay.evidence.segment import segment
from assay.run.releases import own_release
from assay.services.context import Context
from assay.services.ports import Readers
from assay.settings.sections import Web
from assay.store.memory_library import MemoryLibrary

AGENT = f"Assay/{own_release()} (research assistant; reads what its user asks for)"


class ReadPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page as a run would read it: its text and metadata; `sha256` names the snapshot.

    `rendered` is the browser that produced the page, "" if the bytes are the server's.
    """

    url: str
    final_url: str
    redirects: tuple[str, ...]
    status: int
    media_type: str
    sha256: str
    size: int
    fetched_at: str
    headers: dict[str, str]
    extractor: str
    title: str
    author: str
    published: str
    language: str
    rendered: str
    text: str


def make_fetcher(settings: Web, clock: Clock, page_cache: PageCache | None = None) -> Fetcher:
    """Make a fetcher that follows the settings; close it afterwards. `page_cache` caches pages.

    Raises:
        ConfigError: `web.allow` contains something that is neither a host nor a network, or pages are always to be
            rendered and the extra for that is not installed.
    """
    create: Callable[..., Fetcher] = partial(
        plugins.load("fetchers", "http"),
        clock,
        agent=AGENT,
        seconds=settings.timeout,
        largest=int(settings.max_mb * 1_000_000),
        robots=settings.robots,
    )
    pages = create(allow=settings.allow, kept=page_cache)
    if settings.browser == "off":
        return pages
    # A page that runs request is public, whatever the settings allow.
    rendering: Fetcher = plugins.load("fetchers", "browser")(
        pages,
        partial(create, allow=()),
        mode=settings.browser,
        largest=int(settings.max_mb * 1_000_000),
        executable=str(settings.chromium or ""),
    )
    return rendering


@asynccontextmanager
async def open_fetcher(settings: Web, clock: Clock, page_cache: PageCache | None = None) -> AsyncIterator[Fetcher]:
    """A fetcher for the block. `page_cache` caches pages.

    Raises:
        ConfigError: the settings cannot be followed.
    """
    fetcher = make_fetcher(settings, clock, page_cache)
    try:
        yield fetcher
    finally:
        await fetcher.close()


async def read_page(fetcher: Fetcher, readers: Readers, url: str) -> ReadPage:
    """Fetch and read one page.

    Raises:
        FetchFailed: it cannot be fetched, or nothing in it can be read ("not text", "too slow", "unreadable").
    """
    page = await fetcher.fetch(url)
    try:
        extracted = await asyncio.to_thread(_extract, page, readers.page_extractors())
    except ExtractError as error:
        raise FetchFailed(f"{error.kind}: {error}") from error
    return ReadPage(
        url=page.url,
        final_url=page.final_url,
        redirects=page.redirects,
        status=page.status,
        media_type=page.media_type,
        sha256=sha256(page.body),
        size=len(page.body),
        fetched_at=page.fetched_at,
        headers=page.headers,
        extractor=extracted.extractor,
        title=extracted.title,
        author=extracted.author,
        published=extracted.published,
        language=extracted.language,
        rendered=page.headers.get(RENDERED_HEADER, ""),
        text=extracted.text,
    )


def _extract(page: Fetched, extractors: Sequence[Extractor]) -> Extracted:
    extractor = extractor_for(page, extractors)
    if extractor is None:
        raise ExtractError(f"nothing reads {page.media_type}")
    extracted = next(iter(extractor.extract(page_text(page), page.final_url)), None)
    if extracted is None:
        raise ExtractError("empty")
    return extracted


# Files.

BINARY = "binary, not text"


class ReadBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A passage of a text, which a model may cite: bytes `start` to `end` of the text's UTF-8.

    `heading` is the path of headings above it, `page` counts from 1 (0: no pages). `label` and `lead` give its topic
    and context, as in `Span`.
    """

    kind: BlockKind
    start: int
    end: int
    text: str
    heading: tuple[str, ...] = ()
    page: int = 0
    label: str = ""
    lead: str = ""


class ReadDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document in a file, as a run would read it.

    `sha256` names the snapshot (the bytes), `document_sha256` the text; `size` counts the snapshot's bytes. `member` is
    the path inside an archive; `name` distinguishes several documents of one file. `warnings` say what could not be
    read.
    """

    file: str
    member: str = ""
    name: str
    url: str
    media_type: str
    sha256: str
    size: int
    document_sha256: str
    extractor: str
    syntax: Syntax
    title: str
    author: str
    published: str
    language: str
    metadata: dict[str, str]
    warnings: tuple[str, ...] = ()
    text: str
    blocks: tuple[ReadBlock, ...]


class Unread(msgspec.Struct, frozen=True, kw_only=True):
    """A file, or a `member` of an archive, of which nothing could be read, and the reason."""

    file: str
    member: str = ""
    reason: str


ReadResult = ReadDocument | Unread


async def extract(context: Context, path: str | Path) -> AsyncIterator[ReadResult]:
    """The documents in a file, in order; see `DocumentLibrary.extract`."""
    largest = int(context.settings.documents.max_file_mb * 1_000_000)
    results = await asyncio.to_thread(_read, path, context.readers, largest)
    while (result := await asyncio.to_thread(next, results, None)) is not None:
        yield result


def _read(path: str | Path, readers: Readers, largest: int) -> Iterator[ReadResult]:
    units = Units(MemoryLibrary(), readers.extractors(), readers.archives(), largest)
    return _files(path, units)


def _files(path: str | Path, units: Units) -> Iterator[ReadResult]:
    try:
        files, warnings = find_files([path])
    except UsageError as error:
        yield Unread(file=printable(path), reason=str(error))
        return
    any_read = bool(warnings)
    for file in files:
        for unit in units.of_files([file]):
            for document in _documents(file, unit):
                any_read = True
                yield document
    for warning in warnings:
        yield Unread(file=printable(path), reason=warning.removeprefix("skipped "))
    if not any_read:
        yield Unread(file=printable(path), reason=f"nothing in it can be read: {NAME_TEXT}")


def _documents(file: FileToRead, unit: Unit) -> Iterator[ReadResult]:
    if isinstance(unit, IngestPart):
        yield from _part_documents(file, unit)
    elif isinstance(unit, UnitProblem) and (unit.reason or file.named):
        yield Unread(file=printable(file.path), member=unit.member, reason=unit.reason or BINARY)


def _part_documents(file: FileToRead, part: IngestPart) -> Iterator[ReadResult]:
    """The documents of a part; the last one before an error says so."""
    pending: ReadDocument | None = None
    reason = ""
    try:
        for extracted in part.documents:
            if pending is not None:
                yield pending
            pending = _document(file, part, extracted)
    except ExtractError as error:
        reason = str(error) or "cannot be read"
    if pending is None:
        yield Unread(file=printable(file.path), member=part.member, reason=reason or "empty")
    else:
        yield msgspec.structs.replace(pending, warnings=(reason,)) if reason else pending


def _document(file: FileToRead, part: IngestPart, extracted: Extracted) -> ReadDocument:
    body = part.data if extracted.body is None else extracted.body
    return ReadDocument(
        file=printable(file.path),
        member=part.member,
        name=extracted.name or part.name,
        url=extracted.url or part.url,
        media_type=part.media_type,
        sha256=sha256(body),
        size=len(body),
        document_sha256=sha256(extracted.text.encode()),
        extractor=extracted.extractor,
        syntax=extracted.syntax,
        title=extracted.title or extracted.name or part.name,
        author=extracted.author,
        published=extracted.published,
        language=extracted.language,
        metadata=extracted.metadata,
        text=extracted.text,
        blocks=_blocks(extracted),
    )


def _blocks(extracted: Extracted) -> tuple[ReadBlock, ...]:
    spans = segment(extracted.text, extracted.syntax)
    return tuple(msgspec.convert(span, ReadBlock, from_attributes=True) for span in spans)
