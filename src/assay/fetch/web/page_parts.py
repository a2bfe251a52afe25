"""Pages in parts: the page that a frameset, or a page with nothing but a frame, shows; the next part of an article."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from assay.core.errors import FetchFailed
from assay.core.lazy import regex
from assay.core.sources import Fetched
from assay.core.web_addresses import BadUrl, Url, is_below, parse_url
from assay.fetch.html_markdown import HIDDEN_STYLE, MAX_TAGS
from assay.fetch.html_metadata import LINKED_DATA_SELECTOR, attribute, read_linked, text_outside
from assay.fetch.web.response import HTML_TYPES, base_address

MAX_FRAMES, MAX_FRAME_DEPTH = 4, 2
"""The frames of a page that are requested, and of a page in a frame."""
MAX_PAGE_BYTES = 500_000
"""Bytes; a larger page has text of its own."""
MIN_TEXT_CHARS = 200
"""Characters of text from which on a page is read as it is, whatever it embeds."""
FRAMED = regex(rb"<[fieo](?:rame|frame|mbed|bject)\b", re.IGNORECASE)
"""A frame, iframe, embed or object: with the first letter apart, they are found in half the time."""
MIN_FRAME_PIXELS = 50
"""Pixels; a smaller frame shows nothing to read."""
SHOWN_TYPES = ("text/", "application/pdf")
"""The beginnings of the types of documents that browsers show in a frame, beside pages."""
DOCUMENTS = 'embed[type="application/pdf"][src], object[type="application/pdf"][data]'
Fetch = Callable[[str, str], Awaitable[Fetched]]
"""Fetches the page at an address to which the page at another leads."""


async def follow_frames(page: Fetched, fetch: Fetch, depth: int = MAX_FRAME_DEPTH) -> Fetched:
    """Return what a page shows in its frames, if it has hardly any text of its own; else the page.

    Of several frames the one with the most text is the page: the others are menus and titles. It counts as a redirect,
    so the way to it is in the snapshot. A frame of another site is followed only from a frameset, which hides the
    address of its frames; in other pages such frames are advertisements and films. `fetch` follows the rules of any
    page.
    """
    if (
        depth == 0
        or len(page.body) > MAX_PAGE_BYTES
        or page.media_type not in HTML_TYPES
        or not FRAMED.search(page.body)
    ):
        return page
    if page.body.count(b"<") > MAX_TAGS:
        return page
    urls, most_characters = await asyncio.to_thread(_frames, page)
    best = page
    for url in urls:
        try:
            frame = await follow_frames(await fetch(url, page.final_url), fetch, depth - 1)
        except FetchFailed:
            continue
        characters = await asyncio.to_thread(_characters, frame)
        if characters > most_characters and frame.final_url != page.final_url:
            best, most_characters = frame, characters
    if best is page:
        return page
    return msgspec.structs.replace(best, url=page.url, redirects=(*page.redirects, page.final_url, *best.redirects))


def _frames(page: Fetched) -> tuple[tuple[str, ...], int]:
    """The addresses of the frames that may hold the text of a page, and the characters of its own text."""
    tree = LexborHTMLParser(page.body)
    set_of = tree.css("frameset frame[src]")
    links = [node.attributes.get("src") or "" for node in set_of]
    own_characters = _characters(page)
    if not set_of and own_characters < MIN_TEXT_CHARS:
        visible = [node for node in tree.css(f"iframe[src], {DOCUMENTS}") if not _is_hidden(node)]
        links = [node.attributes.get("src") or node.attributes.get("data") or "" for node in visible]
    elif not set_of:
        links = []
    base = base_address(tree, page.final_url)
    urls = dict.fromkeys(_address(link, base, page.final_url, anywhere=bool(set_of)) for link in links)
    urls.pop("", None)
    return tuple(urls)[:MAX_FRAMES], own_characters


def _address(link: str, base: str, page: str, *, anywhere: bool) -> str:
    """A frame's address, relative to `base`; "" if it is none, or of another site than its page's."""
    try:
        target, home = parse_url(link, base), parse_url(page)
    except BadUrl:
        return ""
    frame_host, page_host = target.host.removeprefix("www."), home.host.removeprefix("www.")
    return target.href if anywhere or is_below(frame_host, page_host) or is_below(page_host, frame_host) else ""


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    sizes = [(attributes.get(name) or "").strip().removesuffix("px") for name in ("width", "height")]
    if any(size.isascii() and size.isdigit() and int(size) < MIN_FRAME_PIXELS for size in sizes if len(size) < 6):
        return True
    return "hidden" in attributes or HIDDEN_STYLE.search(attributes.get("style") or "") is not None


def _characters(page: Fetched) -> int:
    """Characters of a page's text without menus; a document of another kind counts as all text, a picture as none."""
    if page.media_type not in HTML_TYPES and not page.media_type.startswith(SHOWN_TYPES):
        return 0
    if page.media_type not in HTML_TYPES or page.body.count(b"<") > MAX_TAGS:
        return len(page.body)
    return len(text_outside(LexborHTMLParser(page.body), "form", "noframes"))


