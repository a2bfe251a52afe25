"""Prepares a page for reading: opens what browsers show without scripts, removes what lies over the text, finds the
text that stands in where a page shows none, and makes a page of a feed.
"""

from __future__ import annotations

import html
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from assay.core.document_dates import iso_date
from assay.core.lazy import lazy_module, regex
from assay.fetch.html_markdown import MAX_TAG_DEPTH, to_markdown
from assay.fetch.html_metadata import LINKED_DATA_SELECTOR, read_linked
from assay.fetch.wall_words import CONSENT

if TYPE_CHECKING:
    from lxml import etree
    from selectolax import lexbor
    from selectolax.lexbor import LexborHTMLParser, LexborNode
else:
    etree = lazy_module("lxml.etree")
    lexbor = lazy_module("selectolax.lexbor")

# A component's own tree (shadow DOM) in the page itself: `<template shadowrootmode="open">`.

_SHADOW = regex(r"<template\b[^<>]{0,300}\bshadowroot(?:mode)?\b", re.IGNORECASE)
_TEMPLATE = regex(r"<(/?)template\b([^<>]*)>", re.IGNORECASE)


def expand_components(page: str) -> str:
    """`page` with the trees of its components as ordinary elements; other templates show nothing and stay."""
    return "".join(_replace_shadow_roots(page)) if _SHADOW.search(page) else page


def _replace_shadow_roots(page: str) -> Iterator[str]:
    position = 0
    open_ones: list[bool] = []
    for tag in _TEMPLATE.finditer(page):
        if not tag[1]:
            open_ones.append("shadowroot" in tag[2].lower())
            shadow = open_ones[-1]
        else:
            shadow = bool(open_ones) and open_ones.pop()
        if shadow:
            yield page[position : tag.start()] + f"<{tag[1]}div>"
            position = tag.end()
    yield page[position:]


# What lies over a text or before it.

_NAMES = "cookie consent gdpr dsgvo didomi usercentrics sp_message qc-cmp iubenda truste osano klaro tarteauc".split()
_OVER = (*_NAMES, "aria-modal", "dialog")
"""One of these is in every page with a request; a pattern for them all takes ten times as long."""
REQUEST_SELECTOR = ", ".join(
    (
        *(f"[{attribute}*='{name}' i]" for name in _NAMES for attribute in ("id", "class")),
        "[role=dialog]",
        "[role=alertdialog]",
        "[aria-modal=true]",
    )
)
"""Elements that consent managers add to a page, and dialogs."""
BUTTON_SELECTOR = "button, [role=button], input[type=submit], input[type=button], input[type=checkbox], a[class*=btn i]"
"""A request can be answered."""
MAX_REQUEST_CHARS = 50_000
"""Characters; requests list hundreds of partners."""
MAX_REQUESTS = 200
"""Elements that are looked into: in a page made to harm they lie within each other."""
KEPT_SELECTOR = "h1, article, main"


def remove_requests(tree: LexborHTMLParser, page: str) -> None:
    """Remove requests for consent, unless one holds the page's heading or is in its article."""
    lower = page.lower()
    if not any(name in lower for name in _OVER):
        return
    requests = [
        node for node in tree.css(REQUEST_SELECTOR)[:MAX_REQUESTS] if _asks_for_consent(node) and not _is_text(node)
    ]
    numbers = {node.mem_id for node in requests}
    for node in [
        request for request in requests if not any(outer.mem_id in numbers for outer in outer_elements(request))
    ]:
        node.decompose()


def _asks_for_consent(node: LexborNode) -> bool:
    """True if an element asks for consent, and can be answered."""
    if node.tag in ("html", "body", "script", "link", "style") or node.css_first(BUTTON_SELECTOR) is None:
        return False
    text = node.text(deep=True)
    return len(text) < MAX_REQUEST_CHARS and CONSENT.search(text) is not None


def _is_text(node: LexborNode) -> bool:
    """True if an element holds the page's text, or is in it."""
    return node.css_first(KEPT_SELECTOR) is not None or is_in_article(node)


def is_in_article(node: LexborNode) -> bool:
    """True if an element is in an article, or in the page's main part."""
    return any(outer.tag in ("article", "main") for outer in outer_elements(node))


def outer_elements(node: LexborNode) -> Iterator[LexborNode]:
    """The elements that an element lies in, the nearest first; of a page made to harm only so many."""
    return islice(_ancestors(node), MAX_TAG_DEPTH)


def _ancestors(node: LexborNode) -> Iterator[LexborNode]:
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


MIN_STORY_CHARS = 500
"""Characters in the paragraphs of an article that is the page's own."""


def remove_other_articles(tree: LexborHTMLParser) -> None:
    """Remove the articles behind the page's own: scrolling on, sites show the next ones, each with a heading."""
    articles = [
        node for node in tree.css("article") if not any(element.tag == "article" for element in outer_elements(node))
    ]
    main_article = next((node for node in articles if node.css_first("h1") is not None), None)
    if (
        main_article is None
        or main_article != articles[0]
        or sum(len(element.text(deep=True)) for element in main_article.css("p")) < MIN_STORY_CHARS
    ):
        return
    for node in articles[1:]:
        if node.css_first("h1, h2") is not None:
            node.decompose()


