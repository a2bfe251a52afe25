"""Renders pages that have no text until their scripts have run, in a Chromium without network access of its own.

`chromium` is the browser; only it imports playwright.
"""

from __future__ import annotations

import asyncio
import importlib
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Literal, Protocol

import msgspec
import platformdirs
from selectolax.lexbor import LexborHTMLParser

from assay.core.errors import ConfigError, FetchFailed
from assay.core.lazy import regex
from assay.core.ports import Fetcher
from assay.core.sources import RENDERED_HEADER, Fetched
from assay.core.web_addresses import ANYTHING, BadUrl, WebRules, canonical_url, parse_url
from assay.fetch.html_metadata import text_outside
from assay.fetch.html_preparation import is_notice, noscript_text
from assay.fetch.web import WebFetcher
from assay.fetch.web.in_flight import InFlight, share_work
from assay.fetch.web.response import HTML_TYPES, beginnings
from assay.fetch.web.walls import wall_reason

# What a running page may load: only scripts and data, which Assay fetches in its place, within limits. The browser
# connects to nothing. Its requests are answered by fetchers that check every address on every hop and obey robots.txt
# and the run's rules. A page on a public host gets only public resources, never what `web.allow` names, so a page from
# outside cannot explore the internal network. A page on a host that is not public gets resources of this host.

CORS = "access-control-allow-origin"
PASSED_HEADERS = ("content-type", CORS)
"""Headers of an answer that are passed to the page; the browser isolates origins by the second."""
FETCHED_KINDS = frozenset(("script", "fetch", "xhr"))
MAX_CONCURRENT_REQUESTS = 6
"""Answers fetched concurrently, as in browsers. Answers in flight are held in memory and counted when complete."""
EMPTY_KIND = "stylesheet"
"""Answered with an empty body: no text depends on it, and some pages wait for it."""


class PageRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A page's request: `kind` is the browser's word for it (document, script, xhr …)."""

    url: str
    method: str
    kind: str


class GateResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a request."""

    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes = b""


NO_NAVIGATION = GateResponse(status=204)
"""The answer to navigation elsewhere: no content, so the page stays."""


class GateLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a page may request: how many times, how many bytes, and until when (in the loop's time)."""

    requests: int
    bytes: int
    deadline: float


class PageGate:
    """The gate of one page, open until `close` or the deadline."""

    def __init__(self, page: Fetched, fetcher: Fetcher, rules: WebRules, limits: GateLimits, *, inside: bool) -> None:
        self._page, self._fetcher, self._inside = page, fetcher, inside
        self._home = parse_url(page.final_url)
        self._rules = msgspec.structs.replace(rules, domains=(self._home.host.lower(),)) if inside else rules
        self._requests, self._bytes, self._deadline = limits.requests, limits.bytes, limits.deadline
        self._started, self._closed = False, False
        self._going: set[asyncio.Timeout] = set()
        self._semaphore = asyncio.Semaphore(MAX_CONCURRENT_REQUESTS)

    async def answer_request(self, wish: PageRequest) -> GateResponse | None:
        """Return the answer to a page's request; None if it is refused."""
        if self._closed:
            return None
        if wish.kind == "document":
            return self._document(wish)
        if wish.kind == EMPTY_KIND:
            return GateResponse(headers={"content-type": "text/css"})
        if wish.kind not in FETCHED_KINDS or wish.method != "GET" or not self._is_allowed(wish.url):
            return None
        if self._requests < 1 or self._bytes < 0:
            return None
        self._requests -= 1
        return await self._fetch_resource(wish.url)

    def close(self) -> None:
        """Refuse all further requests, and cancel those in progress."""
        self._closed = True
        now = asyncio.get_running_loop().time()
        for limit in tuple(self._going):
            limit.reschedule(now)

    def _document(self, wish: PageRequest) -> GateResponse:
        """The page itself, as already fetched; it can navigate nowhere else and embed no other pages."""
        if self._started or wish.url != self._home.href:
            return NO_NAVIGATION
        self._started = True
        return _response_of(self._page)

    def _is_allowed(self, url: str) -> bool:
        try:
            address = parse_url(url)
        except BadUrl:
            return False
        return not self._inside or address.origin == self._home.origin

    async def _fetch_resource(self, url: str) -> GateResponse | None:
        try:
            async with asyncio.timeout_at(self._deadline) as limit:
                self._going.add(limit)
                try:
                    async with self._semaphore:
                        if self._bytes < 0:
                            return None
                        resource = await self._fetcher.fetch(url, self._rules)
                        self._bytes -= len(resource.body)
                finally:
                    self._going.discard(limit)
        except (FetchFailed, TimeoutError):
            return None
        return None if self._bytes < 0 or self._closed else _response_of(resource)


def _response_of(page: Fetched) -> GateResponse:
    headers = {name: page.headers[name] for name in PASSED_HEADERS if name in page.headers}
    headers.setdefault("content-type", page.media_type)
    return GateResponse(status=page.status, headers=headers, body=page.body)


# The fetcher that renders.

CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""The first is a package of its own in some distributions: without windows, it needs half as much computing."""
NO_CHROMIUM = "there is no Chromium: `playwright install chromium`, or name one by web.chromium"


def find_on_path(first: Iterable[str] = ()) -> str:
    """The first executable of `first` or of Chromium's usual names on the path; "" if there is none."""
    return next(filter(None, map(shutil.which, (*first, *CHROMIUM_NAMES))), "")


def find_installed() -> str:
    """A Chromium on the path, or the folder of one that playwright installed; "" if there is neither."""
    cache = platformdirs.user_cache_path("ms-playwright", appauthor=False)
    return find_on_path() or next((str(folder) for folder in sorted(cache.glob("chromium*"))), "")


# Whether a page has text without its scripts.

SHORT_CHARS, BARE_CHARS = 200, 40
"""Characters of text below which a page is suspected of needing its scripts, and below which it has no content."""
MAX_MEASURED_BYTES = 5_000_000
"""Bytes; larger pages are taken as they are."""
SCRIPT_TYPES = frozenset(
    ("", "module", "text/javascript", "application/javascript", "text/ecmascript", "application/ecmascript")
)
"""Types of scripts that run; others are data."""
_SCRIPT = regex(rb"<script", re.IGNORECASE)


class PageGlance(msgspec.Struct, frozen=True):
    """A quick look at a page: the characters of its text without menus and the like, or of the text that it holds for
    readers without scripts; and whether scripts run in it.
    """

    characters: int
    scripts: bool

    @property
    def is_bare(self) -> bool:
        """True if a reader sees nothing before the scripts have run."""
        return self.scripts and self.characters < BARE_CHARS

    @property
    def is_short(self) -> bool:
        """True if there may be more text after the scripts have run."""
        return self.scripts and self.characters < SHORT_CHARS


def measure_text(body: bytes) -> PageGlance:
    """Measure how much text an HTML page has at least. Blocking: some milliseconds per megabyte."""
    if len(body) > MAX_MEASURED_BYTES or not _SCRIPT.search(body):
        return PageGlance(characters=len(body), scripts=False)
    for part in beginnings(body):
        glance = _measure_part(part)
        if glance.scripts and not glance.is_short:
            break
    return glance


def _measure_part(body: bytes) -> PageGlance:
    tree = LexborHTMLParser(body)
    scripts = any((node.attributes.get("type") or "").strip().lower() in SCRIPT_TYPES for node in tree.css("script"))
    if not scripts:
        return PageGlance(characters=len(body), scripts=False)
    text = text_outside(tree, "form")
    instead = len(noscript_text(LexborHTMLParser(body))) if len(text) < SHORT_CHARS else 0
    return PageGlance(characters=max(0 if is_notice(text) else len(text), instead), scripts=True)


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
    """The browser that renders: the existing `renderer`, else the `executable`; `problem` says what is missing."""

    renderer: Renderer | None = None
    executable: str = ""
    problem: str = ""


class RenderingFetcher:
    """Fetches pages, and renders those that need their scripts.

    Implements `core.ports.Fetcher`. The body of a rendered page is the HTML that the browser shows; its headers say so.
    """

    def __init__(
        self,
        pages: WebFetcher,
        public_fetcher: WebFetcher,
        limits: RenderLimits,
        browser: BrowserChoice,
        *,
        always: bool = False,
    ) -> None:
        """With `always`, every page with scripts is rendered."""
        self._pages, self._public_fetcher, self._limits, self._always = pages, public_fetcher, limits, always
        self._executable, self._problem, self._browser = browser.executable, browser.problem, browser.renderer
        self._creation_lock = asyncio.Lock()
        self._semaphore = asyncio.Semaphore(limits.at_once)
        self._going: dict[tuple[str, WebRules], InFlight[Fetched]] = {}

    async def close(self) -> None:
        browser, self._browser = self._browser, None
        try:
            if browser is not None:
                await browser.close()
        finally:
            await self._pages.close()
            await self._public_fetcher.close()

    async def fetch(self, url: str, rules: WebRules = ANYTHING) -> Fetched:
        """See the port.

        Raises:
            FetchFailed: it cannot be had; or nothing is in it and it cannot be rendered ("scripts: …").
        """
        page = await self._pages.fetch(url, rules)
        if page.media_type not in HTML_TYPES:
            return page
        before = await asyncio.to_thread(measure_text, page.body)
        if not (before.is_short or (self._always and before.scripts)):
            return page
        rendered = await share_work(
            self._going, (canonical_url(page.final_url), rules), partial(self._render_if_fuller, page, before, rules)
        )
        return msgspec.structs.replace(rendered, url=page.url, redirects=page.redirects)

    async def _render_if_fuller(self, page: Fetched, before: PageGlance, rules: WebRules) -> Fetched:
        """The rendered page if it has more text than before; else the original page if it has any."""
        try:
            rendered = await self._render(page, rules)
            after = await asyncio.to_thread(measure_text, rendered.body)
        except FetchFailed:
            if before.is_bare or self._always:
                raise
            return page
        if not self._always and after.characters <= before.characters:
            return page
        if why := await asyncio.to_thread(wall_reason, rendered):
            raise FetchFailed(why)
        return rendered

    async def _render(self, page: Fetched, rules: WebRules) -> Fetched:
        if self._problem:
            raise FetchFailed(f"scripts: this page has no text without JavaScript; {self._problem}")
        limits = self._limits
        async with self._semaphore:
            browser = await self._get_renderer()
            inside = not await self._public_fetcher.reaches(page.final_url)
            deadline = asyncio.get_running_loop().time() + limits.seconds
            gate = PageGate(
                page,
                self._pages if inside else self._public_fetcher,
                rules,
                GateLimits(requests=limits.requests, bytes=limits.bytes, deadline=deadline),
                inside=inside,
            )
            html = await browser.render(page.final_url, gate, quiet=limits.quiet, seconds=limits.seconds)
        body = html.encode(errors="replace")
        if len(body) > limits.bytes:
            raise FetchFailed(f"too large: more than {limits.bytes / 1_000_000:g} MB (the setting web.max_mb)")
        headers = {**page.headers, "content-type": "text/html; charset=utf-8", RENDERED_HEADER: browser.name}
        return msgspec.structs.replace(page, body=body, media_type="text/html", headers=headers, kept="")

    async def _get_renderer(self) -> Renderer:
        async with self._creation_lock:
            if self._browser is None:
                # imported by name: playwright is an optional extra, and slow to load
                module = await asyncio.to_thread(importlib.import_module, "assay.fetch.browser.chromium")
                self._browser = module.Chromium(self._executable)
            return self._browser


EXTRA_NEEDED = "pages that need JavaScript need an extra: pip install 'assay[browser]'"


def create(
    pages: WebFetcher,
    public: Callable[..., WebFetcher],
    *,
    mode: Literal["auto", "always"],
    largest: int,
    executable: str = "",
) -> RenderingFetcher:
    """Create a fetcher that renders pages when necessary, or (`always`) every page with scripts.

    Args:
        pages: fetches pages, and what a page on a host that is not public requests from this host.
        public: creates a fetcher that reaches only public addresses, from the `headers` it keeps, for the requests of
            public pages. Closing the result closes both.
        mode: `always` requires the extra; without it, `auto` reports what unreadable pages need.
        largest: the most bytes of a page, and of all its requests together.
        executable: the browser; "" for the one playwright installed, or one on the path.

    Raises:
        ConfigError: the extra is required and not installed.
    """
    is_installed = find_spec("playwright") is not None
    if mode == "always" and not is_installed:
        raise ConfigError(EXTRA_NEEDED)
    limits = RenderLimits(bytes=largest)
    return RenderingFetcher(
        pages,
        public(headers=PASSED_HEADERS),
        limits,
        BrowserChoice(executable=executable, problem="" if is_installed else EXTRA_NEEDED),
        always=mode == "always",
    )
