"""Decides what a running page may load: only scripts and data, which Assay fetches in its place, within limits.

The browser connects to nothing. Its requests are answered by fetchers that check every address on every hop and obey
robots.txt and the run's rules. A page on a public host gets only public resources, never what `web.allow` names, so a
page from outside cannot explore the internal network. A page on a host that is not public gets resources of this host.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import msgspec

from assay.core.errors import FetchFailed
from assay.core.ports import Fetcher
from assay.core.sources import Fetched
from assay.core.web_addresses import BadUrl, WebRules, read

CORS = "access-control-allow-origin"
SENT = ("content-type", CORS)
"""Headers of an answer that are passed to the page; the browser isolates origins by the second."""
KINDS = frozenset(("script", "fetch", "xhr"))
AT_ONCE = 6
"""Answers fetched concurrently, as in browsers. Answers in flight are held in memory and counted when complete."""
EMPTY = "stylesheet"
"""Answered with an empty body: no text depends on it, and some pages wait for it."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """A page's request: `kind` is the browser's word for it (document, script, xhr …)."""

    url: str
    method: str
    kind: str


class GateResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a request."""

    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes = b""


STAY = GateResponse(status=204)
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
        self._home = read(page.final_url)
        self._rules = msgspec.structs.replace(rules, domains=(self._home.host.lower(),)) if inside else rules
        self._requests, self._bytes, self._deadline = limits.requests, limits.bytes, limits.deadline
        self._begun, self._closed = False, False
        self._going: set[asyncio.Timeout] = set()
        self._places = asyncio.Semaphore(AT_ONCE)

    async def through(self, wish: Wish) -> GateResponse | None:
        """Return the answer to a page's request; None if it is refused."""
        if self._closed:
            return None
        if wish.kind == "document":
            return self._document(wish)
        if wish.kind == EMPTY:
            return GateResponse(headers={"content-type": "text/css"})
        if wish.kind not in KINDS or wish.method != "GET" or not self._may(wish.url):
            return None
        if self._requests < 1 or self._bytes < 0:
            return None
        self._requests -= 1
        return await self._fetched(wish.url)

    def close(self) -> None:
        """Refuse all further requests, and cancel those in progress."""
        self._closed = True
        now = asyncio.get_running_loop().time()
        for limit in tuple(self._going):
            limit.reschedule(now)

    def _document(self, wish: Wish) -> GateResponse:
        """The page itself, as already fetched; it can navigate nowhere else and embed no other pages."""
        if self._begun or wish.url != self._home.href:
            return STAY
        self._begun = True
        return _response_of(self._page)

    def _may(self, url: str) -> bool:
        try:
            place = read(url)
        except BadUrl:
            return False
        return not self._inside or place.origin == self._home.origin

    async def _fetched(self, url: str) -> GateResponse | None:
        try:
            async with asyncio.timeout_at(self._deadline) as limit:
                self._going.add(limit)
                try:
                    async with self._places:
                        if self._bytes < 0:
                            return None
                        found = await self._fetcher.fetch(url, self._rules)
                        self._bytes -= len(found.body)
                finally:
                    self._going.discard(limit)
        except (FetchFailed, TimeoutError):
            return None
        return None if self._bytes < 0 or self._closed else _response_of(found)


def _response_of(page: Fetched) -> GateResponse:
    headers = {name: page.headers[name] for name in SENT if name in page.headers}
    headers.setdefault("content-type", page.media_type)
    return GateResponse(status=page.status, headers=headers, body=page.body)
