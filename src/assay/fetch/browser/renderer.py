"""A fetcher that renders the pages that need it, in a Chromium that is found on this machine."""

from __future__ import annotations

import asyncio
import importlib
import re
import shutil
from collections.abc import Iterable
from functools import partial
from typing import Protocol

import msgspec
import platformdirs
from selectolax.lexbor import LexborHTMLParser

from assay.core.errors import FetchFailed
from assay.core.sources import RENDERED, Fetched
from assay.core.web_addresses import ANYTHING, WebRules, canonical
from assay.fetch.browser.gate import GateLimits, PageGate
from assay.fetch.web.fetcher import InFlight, WebFetcher, once

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = "there is no Chromium: `playwright install chromium`, or name one by web.chromium"


def on_path(first: Iterable[str] = ()) -> str:
    """The first executable of `first` or of Chromium's usual names on the path; "" if there is none."""
    return next(filter(None, map(shutil.which, (*first, *NAMES))), "")


def installed() -> str:
    """A Chromium on the path, or the folder of one that playwright installed; "" if there is neither."""
    downloaded = platformdirs.user_cache_path("ms-playwright", appauthor=False)
    return on_path() or next((str(folder) for folder in sorted(downloaded.glob("chromium*"))), "")


# # Whether a page has text without its scripts.

SHORT, BARE = 200, 40
"""Characters of text below which a page is suspected of needing its scripts, and below which it has no content."""
BEGINNING = 32_000
"""Bytes of a page that are examined first: if they have enough text, so does the page."""
LARGEST = 5_000_000
"""Bytes; larger pages are taken as they are."""
RUN = frozenset(
    ("", "module", "text/javascript", "application/javascript", "text/ecmascript", "application/ecmascript")
)
"""Types of scripts that run; others are data."""
ASIDE = ["script", "style", "noscript", "template", "head", "nav", "header", "footer", "aside", "form", "svg"]
_SCRIPT = re.compile(rb"<script", re.IGNORECASE)


class PageGlance(msgspec.Struct, frozen=True):
    """A quick look at a page: the characters of its text without menus and the like, and whether scripts run in it."""

    characters: int
    scripts: bool

    @property
    def bare(self) -> bool:
        """Whether a reader sees nothing before the scripts have run."""
        return self.scripts and self.characters < BARE

    @property
    def short(self) -> bool:
        """Whether there may be more text after the scripts have run."""
        return self.scripts and self.characters < SHORT


def look(body: bytes) -> PageGlance:
    """Measure how much text an HTML page has at least. Blocking: some milliseconds per megabyte."""
    if len(body) > LARGEST or not _SCRIPT.search(body):
        return PageGlance(characters=len(body), scripts=False)
    if len(body) > BEGINNING and not (glance := _looked_at(body[:BEGINNING])).short and glance.scripts:
        return glance
    return _looked_at(body)


def _looked_at(body: bytes) -> PageGlance:
    tree = LexborHTMLParser(body)
    scripts = any((node.attributes.get("type") or "").strip().lower() in RUN for node in tree.css("script"))
    if not scripts:
        return PageGlance(characters=len(body), scripts=False)
    tree.strip_tags(ASIDE)
    text = tree.body.text(separator=" ") if tree.body is not None else ""
    return PageGlance(characters=len(" ".join(text.split())), scripts=True)


HTML = ("text/html", "application/xhtml+xml")


class RenderLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one rendered page: seconds in all and until it goes quiet, requests and bytes; and pages at once."""

    seconds: float = 20.0
    quiet: float = 6.0
    requests: int = 80
    bytes: int = 20_000_000
    at_once: int = 2


class Renderer(Protocol):
    """A browser."""

    @property
    def name(self) -> str: ...

    async def render(self, url: str, gate: PageGate, *, quiet: float, seconds: float) -> str: ...

    async def close(self) -> None: ...


class BrowserChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The browser that renders: the existing `made`, else the `executable`; `lacking` says what is missing."""

    made: Renderer | None = None
    executable: str = ""
    lacking: str = ""


class RenderingFetcher:
    """Fetches pages, and renders those that need their scripts.

    Implements `core.ports.Fetcher`. The body of a rendered page is the HTML that the browser shows; its headers say so.
    """

    def __init__(
        self,
        pages: WebFetcher,
        others: WebFetcher,
        limits: RenderLimits,
        browser: BrowserChoice,
        *,
        always: bool = False,
    ) -> None:
        """With `always`, every page with scripts is rendered."""
        self._pages, self._others, self._limits, self._always = pages, others, limits, always
        self._executable, self._lacking, self._browser = browser.executable, browser.lacking, browser.made
        self._making = asyncio.Lock()
        self._places = asyncio.Semaphore(limits.at_once)
        self._going: dict[tuple[str, WebRules], InFlight[Fetched]] = {}

    async def close(self) -> None:
        """Close the connections and the browser."""
        browser, self._browser = self._browser, None
        try:
            if browser is not None:
                await browser.close()
        finally:
            await self._pages.close()
            await self._others.close()

    async def fetch(self, url: str, rules: WebRules = ANYTHING) -> Fetched:
        """See the port.

        Raises:
            FetchFailed: it cannot be had; or nothing is in it and it cannot be rendered ("scripts: …").
        """
        page = await self._pages.fetch(url, rules)
        if page.media_type not in HTML:
            return page
        before = await asyncio.to_thread(look, page.body)
        if not (before.short or (self._always and before.scripts)):
            return page
        rendered = await once(
            self._going, (canonical(page.final_url), rules), partial(self._tried, page, before, rules)
        )
        return msgspec.structs.replace(rendered, url=page.url, redirects=page.redirects)

    async def _tried(self, page: Fetched, before: PageGlance, rules: WebRules) -> Fetched:
        """The rendered page if it has more text than before; else the original page if it has any.

        Raises:
            FetchFailed: neither has text.
        """
        try:
            rendered = await self._rendered(page, rules)
            after = await asyncio.to_thread(look, rendered.body)
        except FetchFailed:
            if before.bare or self._always:
                raise
            return page
        if not self._always and after.characters <= before.characters:
            return page
        return rendered

    async def _rendered(self, page: Fetched, rules: WebRules) -> Fetched:
        if self._lacking:
            raise FetchFailed(f"scripts: this page has no text without JavaScript; {self._lacking}")
        limits = self._limits
        async with self._places:
            browser = await self._made()
            inside = not await self._others.reaches(page.final_url)
            deadline = asyncio.get_running_loop().time() + limits.seconds
            gate = PageGate(
                page,
                self._pages if inside else self._others,
                rules,
                GateLimits(requests=limits.requests, bytes=limits.bytes, deadline=deadline),
                inside=inside,
            )
            html = await browser.render(page.final_url, gate, quiet=limits.quiet, seconds=limits.seconds)
        body = html.encode(errors="replace")
        if len(body) > limits.bytes:
            raise FetchFailed(f"too large: more than {limits.bytes / 1_000_000:g} MB (the setting web.max_mb)")
        headers = {**page.headers, "content-type": "text/html; charset=utf-8", RENDERED: browser.name}
        return msgspec.structs.replace(page, body=body, media_type="text/html", headers=headers, kept="")

    async def _made(self) -> Renderer:
        async with self._making:
            if self._browser is None:
                # # imported by name: playwright is an optional extra, and slow to load
                module = await asyncio.to_thread(importlib.import_module, "assay.fetch.browser.chromium")
                self._browser = module.Chromium(self._executable)
            return self._browser
