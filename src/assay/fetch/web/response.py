"""A page as it came: its body within limits, its type, whether it may be kept, and its links; and a site's statements
about its pages: robots directives and sitemaps.
"""

from __future__ import annotations

import re
import zlib
from codecs import BOM_UTF8
from collections.abc import AsyncIterable, Callable, Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, AnyStr

import msgspec
from protego import Protego
from selectolax.lexbor import LexborHTMLParser

from assay.core.errors import FetchFailed
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.lazy import lazy_module, regex
from assay.core.sources import Fetched
from assay.core.web_addresses import BadUrl, Url, parse_url
from assay.fetch.html_preparation import is_feed

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = lazy_module("lxml.etree")

MAGIC_BYTES = (
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"\x1f\x8b", "application/gzip"),
)
ENCODINGS = "gzip, deflate"
"""The encodings requested: both can be unpacked piece by piece, with a limit."""
SNIFFED_BYTES = 1_024
HTML_TYPES = ("text/html", "application/xhtml+xml")
FEED_TYPE = "application/rss+xml"
"""The type of all feeds of news, whatever their servers call it."""
FIRST_READ = 32_000, 64_000, 128_000
"""Characters or bytes from the beginning of a page that are examined before it is as a whole."""


async def read_body(parts: AsyncIterable[bytes], encoding: str, max_bytes: int, *, truncate: bool = False) -> bytes:
    """Return the whole body, unpacked; with `truncate`, the first lines of a larger one.

    Raises:
        FetchFailed: more than `max_bytes` bytes, sent or unpacked; damaged, or in an encoding that was not requested.
    """
    unpack = _unpacker(encoding)
    body = bytearray()
    received = 0
    async for part in parts:
        received += len(part)
        body += unpack(part, max_bytes - len(body) + 1)
        if max(received, len(body)) > max_bytes:
            if truncate:
                return bytes(body[:max_bytes]).rpartition(b"\n")[0]
            raise _too_large(max_bytes)
    return bytes(body)


def _too_large(max_bytes: int) -> FetchFailed:
    return FetchFailed(f"too large: more than {max_bytes / 1_000_000:g} MB (the setting web.max_mb)")


class _Inflate:
    """Unpacks gzip, zlib, and the bare deflate that some servers send instead."""

    def __init__(self) -> None:
        self._decompressor = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        self._started = False

    def __call__(self, part: bytes, max_bytes: int) -> bytes:
        if self._decompressor.eof:
            return b""  # what follows the end is not content, and zlib would copy it again with each part
        try:
            data = self._decompressor.decompress(part, max_bytes)
        except zlib.error as error:
            if self._started:
                raise FetchFailed("damaged: its compression is broken") from error
            self._decompressor = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
            try:
                data = self._decompressor.decompress(part, max_bytes)
            except zlib.error as again:
                raise FetchFailed("damaged: its compression is broken") from again
        self._started = True
        return data


def _unpacker(encoding: str) -> Callable[[bytes, int], bytes]:
    match encoding.strip().lower():
        case "" | "identity":
            return lambda part, _: part
        case "gzip" | "x-gzip" | "deflate":
            return _Inflate()
        case other:
            raise FetchFailed(f"damaged: packed as {other[:40]!r}, which was not asked for")


_HTML = regex(
    rb"(?:<\?xml[^>]{0,200}>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*(?:<!doctype html|<html)", re.IGNORECASE | re.DOTALL
)
"""The beginning of a page, perhaps after comments."""
_ZIPPED = ("application/vnd.", "application/epub+zip")
"""The beginnings of types whose files are ZIP archives."""


def beginnings(page: AnyStr) -> Iterator[AnyStr]:
    """Yield longer and longer beginnings of a page, and the page: if one has enough text, so does the page."""
    for end in FIRST_READ:
        if end < len(page):
            yield page[:end]
    yield page


def media_type(content_type: str, body: bytes) -> str:
    """The body's type: by its first bytes if they show it, else as declared; `text/html` for what reads like it, and
    JSON for what is, where the server only says that it is text.
    """
    declared_type = content_type.partition(";")[0].strip().lower()
    start = body[:SNIFFED_BYTES].removeprefix(BOM_UTF8).lstrip()
    for mark, kind in MAGIC_BYTES:
        if start.startswith(mark):
            return declared_type if kind == "application/zip" and declared_type.startswith(_ZIPPED) else kind
    if _HTML.match(start):
        return declared_type if declared_type == "application/xhtml+xml" else "text/html"
    if is_feed(start):
        return FEED_TYPE
    if declared_type in _ANY_TEXT and start[:1] in (b"{", b"[") and _is_json(body):
        return "application/json"
    if declared_type in ("", "application/octet-stream", "binary/octet-stream"):
        return "application/octet-stream" if b"\0" in body[:SNIFFED_BYTES] else "text/plain"
    return declared_type


_ANY_TEXT = ("", "text/plain", "text/html", "application/octet-stream", "binary/octet-stream")
"""Types of servers that do not know the type."""


