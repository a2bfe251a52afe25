"""Fetches pages of the web by the rules of the settings, and reads their text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version

import msgspec

from assay import plugins
from assay.core.errors import ExtractError, FetchFailed
from assay.core.ports import Clock, Extractor, Fetcher, PageCache
from assay.core.sources import RENDERED, Extracted, Fetched, sha256
from assay.evidence.ingest import extractor_for
from assay.services.ports import Readers
from assay.settings.sections import Web

AGENT = f"Assay/{version('assay')} (research assistant; reads what its user asks for)"


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


def make_fetcher(settings: Web, clock: Clock, kept: PageCache | None = None) -> Fetcher:
    """Make a fetcher that follows the settings; close it afterwards. `kept` caches pages.

    Raises:
        ConfigError: `web.allow` contains something that is neither a host nor a network, or pages are always to be
            rendered and the extra for that is not installed.
    """
    asked: Callable[..., Fetcher] = partial(
        plugins.load("fetchers", "http"),
        clock,
        agent=AGENT,
        seconds=settings.timeout,
        largest=int(settings.max_mb * 1_000_000),
        robots=settings.robots,
    )
    pages = asked(allow=settings.allow, kept=kept)
    if settings.browser == "off":
        return pages
    # A page that runs request is public, whatever the settings allow.
    rendering: Fetcher = plugins.load("fetchers", "browser")(
        pages,
        partial(asked, allow=()),
        mode=settings.browser,
        largest=int(settings.max_mb * 1_000_000),
        executable=str(settings.chromium or ""),
    )
    return rendering


@asynccontextmanager
async def fetching(settings: Web, clock: Clock, kept: PageCache | None = None) -> AsyncIterator[Fetcher]:
    """A fetcher for the block. `kept` caches pages.

    Raises:
        ConfigError: the settings cannot be followed.
    """
    fetcher = make_fetcher(settings, clock, kept)
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
        extracted = await asyncio.to_thread(_extract, page, readers.of_pages())
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
        rendered=page.headers.get(RENDERED, ""),
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
