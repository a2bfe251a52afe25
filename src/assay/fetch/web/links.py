"""The links of a page, and a site's statements about its pages: robots directives and sitemaps."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
from protego import Protego
from selectolax.lexbor import LexborHTMLParser

from assay.core.later import later
from assay.core.web_addresses import BadUrl, Url, read

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = later("lxml.etree")

MOST = 50_000
"""Links of a page, or addresses of a sitemap (the limit of sitemaps.org)."""
LARGEST = 50_000_000
"""Bytes of a sitemap, unpacked (sitemaps.org)."""
SITEMAP = "{*}loc"
GZIP = b"\x1f\x8b"


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
    base = _attribute(tree, "base[href]", "href")
    at = _joined(base, address) or address if base else address
    text = " ".join(
        (node.attributes.get("content") or "").lower()
        for node in tree.css("meta[name]")
        if (node.attributes.get("name") or "").lower() in ("robots", "assay")
    )
    words = set(text.replace(",", " ").split())
    found: dict[str, None] = {}
    for node in tree.css("a[href]")[:MOST]:
        if "nofollow" not in (node.attributes.get("rel") or "").lower().split():
            found[_joined(node.attributes.get("href") or "", at)] = None
    found.pop("", None)
    canonical = _attribute(tree, "link[rel=canonical][href]", "href")
    return Links(
        links=tuple(found),
        canonical=_joined(canonical, at) if canonical else "",
        index=not words & {"noindex", "none"},
        follow=not words & {"nofollow", "none"},
    )


def sitemap(body: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The addresses of pages, and of further sitemaps, in a sitemap (sitemaps.org): XML or text, plain or gzipped.

    A broken sitemap, or something else, yields as much as can be read.
    """
    data = _unpacked(body) if body.startswith(GZIP) else body[:LARGEST]
    if not data.lstrip().startswith(b"<"):
        lines = (line.strip() for line in data.decode(errors="replace").splitlines()[:MOST])
        return tuple(line for line in lines if line.startswith(("http://", "https://"))), ()
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, load_dtd=False, huge_tree=False)
    root = etree.fromstring(data, parser)
    if root is None:
        return (), ()
    found = tuple(_locations(root))
    return ((), found) if str(root.tag).rpartition("}")[2] == "sitemapindex" else (found, ())


def _locations(root: etree._Element) -> Iterator[str]:
    for number, node in enumerate(root.iterfind(f"{{*}}*/{SITEMAP}")):
        if number >= MOST:
            return
        if node.text and node.text.strip():
            yield node.text.strip()


def _unpacked(body: bytes) -> bytes:
    try:
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(body, LARGEST)
    except zlib.error:
        return b""


def _attribute(tree: LexborHTMLParser, selector: str, name: str) -> str:
    node = tree.css_first(selector)
    return (node.attributes.get(name) or "") if node is not None else ""


def _joined(link: str, base: str) -> str:
    """A link as an absolute address; "" if it leads to no page."""
    try:
        return read(link, base).href
    except BadUrl:
        return ""


# robots.txt (RFC 9309): which pages of a site may be read, and how often.

LARGEST_ROBOTS = 512_000
"""Bytes read of a robots.txt; RFC 9309 requires at least 500 KiB."""
LONGEST_DELAY = 10.0
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
        wanted = None if self.parsed is None else self.parsed.crawl_delay(agent)
        return min(max(float(wanted or 0.0), 0.0), LONGEST_DELAY)


def rules(answer: RobotsResponse) -> RobotsRules:
    """Interpret the answer: without the file, everything may be read; on a server error, nothing (RFC 9309, 2.3.1)."""
    if 200 <= answer.status < 300:
        return RobotsRules(Protego.parse(answer.text))
    if 400 <= answer.status < 500 and answer.status != 429:
        return RobotsRules()
    outcome = f"answered {answer.status}" if answer.status else "did not answer"
    return RobotsRules(reason=f"{outcome} when its robots.txt was asked for, and so allows nothing")
