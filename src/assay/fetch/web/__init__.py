"""Fetches pages of the web: only from checked addresses, within limits, and as robots.txt allows.

A page is requested once for all who want it, and every hop is checked: `addresses` decides where connections may lead,
`response` reads what came, `page_parts` follows frames, and `walls` says what is not the page that was asked for.
Failures are `FetchFailed`; the reason begins with a word for its kind: blocked, robots, forbidden, paywall, not found,
gone, bot check, login, consent, too large, timeout, redirects, unreachable, refused, damaged.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Literal

import httpcore2
import msgspec

from assay.core.errors import FetchFailed, StoreError
from assay.core.ports import Clock, KeptPage, PageCache
from assay.core.remote_services import connection_problem, retry_after, tls_context
from assay.core.sources import Fetched
from assay.core.web_addresses import ANYTHING, Url, WebRules, canonical_url
from assay.fetch.web.addresses import (
    PUBLIC,
    GuardedBackend,
    headers_of,
    location,
    parse_address,
    parse_policy,
)
from assay.fetch.web.in_flight import InFlight, share_work
from assay.fetch.web.page_parts import follow_frames
from assay.fetch.web.response import (
    ENCODINGS,
    MAX_ROBOTS_BYTES,
    RobotsResponse,
    RobotsRules,
    conditional_headers,
    confirm_unchanged,
    freshness_seconds,
    is_whole,
    media_type,
    parse_robots,
    quick_redirect,
    read_body,
    to_timestamp,
)
from assay.fetch.web.walls import (
    ANY_CHECK,
    CHECK_STATUSES,
    MAX_CHECK_BYTES,
    is_check_page,
    is_check_response,
    wall_reason,
)

ACCEPT = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.9,text/markdown;q=0.9,*/*;q=0.5"
KEPT_HEADERS = ("content-type", "content-language", "etag", "last-modified", "date", "link")
"""The response headers that a snapshot keeps."""
REDIRECT_STATUSES = frozenset((301, 302, 303, 307, 308))
ROBOTS_FRESH = 3_600.0
"""Seconds; RFC 9309 allows a day."""
MAX_SITES = 1_000
"""Sites remembered; the least recently used are forgotten, and their robots.txt is requested again."""
BUSY_STATUSES = frozenset((429, 503))
OK, PARTIAL_CONTENT, NOT_MODIFIED = 200, 206, 304
RETRY_SECONDS = 1.0
"""Seconds until the second request to a busy site that does not say when to retry."""
STATUS_REASONS = {401: "forbidden", 402: "paywall", 403: "forbidden", 404: "not found", 410: "gone", 451: "forbidden"}


class FetchLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one page: seconds in all and between two pieces, bytes, hops; concurrent requests to one site."""

    seconds: float = 30.0
    silence: float = 10.0
    bytes: int = 20_000_000
    redirects: int = 10
    at_once: int = 2
    connections: int = 32
    longest_wait: float = 10.0


DEFAULT_LIMITS = FetchLimits()


class _Redirect(msgspec.Struct, frozen=True):
    to: str


class _Site:
    """What is known about one origin, and its queue."""

    def __init__(self, at_once: int) -> None:
        self.semaphore = asyncio.Semaphore(at_once)
        self.turn = asyncio.Lock()
        self.robots_lock = asyncio.Lock()
        self.rules: RobotsRules | None = None
        self.next = self.fresh_until = 0.0


class FetchManners(msgspec.Struct, frozen=True, kw_only=True):
    """How sites are requested: the `agent`, whether to obey robots.txt, and the `headers` of an answer that are
    kept.
    """

    agent: str
    robots: bool = True
    headers: Sequence[str] = KEPT_HEADERS


