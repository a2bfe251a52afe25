"""The protocol of web search providers, and one query over HTTP: its limits, its rate, and the meaning of a refusal."""

from __future__ import annotations

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from typing import Any, ClassVar, Literal, Protocol, TypeVar
from urllib.parse import urljoin

import httpx2
import msgspec
from dateutil import parser as dates
from selectolax.lexbor import LexborHTMLParser

from assay.core.errors import ConfigError, SearchError
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.lazy import regex
from assay.core.ports import Query
from assay.core.ports.models import Secret
from assay.core.remote_services import connection_problem, retry_after, tls_context
from assay.core.web_addresses import BadUrl, is_address, parse_url


class SearchAccess(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach a provider: `url` replaces its own, `option` is what else it needs (an engine, an e-mail).

    `pause` is in seconds between two queries, None for the provider's own.
    """

    url: str = ""
    key: Secret | None = None
    option: str = ""
    pause: float | None = None


class WebHit(msgspec.Struct, frozen=True, kw_only=True):
    """A page that a provider found. `snippet` is plain text; `published` an ISO date or its year, "" if unknown."""

    url: str
    title: str
    snippet: str = ""
    published: str = ""
    author: str = ""


class WebSearchProvider(Protocol):
    """A search provider of the web."""

    @property
    def name(self) -> str: ...

    async def find(self, query: Query) -> list[WebHit]:
        """Return at most `query.limit` pages, best first.

        Raises:
            SearchError: it could not answer; the reason says what to do, if anything can be done.
        """

    async def close(self) -> None:
        """Close connections."""


# Providers' texts in one form: without markup, with ISO dates.

FIRST_DAY, LAST_DAY = "1970-01-01", "2100-01-01"
"""The ends of a range of days for providers that require both."""


def with_sites(query: Query) -> str:
    """The query with its domains in the form of search engines: `tides (site:a.org OR site:b.org) -site:c.org`."""
    sites = [f"site:{domain}" for domain in query.rules.domains]
    site_clause = f"({' OR '.join(sites)})" if len(sites) > 1 else "".join(sites)
    return " ".join(filter(None, (query.text, site_clause, *(f"-site:{domain}" for domain in query.rules.denied))))


def plain(markup: str | None) -> str:
    """The text of a snippet, without any markup, on one line."""
    if not markup:
        return ""
    text = LexborHTMLParser(markup).text() if "<" in markup or "&" in markup else markup
    return " ".join(text.split())


_NUMBERS = regex(r"(\d{1,2})([./])(\d{1,2})\2(\d{4})(?!\d)", re.ASCII)


def iso_date(date: str | int | None) -> str:
    """A date as ISO; a year or a month alone stays one, anything else (or a relative date) is "".

    Of `4/3/2024` only the year is certain; with dots the day comes first.
    """
    text = str(date or "").strip()
    if text.isdigit():
        return text if len(text) == 4 and text.isascii() else ""
    first, second = datetime(1904, 2, 3), datetime(1906, 5, 7)
    if numbers := _NUMBERS.match(text):
        day, mark, month, year = numbers.groups()
        if mark == "/" and day != month and max(int(day), int(month)) <= 12:
            return year  # nobody knows which of them is the month
        text = f"{year}-{month}-{day}" if int(month) <= 12 else f"{year}-{day}-{month}"
    try:  # missing parts come from the default: two defaults reveal them
        first_reading, second_reading = dates.parse(text, default=first), dates.parse(text, default=second)
    except (ValueError, ArithmeticError, TypeError):
        return ""
    if first_reading.year != second_reading.year:
        return ""
    if first_reading.month != second_reading.month:
        return f"{first_reading.year:04d}"
    return f"{first_reading.year:04d}-{first_reading.month:02d}" + (
        f"-{first_reading.day:02d}" if first_reading.day == second_reading.day else ""
    )


# How often a provider is queried, and when it is left alone.

REST_SECONDS = 60.0
"""Seconds for which a provider that does not answer is left alone."""
SLOW_SECONDS = 4.0
"""Seconds: a provider that fails this slowly is left alone at once, others after the second failure in a row."""


class QueryPace:
    """Lets queries through one after the other, `pause` seconds apart."""

    def __init__(self, pause: float) -> None:
        self.pause = pause
        self._turn = asyncio.Lock()
        self._next = 0.0

    async def wait_for_turn(self) -> None:
        """Wait for a turn; the run's own deadline ends the wait."""
        async with self._turn:
            now = asyncio.get_running_loop().time()
            await asyncio.sleep(max(0.0, self._next - now))
            self._next = max(self._next, now) + self.pause


SPARE_PAUSE_SECONDS = 0.5
"""With a shorter pause than this, a query ahead may take a turn."""


class ProviderRest:
    """Leaves a provider alone after failures: an unreachable one would cost every query its whole time limit."""

    def __init__(self) -> None:
        self._failures = 0
        self._until = 0.0
        self._reason = ""

    def check(self) -> None:
        """Raise SearchError if it just failed, with the same message."""
        if asyncio.get_running_loop().time() < self._until:
            raise SearchError(self._reason)

    def record_failure(self, reason: str, seconds: float) -> None:
        self._failures += 1
        if self._failures > 1 or seconds >= SLOW_SECONDS:
            self._until, self._reason = asyncio.get_running_loop().time() + REST_SECONDS, reason

    def record_success(self) -> None:
        self._failures, self._until = 0, 0.0


USER_AGENT = f"Assay/{version('assay')} (research assistant; asks what its user wants to know)"
"""Services want to know who asks; some refuse anonymous clients."""
TIMEOUT_SECONDS = 15.0
CONNECT_SECONDS = 5.0
"""Seconds to connect; a service that takes longer mostly never answers."""
MAX_ANSWER_BYTES = 4_000_000
MAX_WAIT_SECONDS = 10.0
MAX_MESSAGE_CHARS = 200
"""Code points of a provider's own message in an error."""
T = TypeVar("T")


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """A request: `path` after the provider's address (or `base`); `body` is sent as JSON if there is one."""

    base: str = ""
    path: str = ""
    params: Mapping[str, str | int] = {}
    headers: Mapping[str, str] = {}
    body: Mapping[str, Any] | None = None


class HttpProvider(ABC):
    """A provider behind one address; a subclass builds the request and reads the answer.

    Implements `WebSearchProvider` and `core.ports.AskedAhead`.
    """

    name: ClassVar[str]
    base: ClassVar[str] = ""
    needs_key: ClassVar[bool] = False
    pause: ClassVar[float] = 0.0
    """Seconds between two requests, as the provider's terms demand."""
    most: ClassVar[int] = 20
    """Hits that one request may ask for."""
    forbids: ClassVar[str] = ""
    """What to do if it refuses requests without a key."""

    def __init__(self, access: SearchAccess = SearchAccess()) -> None:
        """Raise ConfigError if a key or an address is missing."""
        if self.needs_key and access.key is None:
            raise ConfigError(f"{self.name} needs a key: assay keys set {self.name}, or the setting keys.{self.name}")
        self.url = (access.url or self.base).rstrip("/")
        if not self.url:
            raise ConfigError(
                f"{self.name} needs an address: `url` under [search.services.{self.name}] in the settings file"
            )
        self._access = access
        self._client: httpx2.AsyncClient | None = None
        self._pace = QueryPace(self.pause if access.pause is None else access.pause)

    @property
    def ahead(self) -> Literal["free", "paid", "never"]:
        """A provider with a long pause has no turn to spare."""
        if self.needs_key:
            return "paid"
        return "free" if self._pace.pause < SPARE_PAUSE_SECONDS else "never"

    @abstractmethod
    def ask(self, query: Query) -> Ask:
        """The request for `query`."""

    @abstractmethod
    def hits(self, data: bytes) -> list[WebHit]:
        """The hits in an answer.

        Raises:
            msgspec.DecodeError, ValueError: it is not an answer of this provider.
        """

    async def find(self, query: Query) -> list[WebHit]:
        ask = self.ask(query)
        return self.read(await self.send(ask), ask.base or self.url)[: query.limit]

    def read(self, data: bytes, base: str) -> list[WebHit]:
        """The hits that are pages; an address may be relative to `base`.

        Raises:
            SearchError: the answer cannot be read.
        """
        try:
            hits = [msgspec.structs.replace(hit, url=_resolve_url(base, hit.url)) for hit in self.hits(data)]
        except (*DECODE_ERRORS, ValueError) as error:
            raise SearchError(
                f"{self.name} sent an answer that cannot be read: {self._hide_key(str(error))}"
            ) from error
        return [hit for hit in hits if hit.url]

    async def send(self, ask: Ask) -> bytes:
        """The body of a successful answer; a busy provider is asked once more, if it says when.

        Raises:
            SearchError: there is none.
        """
        await self._pace.wait_for_turn()  # waiting for a turn does not count as the provider's time
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                for may_retry in (True, False):
                    status, headers, data = await self._request(ask)
                    wait = retry_after(headers)
                    if status != 429 or not may_retry or wait is None or wait > MAX_WAIT_SECONDS:
                        break
                    await asyncio.sleep(wait)
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise SearchError(f"{self.name} did not answer in {TIMEOUT_SECONDS:g} s") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            problem = self._hide_key(connection_problem(error, ask.base or self.url))
            raise SearchError(f"{self.name} cannot be reached: {problem}") from error
        if status != httpx2.codes.OK:
            raise SearchError(self._refusal(status, headers, data))
        return data

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    @property
    def key(self) -> str:
        """The key; "" if there is none."""
        return "" if self._access.key is None else self._access.key.reveal()

    @property
    def option(self) -> str:
        """The user's other setting for this provider."""
        return self._access.option

    async def _request(self, ask: Ask) -> tuple[int, Mapping[str, str], bytes]:
        if self._client is None:
            # The environment's proxies and .netrc are not settings of Assay.
            self._client = httpx2.AsyncClient(
                trust_env=False, verify=tls_context(), timeout=httpx2.Timeout(TIMEOUT_SECONDS, connect=CONNECT_SECONDS)
            )
        url = (ask.base or self.url) + ask.path
        headers = {"accept": "application/json", "user-agent": USER_AGENT, **ask.headers}
        method = "GET" if ask.body is None else "POST"
        async with self._client.stream(method, url, params=ask.params, headers=headers, json=ask.body) as response:
            data = bytearray()
            async for part in response.aiter_bytes():
                data += part
                if len(data) > MAX_ANSWER_BYTES:
                    raise SearchError(f"{self.name} answered with more than {MAX_ANSWER_BYTES / 1e6:g} MB")
        return response.status_code, response.headers, bytes(data)

    def _refusal(self, status: int, headers: Mapping[str, str], data: bytes) -> str:
        text = self._hide_key(" ".join(data[:2_000].decode(errors="replace").split()))[:MAX_MESSAGE_CHARS]
        words = f": {text}" if text and not text.startswith("<") else ""
        if status in (401, 403):
            if not self.key:
                return f"{self.name} refuses to answer ({status}){words}{self.forbids}"
            return f"{self.name} refused the key ({status}){words}; assay keys set {self.name}"
        if status == 429:
            wait = retry_after(headers)
            retry_hint = "" if wait is None else f"; again in {wait:.0f} s"
            return f"{self.name} has had too many questions (429){retry_hint}"
        return f"{self.name} answered {status}{words}"

    def _hide_key(self, text: str) -> str:
        return text.replace(self.key, "***") if self.key else text


def _resolve_url(base: str, url: str) -> str:
    """A provider's address, relative or not; "" if it is not that of a page: one bad hit does not spoil the others."""
    try:
        address = urljoin(base, url) if url else ""
        return address if is_address(address) or not url else parse_url(url, base).href
    except (BadUrl, ValueError):
        return ""


_ESCAPE = regex(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""An escape in JSON; the group is half of a pair, as services leave where they cut a text within an emoji."""


def decode(data: bytes, type: type[T]) -> T:
    """JSON as `type`.

    Raises:
        msgspec.DecodeError: it is not.
    """
    if b"\\ud" in data or b"\\uD" in data:
        data = _ESCAPE.sub(lambda found: b"\\ufffd" if found[1] else found[0], data)
    return msgspec.json.decode(data, type=type)


class Results(msgspec.Struct):
    """An answer whose rows are its `results`, as several providers send it."""

    results: list[msgspec.Raw]


def convert_rows(rows: Sequence[msgspec.Raw], type: type[T]) -> list[T]:
    """The rows that are a `type`: one odd row does not spoil the others.

    Raises:
        msgspec.DecodeError: there are rows, and none of them is.
    """
    items, last_error = list[T](), None
    for row in rows:
        try:
            items.append(msgspec.json.decode(row, type=type))
        except DECODE_ERRORS as error:
            last_error = error
    if last_error is not None and not items:
        raise last_error
    return items
