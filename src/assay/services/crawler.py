"""Reads one site, page by page: from its sitemaps and along its links, within limits and robots.txt."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from functools import partial
from itertools import islice

from assay.core.errors import FetchFailed, UsageError
from assay.core.ports import Fetcher
from assay.core.sources import Fetched
from assay.core.web_addresses import BadUrl, WebRules, canonical_url, parse_url
from assay.fetch.web.response import Links, links, parse_sitemap
from assay.run.speculation import MAX_TASKS, WorkAhead

MAX_SITEMAPS = 20
HTML = ("text/html", "application/xhtml+xml")
PROGRESS_PAGES = 10
"""After this many pages there is a progress message."""
NOT_PAGES = (
    ".7z .avi .bin .bmp .bz2 .css .deb .dmg .exe .gif .gz .ico .iso .jpeg .jpg .js .mov .mp3 .mp4 .ogg .png .rar .rpm "
    ".svg .tar .tgz .tiff .ttf .wav .webm .webp .whl .woff .woff2 .xz .zip .zst"
).split()
"""Suffixes of addresses with nothing to read."""


class Site:
    """What to read of a site, and the progress.

    Only pages on the host of `url` are read, at or below its path: `https://x.org/docs/guide.html` stands for
    `https://x.org/docs/`, `https://x.org/docs` for itself and what is below it. `failures` says by address why a page
    could not be fetched, `unread_urls` has the addresses beyond the limit, `notes` are sentences for the user.

    Raises:
        UsageError: the address is not valid, or a limit is below 1.
    """

    def __init__(self, url: str, *, pages: int, depth: int) -> None:
        if pages < 1 or depth < 0:
            raise UsageError(
                "a crawl reads at least one page and follows at least 0 links: correct --max-pages or --depth"
            )
        try:
            self.start = parse_url(url)
        except BadUrl as error:
            raise UsageError(
                f"{url[:200]!r} cannot be crawled ({error}): give an address such as https://example.org/docs/"
            ) from error
        self.pages, self.depth = pages, depth
        self.failures: dict[str, str] = {}
        self.unread_urls: tuple[str, ...] = ()
        self.notes: list[str] = []
        self._below = _folder(self.start.target.partition("?")[0])
        self.rules = WebRules(domains=(self.start.host.lower(),))

    def includes(self, url: str) -> bool:
        """True if a page belongs to this site and may be readable."""
        try:
            page_url = parse_url(url)
        except BadUrl:
            return False
        path = page_url.target.partition("?")[0]
        inside = path == self._below or path.startswith(self._below.removesuffix("/") + "/")
        same = (page_url.host, page_url.port, page_url.scheme) == (self.start.host, self.start.port, self.start.scheme)
        return same and inside and not path.lower().endswith(tuple(NOT_PAGES))


class _Frontier:
    """Addresses still to be requested, nearest first, each once."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._seen_urls: set[str] = set()
        self._queue: deque[tuple[str, int]] = deque()

    def add(self, url: str, depth: int) -> None:
        name = canonical_url(url)
        if depth <= self._site.depth and name not in self._seen_urls and self._site.includes(url):
            self._seen_urls.add(name)
            self._queue.append((url, depth))

    def mark_seen(self, url: str) -> bool:
        """True if this address was seen before; it counts as seen afterwards."""
        name = canonical_url(url)
        before = name in self._seen_urls
        self._seen_urls.add(name)
        return before

    def next(self) -> tuple[str, int] | None:
        return self._queue.popleft() if self._queue else None

    def next_urls(self, limit: int) -> list[str]:
        return [url for url, _ in islice(self._queue, limit)]

    def __len__(self) -> int:
        return len(self._queue)


async def crawl(fetcher: Fetcher, site: Site, say: Callable[[str], None]) -> AsyncGenerator[Fetched, None]:
    """Yield the pages of a site, each once, whatever address links to it.

    The next few are requested while one is read, as many at once as the fetcher and the site's robots.txt allow. A page
    that names another address (`canonical_url`) is left to that address; one with `noindex` is not returned, and
    links of one with `nofollow` are not followed.
    """
    frontier = _Frontier(site)
    frontier.add(site.start.href, 0)
    for url in await _sitemap_urls(fetcher, site):
        frontier.add(url, 1)
    ahead = WorkAhead()
    try:
        async for page in _pages(partial(_page, fetcher, site, ahead), frontier, site, say):
            yield page
    finally:
        ahead.stop()