# Text for readers without scripts: in `<noscript>`, in a frame's own text, in what the page tells search engines.

MIN_NOSCRIPT_CHARS, MAX_NOTICE_CHARS = 100, 300
"""Characters of a text that stands in at least, and of a notice at most."""
MAX_NOSCRIPT_PARTS, MAX_NOSCRIPT_HTML_CHARS = 500, 1_000_000
"""The parts for readers without scripts that are read of a page, and characters from which on no other is."""
NOTICE = regex(r"java\s?-?script|джаваскрипт", re.IGNORECASE)


def noscript_text(tree: LexborHTMLParser) -> str:
    """The longest text that a page holds for readers without scripts; "" if there is none.

    An article that is not free to read is not taken from what the page tells search engines.
    """
    texts = [_html_text(_without_scripts(tree))]
    texts += [_html_text(node.attributes.get("srcdoc") or "") for node in tree.css("iframe[srcdoc]")]
    linked_data = read_linked(node.text(deep=True) for node in tree.css(LINKED_DATA_SELECTOR))
    if linked_data.free:
        texts.append(_html_text(linked_data.body) if "</" in linked_data.body else linked_data.body)
    best = max(texts, key=len).strip()
    return best if len(best) >= MIN_NOSCRIPT_CHARS and not is_notice(best) else ""


def _without_scripts(tree: LexborHTMLParser) -> str:
    """The HTML of the parts for readers without scripts, in a page made to harm not those within each other."""
    parts, size = list[str](), 0
    for node in tree.css("noscript")[:MAX_NOSCRIPT_PARTS]:
        if size < MAX_NOSCRIPT_HTML_CHARS and not node.css_first("iframe"):
            parts.append(node.html or "")
            size += len(parts[-1])
    return "".join(parts)


def _html_text(part: str) -> str:
    tree = lexbor.LexborHTMLParser(part.replace("<noscript", "<div").replace("</noscript", "</div"))
    return to_markdown(tree.body) if tree.body is not None else ""


def is_notice(text: str) -> bool:
    """True if a short text says that the page needs JavaScript."""
    return len(text) < MAX_NOTICE_CHARS and NOTICE.search(text) is not None


# Feeds of news (RSS, Atom) as pages: an entry becomes a section with its title, day and text.

MAX_FEED_ENTRIES = 200
_MEDIA = "{http://search.yahoo.com/mrss/}"
"""The namespace of pictures and films, whose elements have names of a feed's own: `media:content`, `media:title`."""
_FEED = regex(rb"\s*(?:<(?:!--(?:(?!-->).)*--|\?[^>]{0,300})>\s*)*<(?:rss|feed|rdf:RDF)\b", re.DOTALL)
"""The beginning of a feed, perhaps after declarations and comments."""
_TEXTS = ("encoded", "content", "description", "summary")
_DAYS = ("pubDate", "published", "date", "updated")


def is_feed(beginning: bytes) -> bool:
    """True if bytes that begin so are a feed."""
    return _FEED.match(beginning.removeprefix(BOM_UTF8)) is not None


def feed_page(data: bytes) -> str:
    """A feed as HTML; "" if the bytes are something else, or have no entries."""
    if not is_feed(data[:4096]):
        return ""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, load_dtd=False, huge_tree=False)
    root = etree.fromstring(data, parser)
    nodes = [] if root is None else list(root.iter("{*}item", "{*}entry"))[:MAX_FEED_ENTRIES]
    if not nodes:
        return ""
    head = root if str(root.tag).endswith("feed") else root.find("{*}channel")
    title = html.escape(_child(head, "title")) if head is not None else ""
    entries = "".join(f"<section>{''.join(_entry(node))}</section>" for node in nodes)
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{entries}</body></html>"


def _entry(entry: etree._Element) -> Iterator[str]:
    yield f"<h2>{html.escape(_child(entry, 'title'))}</h2>"
    day = next((day for name in _DAYS if (day := iso_date(_child(entry, name)[:100]))), "")
    if day:
        yield f"<p>{day}</p>"
    text = next((text for name in _TEXTS if (text := _child(entry, name))), "")
    yield f"<div>{text}</div>"


def _child(parent: etree._Element, name: str) -> str:
    """The text of a child, "" if there is none; its markup, if it is not escaped."""
    child = next((element for element in parent.iterfind(f"{{*}}{name}") if not element.tag.startswith(_MEDIA)), None)
    if child is None:
        return ""
    if len(child):
        inside = "".join(etree.tostring(element, encoding="unicode", method="html") for element in child)
        return f"{html.escape(child.text or '')}{inside}".strip()
    return (child.text or "").strip()