def _is_json(body: bytes) -> bool:
    try:
        msgspec.json.decode(body.removeprefix(BOM_UTF8), type=dict[str, msgspec.Raw] | list[msgspec.Raw])
    except DECODE_ERRORS:
        return False
    return True


_RANGE = regex(r"bytes\s+0-(\d{1,18})/(\d{1,18})\s*")


def is_whole(content_range: str) -> bool:
    """True if a part of a page (status 206) is all of it."""
    match = _RANGE.fullmatch(content_range.lower())
    return match is not None and int(match[1]) + 1 == int(match[2])


# Pages that are redirects: static sites have no other way to lead from an old address to a new one.

_REFRESH = regex(rb"<meta[^>]{0,200}refresh", re.IGNORECASE)
_AT_ONCE = regex(r"\s*[01](?:\.\d*)?\s*[;,]\s*url\s*=\s*(?:\"([^\"]+)\"|'([^']+)'|([^\"']+))\s*", re.IGNORECASE)
MAX_REDIRECT_BYTES = 16_000
"""Bytes; a larger page is more than a redirect."""
MAX_REDIRECT_CHARS = 500
"""Characters of text with which a page may still be only a redirect."""


def quick_redirect(page: Fetched) -> str:
    """Where a page with hardly any text sends its reader within a second; "" if it is a page to read."""
    if len(page.body) > MAX_REDIRECT_BYTES or page.media_type not in HTML_TYPES or not _REFRESH.search(page.body):
        return ""
    tree = LexborHTMLParser(page.body)
    if tree.body is not None and len(" ".join(tree.body.text(deep=True).split())) > MAX_REDIRECT_CHARS:
        return ""
    for node in tree.css("meta[http-equiv='refresh' i][content]"):
        match = _AT_ONCE.fullmatch(node.attributes.get("content") or "")
        if match and node.parent is not None and node.parent.tag != "noscript":
            to = _resolve_link((match[1] or match[2] or match[3]).strip(), page.final_url)
            return "" if to == page.final_url else to
    return ""


# Kept pages, and the conditions with which a request asks whether they changed (RFC 9110, RFC 9111).

MAX_FRESH_SECONDS = 86_400.0
"""The most seconds for which a page counts as fresh, whatever its server says: users expect today's page."""
MOMENT_SECONDS = 60.0
"""Seconds for which a page counts as fresh if its server says nothing (RFC 9111, 4.2.2): two addresses that lead to one
page, and two agents that find it, need one request.
"""
_DIRECTIVE = regex(r"([a-z-]{1,40})(?:\s*=\s*\"?([^\",]{0,40}))?")


def to_timestamp(iso_time: str) -> float:
    """A time (ISO 8601) as seconds since 1970."""
    return datetime.fromisoformat(iso_time).timestamp()


def freshness_seconds(headers: Mapping[str, str]) -> float | None:
    """The seconds for which a page need not be requested again; None if it may not be kept.

    The cache is private, so `private` and `s-maxage` do not matter. If the server does not say how long, the page is
    fresh for a moment. A page that is not fresh and cannot be requested conditionally is not kept.
    """
    directives = {
        match[1]: match[2] or "" for match in _DIRECTIVE.finditer(headers.get("cache-control", "").lower()[:500])
    }
    if "no-store" in directives or headers.get("vary", "").strip() == "*":
        return None
    fresh = 0.0 if "no-cache" in directives else _lifetime(directives, headers) - _number(headers.get("age", ""))
    if fresh > 0:
        return min(fresh, MAX_FRESH_SECONDS)
    return 0.0 if conditional_headers(headers) else None


def _lifetime(directives: Mapping[str, str], headers: Mapping[str, str]) -> float:
    if "max-age" in directives:
        return _number(directives["max-age"])
    if "expires" not in headers:
        return MOMENT_SECONDS
    try:
        expires = parsedate_to_datetime(headers["expires"][:64])
        return (expires - parsedate_to_datetime(headers["date"][:64])).total_seconds()
    except (KeyError, ValueError, TypeError, OverflowError, IndexError):
        return 0.0