# Finds the next part of an article that is divided into several pages.

NEXT = "link[rel~=next i][href], a[rel~=next i][href]"
# Patterns that begin with a letter or a bracket are found many times faster than others.
MARKED = regex(rb"rel\s*=\s*[\"']?[\w ]{0,40}\bnext\b")
STATED = regex(rb"<[ms](?:eta[^<>]*article|cript[^<>]*\bld\b[^<>]{0,8}json)")
"""In lower case, one of these is in every page that says that it is an article, in `og:type` or in JSON."""
_COUNTED = regex(r"(.*?)(\d{1,2})(\.\w{1,5}|/)?", re.DOTALL)
"""An address up to its last number, the number, and an ending."""
_COUNTER = regex(r"(?:[/?&_,;.-]+(?:page|paged|part|seite|pagina|pg|p|s)?[/=_-]?|[/?&](?:page|p)=)$", re.IGNORECASE)
"""What stands before the number of a part."""
_NAMED = regex(r"(?:page|paged|part|seite|pagina|pg)[/=_-]?$", re.IGNORECASE)
UNNAMED = 10
"""From this number on it may be that of another article, unless it is named as a page's."""


def next_part(page: Fetched) -> str:
    """The address of the part that follows; "" if there is none.

    A page names what follows it, as manuals and lists of articles do for each other's pages (`rel="next"`). A part of
    the same article is at the same address but for a number that is one higher, and the page says that it is an
    article.
    """
    if page.media_type not in HTML_TYPES:
        return ""
    body = page.body.lower()
    if not MARKED.search(body) or not STATED.search(body):
        return ""  # most pages, without being parsed
    tree = LexborHTMLParser(page.body)
    node = tree.css_first(NEXT)
    if node is None or not _is_article(tree):
        return ""
    try:
        current, candidate = (
            parse_url(page.final_url),
            parse_url(node.attributes.get("href") or "", base_address(tree, page.final_url)),
        )
    except BadUrl:
        return ""
    return candidate.href if current.origin == candidate.origin and _is_next_number(current, candidate) else ""


def _is_article(tree: LexborHTMLParser) -> bool:
    if attribute(tree, 'meta[property="og:type" i]', "content").lower() == "article":
        return True
    return bool(read_linked(node.text(deep=True) for node in tree.css(LINKED_DATA_SELECTOR)).type)


def _is_next_number(current: Url, candidate: Url) -> bool:
    """True if one address is the other with the next number, or has the first number, 2."""
    match = _COUNTED.fullmatch(candidate.target)
    if match is None:
        return False
    before, number, ending = match[1], int(match[2]), match[3] or ""
    if current.target == f"{before}{number - 1}{ending}":
        return 1 < number < UNNAMED or _NAMED.search(before) is not None
    start = _COUNTER.sub("", before)
    same = {start, f"{start}/", f"{start}{ending}"}
    return number == 2 and start != before and current.target in same