class WebFetcher:
    """Fetches pages. Implements `core.ports.Fetcher`.

    Concurrent requests for one page share one fetch. Pages are kept for later in `cache`, if it is given.
    """

    def __init__(
        self,
        clock: Clock,
        manners: FetchManners,
        *,
        network: GuardedBackend | None = None,
        limits: FetchLimits = DEFAULT_LIMITS,
        cache: PageCache | None = None,
    ) -> None:
        """`network` connects to what may be connected to; None: to public addresses."""
        self._cache, self._headers = cache, manners.headers
        self._clock, self._agent, self._limits, self._robots = clock, manners.agent, limits, manners.robots
        # The user has not told Assay about the environment's proxies, so they are not used.
        self._network = network or GuardedBackend(PUBLIC)
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls_context(from_environment=True),
            network_backend=self._network,
            max_connections=limits.connections,
            keepalive_expiry=15.0,
        )
        self._sites: dict[str, _Site] = {}
        self._pages: dict[tuple[str, WebRules], InFlight[Fetched]] = {}
        self._hops: dict[tuple[str, WebRules], InFlight[Fetched | _Redirect]] = {}

    async def close(self) -> None:
        await self._pool.aclose()

    async def fetch(self, url: str, rules: WebRules = ANYTHING) -> Fetched:
        """Return the page at `url`; all who wait for it also share a failure. Hosts that `rules` refuse get no
        request.

        Raises:
            FetchFailed: the page cannot be fetched; the reason begins with its kind.
        """
        return await share_work(self._pages, (canonical_url(url), rules), lambda: self._fetch_page(url, rules))

    async def reaches(self, url: str) -> bool:
        """True if the host of `url` may be connected to; only the resolver is queried."""
        try:
            address = parse_address(url)
            await self._network.addresses(address.host, address.port)
        except FetchFailed:
            return False
        return True

    async def _fetch_page(self, url: str, rules: WebRules) -> Fetched:
        try:
            async with asyncio.timeout(self._limits.seconds):
                page = await follow_frames(
                    await self._fetch_address(url, "", rules), partial(self._fetch_address, rules=rules)
                )
                if why := await asyncio.to_thread(wall_reason, page):
                    raise FetchFailed(why)
                return page
        except TimeoutError as error:
            raise FetchFailed(f"timeout: incomplete after {self._limits.seconds:g} s") from error

    async def _fetch_address(self, url: str, before: str, rules: WebRules) -> Fetched:
        """What is at an address, after redirects; `before` is the page that leads there, "" if none does."""
        address, page, redirects = parse_address(url), parse_address(before) if before else None, list[str]()
        while True:
            try:
                answer = await self._fetch_hop(page, address, url, redirects, rules)
            except (httpcore2.TimeoutException, TimeoutError) as error:
                raise FetchFailed("timeout: the server does not answer") from error
            except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
                raise FetchFailed(f"unreachable: {connection_problem(error, address.href)}") from error
            if isinstance(answer, Fetched):
                return answer
            redirects.append(address.href)
            if len(redirects) > self._limits.redirects:
                raise FetchFailed(f"redirects: more than {self._limits.redirects}")
            page, address = address, parse_address(answer.to, address.href)
            if address.href in redirects:
                raise FetchFailed("redirects: in a loop")

    async def _fetch_hop(
        self, page: Url | None, address: Url, url: str, redirects: Sequence[str], rules: WebRules
    ) -> Fetched | _Redirect:
        """One hop of the way from `url`: a new address, checked like the first."""
        if page is not None:
            await self._network.check_lead(page, address)
        if why := rules.host_refusal_reason(address.host):
            raise FetchFailed(f"blocked: {address.host} is left out of this run ({why})")
        if rules.excludes(address.href):
            raise FetchFailed("blocked: this page was left out of this run by request")
        site = self._site(address.origin)
        if self._robots and (why := (await self._robots_rules(site, address, rules)).refusal(address, self._agent)):
            raise FetchFailed(f"robots: {address.host} {why}")
        cached = None if rules.fresh or self._cache is None else await asyncio.to_thread(self._cache.get, address.href)
        if cached is not None and cached.fresh_until > to_timestamp(self._clock.now()):
            return _reuse_page(cached.page, url, redirects, kept="fresh")
        # Two addresses may lead to one page at the same time: it is requested once.
        ask = partial(self._request_hop, site, address, url, tuple(redirects), cached)
        answer = await share_work(self._hops, (address.href, rules), ask)
        return _reuse_page(answer, url, redirects, kept=answer.kept) if isinstance(answer, Fetched) else answer

    def _site(self, origin: str) -> _Site:
        existing = self._sites.pop(origin, None)
        site = self._sites[origin] = _Site(self._limits.at_once) if existing is None else existing
        if len(self._sites) > MAX_SITES:
            self._sites.pop(next(iter(self._sites)))
        return site

    async def _request_hop(
        self, site: _Site, address: Url, url: str, redirects: Sequence[str], cached: KeptPage | None
    ) -> Fetched | _Redirect:
        """Request one hop; a site that is busy gets a second request after the time it states."""
        for may_retry in (True, False):
            conditions = conditional_headers(cached.page.headers) if cached is not None else {}
            async with (
                self._wait_for_turn(site),
                self._response(address, ACCEPT, conditions) as (status, headers, response),
            ):
                if status == NOT_MODIFIED and cached is not None:
                    page = confirm_unchanged(_reuse_page(cached.page, url, redirects), headers, self._clock.now())
                    return await self._keep(page, {**cached.page.headers, **headers})
                if status in REDIRECT_STATUSES and (to := location(headers)):
                    return _Redirect(to)
                pause = retry_after(headers, self._clock.now())
                wait = RETRY_SECONDS if pause is None else pause
                if not (status in BUSY_STATUSES and may_retry and wait <= self._limits.longest_wait):
                    page = await self._page(address, url, redirects, status, headers, response)
                    to = quick_redirect(page)
                    return _Redirect(to) if to else await self._keep(page, headers)
            await self._clock.sleep(wait)
        raise AssertionError("the second answer is taken as it is")

    async def _page(
        self,
        address: Url,
        url: str,
        redirects: Sequence[str],
        status: int,
        headers: Mapping[str, str],
        response: httpcore2.Response,
    ) -> Fetched:
        if is_check_response(headers) or (status in CHECK_STATUSES and await self._is_check(headers, response)):
            raise FetchFailed(f"bot check: {address.host} answered {status}, and {ANY_CHECK}")
        if not 200 <= status < 300:
            raise FetchFailed(f"{STATUS_REASONS.get(status, 'refused')}: {address.host} answered {status}")
        if status == PARTIAL_CONTENT and not is_whole(headers.get("content-range", "")):
            raise FetchFailed(f"damaged: {address.host} sent only a part of the page")
        body = await read_body(response.aiter_stream(), headers.get("content-encoding", ""), self._limits.bytes)
        return Fetched(
            url=url,
            final_url=address.href,
            redirects=tuple(redirects),
            status=status,
            media_type=media_type(headers.get("content-type", ""), body),
            headers={name: headers[name] for name in self._headers if name in headers},
            body=body,
            fetched_at=self._clock.now(),
        )

    async def _is_check(self, headers: Mapping[str, str], response: httpcore2.Response) -> bool:
        """True if the page of an error is a check for browsers."""
        try:
            body = await read_body(
                response.aiter_stream(), headers.get("content-encoding", ""), MAX_CHECK_BYTES, truncate=True
            )
        except FetchFailed:
            return False
        return await asyncio.to_thread(is_check_page, media_type(headers.get("content-type", ""), body), body)

    async def _keep(self, page: Fetched, headers: Mapping[str, str]) -> Fetched:
        """Keep a page for later requests, as its server allows; if the place cannot be written, keep nothing."""
        fresh = freshness_seconds(headers)
        if self._cache is not None and fresh is not None and page.status == OK:
            until = to_timestamp(page.fetched_at) + fresh
            with suppress(StoreError):
                await asyncio.to_thread(self._cache.put, KeptPage(page=page, fresh_until=until))
        return page

    @asynccontextmanager
    async def _response(
        self, address: Url, accept: str, extra_headers: Mapping[str, str] = {}
    ) -> AsyncIterator[tuple[int, Mapping[str, str], httpcore2.Response]]:
        headers: dict[bytes | str, bytes | str] = {
            "Host": address.authority,
            "User-Agent": self._agent,
            "Accept": accept,
            "Accept-Encoding": ENCODINGS,
        }
        headers.update(extra_headers.items())
        silence = self._limits.silence
        timeouts = {"connect": silence, "read": silence, "write": silence, "pool": self._limits.seconds}
        async with self._pool.stream(
            "GET", address.href, headers=headers, extensions={"timeout": timeouts}
        ) as response:
            yield response.status, headers_of(response), response

    @asynccontextmanager
    async def _wait_for_turn(self, site: _Site) -> AsyncIterator[None]:
        """Wait for a place among the requests to a site, at the rate it allows."""
        async with site.semaphore:
            delay = 0.0 if site.rules is None else site.rules.delay(self._agent)
            if delay:
                async with site.turn:
                    await self._clock.sleep(max(0.0, site.next - self._clock.monotonic()))
                    site.next = self._clock.monotonic() + delay
            yield

    async def _robots_rules(self, site: _Site, address: Url, rules: WebRules) -> RobotsRules:
        """The site's robots.txt, requested once; none for a run that may not go where it leads."""
        async with site.robots_lock:
            if site.rules is None or self._clock.monotonic() > site.fresh_until:
                answer = await self._fetch_robots(address, rules)
                if answer is None:
                    return RobotsRules()
                site.rules = parse_robots(answer)
                site.fresh_until = self._clock.monotonic() + ROBOTS_FRESH
        return site.rules

    async def _fetch_robots(self, address: Url, rules: WebRules) -> RobotsResponse | None:
        """The answer for `/robots.txt`, after at most five redirects (RFC 9309, 2.3.1.2); None if one leads to a host
        that `rules` refuses.

        Raises:
            FetchFailed: the host may not be connected to at all.
        """
        address = parse_address("/robots.txt", address.href)
        for _ in range(6):
            if rules.host_refusal_reason(address.host):
                return None
            try:
                async with self._response(address, "text/plain") as (status, headers, response):
                    if status not in REDIRECT_STATUSES or not (to := location(headers)):
                        parts = response.aiter_stream()
                        if not 200 <= status < 300:
                            return RobotsResponse(status)
                        body = await read_body(
                            parts, headers.get("content-encoding", ""), MAX_ROBOTS_BYTES, truncate=True
                        )
                        return RobotsResponse(status, body.decode(errors="replace"))
                page, address = address, parse_address(to, address.href)
                await self._network.check_lead(page, address)
            except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError):
                return RobotsResponse(0)
        return RobotsResponse(404)


def _reuse_page(
    page: Fetched, url: str, redirects: Sequence[str], kept: Literal["", "fresh", "unchanged"] = ""
) -> Fetched:
    """A kept page as the answer to another request."""
    return msgspec.structs.replace(page, url=url, redirects=tuple(redirects), kept=kept)


def create(
    clock: Clock,
    *,
    agent: str,
    allow: Sequence[str],
    seconds: float,
    largest: int,
    robots: bool,
    kept: PageCache | None = None,
    headers: Sequence[str] = KEPT_HEADERS,
) -> WebFetcher:
    """Create a fetcher.

    Args:
        agent: the user agent of every request.
        allow: hosts and networks that may be read although they are not public.
        seconds: the limit for a page, including redirects.
        largest: the most bytes of a page, unpacked.
        robots: whether to obey robots.txt.
        kept: where pages are kept for later requests.
        headers: headers of an answer that are kept with a page.

    Raises:
        ConfigError: `allow` contains something that is neither a host nor a network.
    """
    manners = FetchManners(agent=agent, robots=robots, headers=headers)
    limits = FetchLimits(seconds=seconds, bytes=largest)
    return WebFetcher(clock, manners, network=GuardedBackend(parse_policy(allow)), limits=limits, cache=kept)