async def _page(fetcher: Fetcher, site: Site, ahead: WorkAhead, url: str, upcoming: Sequence[str]) -> Fetched:
    """Fetch a page, and meanwhile request those that are `upcoming`.

    Raises:
        FetchFailed: it cannot be fetched.
    """
    for address in (url, *upcoming):
        ahead.begin(address, partial(fetcher.fetch, address, site.rules))
    page: Fetched | None = await ahead.result(url)
    return page or await fetcher.fetch(url, site.rules)


async def _pages(
    page_at: Callable[[str, Sequence[str]], Awaitable[Fetched]],
    frontier: _Frontier,
    site: Site,
    say: Callable[[str], None],
) -> AsyncGenerator[Fetched, None]:
    read_so_far = request_count = 0
    while (entry := frontier.next()) is not None:
        url, depth = entry
        if request_count >= site.pages:
            _record_unread(site, [url, *frontier.next_urls(len(frontier))])
            return
        request_count += 1
        try:
            page = await page_at(url, frontier.next_urls(min(MAX_TASKS - 1, site.pages - request_count)))
        except FetchFailed as error:
            site.failures[url] = error.reason
            continue
        if canonical_url(page.final_url) != canonical_url(url) and (
            not site.includes(page.final_url) or frontier.mark_seen(page.final_url)
        ):
            continue
        page_links = await asyncio.to_thread(links, page.body, page.final_url) if page.media_type in HTML else Links()
        for link in page_links.links if page_links.follow else ():
            frontier.add(link, depth + 1)
        if _is_elsewhere(site, page, page_links):
            frontier.add(page_links.canonical, depth)
        elif page_links.index:
            read_so_far += 1
            if read_so_far % PROGRESS_PAGES == 0:
                say(f"crawling: {read_so_far} pages of {site.start.host}, {len(frontier)} known and not read")
            yield page


def _is_elsewhere(site: Site, page: Fetched, page_links: Links) -> bool:
    """True if a page names another address of the site as its own."""
    own_urls = {canonical_url(page.final_url), canonical_url(page.url)}
    return (
        bool(page_links.canonical)
        and site.includes(page_links.canonical)
        and canonical_url(page_links.canonical) not in own_urls
    )


def _record_unread(site: Site, urls: list[str]) -> None:
    site.unread_urls = tuple(urls)
    site.notes.append(
        f"stopped after {site.pages} pages: {len(urls)} more are known of {site.start.host}; --max-pages reads more"
    )


async def _sitemap_urls(fetcher: Fetcher, site: Site) -> list[str]:
    """The addresses in the sitemaps of a site: those named in robots.txt, else `/sitemap.xml`."""
    queue = deque(await _sitemaps(fetcher, site))
    urls: dict[str, None] = {}
    seen: set[str] = set()
    while queue and len(seen) < MAX_SITEMAPS:
        url = queue.popleft()
        if canonical_url(url) in seen or not _same_host(site, url):
            continue
        seen.add(canonical_url(url))
        try:
            page = await fetcher.fetch(url, site.rules)
        except FetchFailed:
            continue
        pages, further = await asyncio.to_thread(parse_sitemap, page.body)
        urls.update(dict.fromkeys(pages))
        queue.extend(further)
    return list(urls)


async def _sitemaps(fetcher: Fetcher, site: Site) -> list[str]:
    try:
        robots = await fetcher.fetch(parse_url("/robots.txt", site.start.href).href, site.rules)
    except FetchFailed:
        robots = None
    lines = robots.body.decode(errors="replace").splitlines()[:10_000] if robots else []
    pairs = (line.partition(":") for line in lines)
    urls = [value.strip() for name, _, value in pairs if name.strip().lower() == "sitemap"]
    return urls or [parse_url("/sitemap.xml", site.start.href).href]


def _same_host(site: Site, url: str) -> bool:
    try:
        return parse_url(url).origin == site.start.origin
    except BadUrl:
        return False


def _folder(path: str) -> str:
    """The path at which a site begins: for a file, its folder."""
    last = path.rpartition("/")[2]
    return path.rpartition("/")[0] + "/" if "." in last else path or "/"
