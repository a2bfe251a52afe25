"""Feeds of news (RSS, Atom) as pages: an entry becomes a section with its title, day and text."""

from __future__ import annotations

import html
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.core.document_dates import iso_date
from assay.core.later import later
from assay.core.patterns import regex

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = later("lxml.etree")

MOST_ENTRIES = 200
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
    found = [] if root is None else list(root.iter("{*}item", "{*}entry"))[:MOST_ENTRIES]
    if not found:
        return ""
    head = root if str(root.tag).endswith("feed") else root.find("{*}channel")
    title = html.escape(_child(head, "title")) if head is not None else ""
    entries = "".join(f"<section>{''.join(_entry(each))}</section>" for each in found)
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{entries}</body></html>"


def _entry(entry: etree._Element) -> Iterator[str]:
    yield f"<h2>{html.escape(_child(entry, 'title'))}</h2>"
    day = next((day for name in _DAYS if (day := iso_date(_child(entry, name)[:100]))), "")
    if day:
        yield f"<p>{day}</p>"
    text = next((text for name in _TEXTS if (text := _child(entry, name))), "")
    yield f"<div>{text}</div>"


def _child(of: etree._Element, name: str) -> str:
    """The text of a child, "" if there is none; its markup, if it is not escaped."""
    found = next((each for each in of.iterfind(f"{{*}}{name}") if not each.tag.startswith(_MEDIA)), None)
    if found is None:
        return ""
    if len(found):
        inside = "".join(etree.tostring(each, encoding="unicode", method="html") for each in found)
        return f"{html.escape(found.text or '')}{inside}".strip()
    return (found.text or "").strip()
