"""Pages of the web as Assay reads them: fetched by the settings' rules, and their text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version

import msgspec

from assay import plugins
from assay.app.readers import Readers
from assay.core.errors import ExtractError, FetchFailed
from assay.core.ports import Clock, Extractor, Fetcher
from assay.core.sources import Extracted, Fetched, sha256
from assay.evidence.ingest import extractor_for
from assay.settings.sections import Web

AGENT = f"Assay/{version('assay')} (research assistant; reads what its user asks for)"


class ReadPage(msgspec.Struct, frozen=True, kw_only=True):
    """What a run would read of a page: its text and what is known of it; `sha256` names the snapshot."""

    url: str
    final_url: str
    redirects: tuple[str, ...]
    status: int
    media_type: str
    sha256: str
    size: int
    fetched_at: str
    extractor: str
    title: str
    author: str
    published: str
    language: str
    text: str


def make_fetcher(settings: Web, clock: Clock) -> Fetcher:
    """A fetcher which goes by the settings; to be closed.

    Raises:
        ConfigError: `web.allow` holds what is neither a host nor a network.
    """
    fetcher: Fetcher = plugins.load("fetchers", "http")(
        clock,
        agent=AGENT,
        allow=settings.allow,
        seconds=settings.timeout,
        largest=int(settings.max_mb * 1_000_000),
        robots=settings.robots,
    )
    return fetcher


@asynccontextmanager
async def fetching(settings: Web, clock: Clock) -> AsyncIterator[Fetcher]:
    """A fetcher for a while.

    Raises:
        ConfigError: the settings cannot be followed.
    """
    fetcher = make_fetcher(settings, clock)
    try:
        yield fetcher
    finally:
        await fetcher.close()


def split(places: Iterable[str]) -> tuple[list[str], list[str]]:
    """Addresses of pages, and paths."""
    urls: list[str] = []
    paths: list[str] = []
    for place in places:
        (urls if place.lower().startswith(("http://", "https://")) else paths).append(place)
    return urls, paths


async def fetch_all(urls: Sequence[str], settings: Web, clock: Clock) -> tuple[list[Fetched], list[str]]:
    """The pages at `urls`, in their order, and a warning for each that cannot be had.

    Raises:
        ConfigError: the settings cannot be followed.
    """
    pages: list[Fetched] = []
    warnings: list[str] = []
    if not urls:
        return pages, warnings
    async with fetching(settings, clock) as fetcher:
        for url in urls:
            try:
                pages.append(await fetcher.fetch(url))
            except FetchFailed as failed:
                warnings.append(f"skipped {url}: {failed.reason}")
    return pages, warnings


async def read_page(fetcher: Fetcher, readers: Readers, url: str) -> ReadPage:
    """One page.

    Raises:
        FetchFailed: it cannot be had, or nothing can be read in it ("not text: …").
    """
    page = await fetcher.fetch(url)
    try:
        extracted = await asyncio.to_thread(_extract, page, readers.extractors())
    except ExtractError as error:
        raise FetchFailed(f"not text: {error}") from error
    return ReadPage(
        url=page.url,
        final_url=page.final_url,
        redirects=page.redirects,
        status=page.status,
        media_type=page.media_type,
        sha256=sha256(page.body),
        size=len(page.body),
        fetched_at=page.fetched_at,
        extractor=extracted.extractor,
        title=extracted.title,
        author=extracted.author,
        published=extracted.published,
        language=extracted.language,
        text=extracted.text,
    )


def _extract(page: Fetched, extractors: Sequence[Extractor]) -> Extracted:
    extractor = extractor_for(page, extractors)
    if extractor is None:
        raise ExtractError(f"nothing reads {page.media_type}")
    found = next(iter(extractor.extract(page.body, page.final_url)), None)
    if found is None:
        raise ExtractError("empty")
    return found
