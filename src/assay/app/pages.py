"""Pages of the web as Assay reads them: fetched by the settings' rules, and their text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version

import msgspec

from assay import plugins
from assay.app.readers import Readers
from assay.core.errors import ExtractError, FetchFailed
from assay.core.ports import Clock, Extractor, Fetcher, PageCache
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
    headers: dict[str, str]
    extractor: str
    title: str
    author: str
    published: str
    language: str
    text: str


def make_fetcher(settings: Web, clock: Clock, kept: PageCache | None = None) -> Fetcher:
    """A fetcher which goes by the settings; to be closed. `kept` is where pages are kept for the next time.

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
        kept=kept,
    )
    return fetcher


@asynccontextmanager
async def fetching(settings: Web, clock: Clock, kept: PageCache | None = None) -> AsyncIterator[Fetcher]:
    """A fetcher for a while. `kept` is where pages are kept for the next time.

    Raises:
        ConfigError: the settings cannot be followed.
    """
    fetcher = make_fetcher(settings, clock, kept)
    try:
        yield fetcher
    finally:
        await fetcher.close()


async def read_page(fetcher: Fetcher, readers: Readers, url: str) -> ReadPage:
    """One page.

    Raises:
        FetchFailed: it cannot be had, or nothing can be read in it ("not text: …").
    """
    page = await fetcher.fetch(url)
    try:
        extracted = await asyncio.to_thread(_extract, page, readers.of_pages())
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
        headers=page.headers,
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