def _number(text: str) -> float:
    return float(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0.0


def conditional_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers of a request for a page only if it differs from the one with these headers."""
    conditions = {"If-None-Match": headers.get("etag", ""), "If-Modified-Since": headers.get("last-modified", "")}
    return {name: value for name, value in conditions.items() if value and value.isascii() and value.isprintable()}


def confirm_unchanged(page: Fetched, headers: Mapping[str, str], fetched_at: str) -> Fetched:
    """A kept page whose server confirmed at this time that it is unchanged; newer headers replace older ones."""
    newer = {name: value for name, value in headers.items() if name in page.headers}
    return msgspec.structs.replace(page, headers={**page.headers, **newer}, fetched_at=fetched_at, kept="unchanged")


# The links of a page, and a site's statements about its pages: robots directives and sitemaps.

MAX_LINKS = 50_000
"""Links of a page, or addresses of a sitemap (the limit of sitemaps.org)."""
MAX_SITEMAP_BYTES = 50_000_000
"""Bytes of a sitemap, unpacked (sitemaps.org)."""
LOCATION_TAG = "{*}loc"
GZIP_MAGIC = b"\x1f\x8b"


class Links(msgspec.Struct, frozen=True, kw_only=True):
    """The addresses that a page links to, in order and without fragments; and whether it may be kept, and followed.

    `canonical` is the address that the page states for itself, "" if none.
    """

    links: tuple[str, ...] = ()
    canonical: str = ""
    index: bool = True
    follow: bool = True


def links(body: bytes, address: str) -> Links:
    """The links of an HTML page at `address`. Blocking: some milliseconds per megabyte."""
    tree = LexborHTMLParser(body)
    base = base_address(tree, address)
    text = " ".join(
        (node.attributes.get("content") or "").lower()
        for node in tree.css("meta[name]")
        if (node.attributes.get("name") or "").lower() in ("robots", "assay")
    )
    words = set(text.replace(",", " ").split())
    urls: dict[str, None] = {}
    for node in tree.css("a[href]")[:MAX_LINKS]:
        if "nofollow" not in (node.attributes.get("rel") or "").lower().split():
            urls[_resolve_link(node.attributes.get("href") or "", base)] = None
    urls.pop("", None)
    canonical = _attribute(tree, "link[rel=canonical][href]", "href")
    return Links(
        links=tuple(urls),
        canonical=_resolve_link(canonical, base) if canonical else "",
        index=not words & {"noindex", "none"},
        follow=not words & {"nofollow", "none"},
    )


def base_address(tree: LexborHTMLParser, address: str) -> str:
    """The address to which the links of a page at `address` are relative."""
    href = _attribute(tree, "base[href]", "href")
    return (_resolve_link(href, address) if href else "") or address


def parse_sitemap(body: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The addresses of pages, and of further sitemaps, in a sitemap (sitemaps.org): XML or text, plain or gzipped.

    A broken sitemap, or something else, yields as much as can be read.
    """
    data = _gunzip(body) if body.startswith(GZIP_MAGIC) else body[:MAX_SITEMAP_BYTES]
    if not data.lstrip().startswith(b"<"):
        lines = (line.strip() for line in data.decode(errors="replace").splitlines()[:MAX_LINKS])
        return tuple(line for line in lines if line.startswith(("http://", "https://"))), ()
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, load_dtd=False, huge_tree=False)
    root = etree.fromstring(data, parser)
    if root is None:
        return (), ()
    urls = tuple(_locations(root))
    return ((), urls) if str(root.tag).rpartition("}")[2] == "sitemapindex" else (urls, ())


def _locations(root: etree._Element) -> Iterator[str]:
    for number, node in enumerate(root.iterfind(f"{{*}}*/{LOCATION_TAG}")):
        if number >= MAX_LINKS:
            return
        if node.text and node.text.strip():
            yield node.text.strip()


def _gunzip(body: bytes) -> bytes:
    try:
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(body, MAX_SITEMAP_BYTES)
    except zlib.error:
        return b""


def _attribute(tree: LexborHTMLParser, selector: str, name: str) -> str:
    node = tree.css_first(selector)
    return (node.attributes.get(name) or "") if node is not None else ""


def _resolve_link(link: str, base: str) -> str:
    """A link as an absolute address; "" if it leads to no page."""
    try:
        return parse_url(link, base).href
    except BadUrl:
        return ""


# robots.txt (RFC 9309): which pages of a site may be read, and how often.

MAX_ROBOTS_BYTES = 512_000
"""Bytes read of a robots.txt; RFC 9309 requires at least 500 KiB."""
MAX_DELAY_SECONDS = 10.0
"""The most seconds between two requests that a site can demand."""


class RobotsResponse(msgspec.Struct, frozen=True):
    """A site's answer to the request for its robots.txt; status 0 if it did not answer."""

    status: int
    text: str = ""


class RobotsRules(msgspec.Struct, frozen=True):
    """What one site allows. Without a robots.txt (`parsed` is None): everything, or nothing, for a `reason`."""

    parsed: Protego | None = None
    reason: str = ""

    def refusal(self, url: Url, agent: str) -> str:
        """Why this page may not be read; "" if it may."""
        if self.parsed is None or self.parsed.can_fetch(url.href, agent):
            return self.reason
        return "does not want this page read by programs"

    def delay(self, agent: str) -> float:
        """Seconds between two requests."""
        crawl_delay = None if self.parsed is None else self.parsed.crawl_delay(agent)
        return min(max(float(crawl_delay or 0.0), 0.0), MAX_DELAY_SECONDS)


def parse_robots(answer: RobotsResponse) -> RobotsRules:
    """Interpret the answer: without the file, everything may be read; on a server error, nothing (RFC 9309, 2.3.1)."""
    if 200 <= answer.status < 300:
        return RobotsRules(Protego.parse(answer.text.removeprefix("\ufeff")))
    if 400 <= answer.status < 500 and answer.status != 429:
        return RobotsRules()
    outcome = f"answered {answer.status}" if answer.status else "did not answer"
    return RobotsRules(reason=f"{outcome} when its robots.txt was asked for, and so allows nothing")
