"""Finds the next part of an article that is divided into several pages."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

from assay.core.patterns import regex
from assay.core.sources import Fetched
from assay.core.web_addresses import BadUrl, Url, read
from assay.fetch.html_metadata import LINKED, attribute, read_linked
from assay.fetch.web.response import HTML, base

NEXT = "link[rel~=next i][href], a[rel~=next i][href]"
MARKED = regex(rb"\brel\s*=\s*[\"']?[\w ]{0,40}\bnext\b")
STATED = (b"article", b"json")
"""One of these is in every page that says that it is an article, in `og:type` or in JSON."""
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
    if page.media_type not in HTML:
        return ""
    body = page.body.lower()
    if not any(each in body for each in STATED) or not MARKED.search(body):
        return ""  # most pages, without being parsed
    tree = LexborHTMLParser(page.body)
    node = tree.css_first(NEXT)
    if node is None or not _is_article(tree):
        return ""
    try:
        here, there = read(page.final_url), read(node.attributes.get("href") or "", base(tree, page.final_url))
    except BadUrl:
        return ""
    return there.href if here.origin == there.origin and _follows(here, there) else ""


def _is_article(tree: LexborHTMLParser) -> bool:
    if attribute(tree, 'meta[property="og:type" i]', "content").lower() == "article":
        return True
    return bool(read_linked(node.text(deep=True) for node in tree.css(LINKED)).type)


def _follows(here: Url, there: Url) -> bool:
    """True if one address is the other with the next number, or has the first number, 2."""
    found = _COUNTED.fullmatch(there.target)
    if found is None:
        return False
    before, number, ending = found[1], int(found[2]), found[3] or ""
    if here.target == f"{before}{number - 1}{ending}":
        return 1 < number < UNNAMED or _NAMED.search(before) is not None
    start = _COUNTER.sub("", before)
    same = {start, f"{start}/", f"{start}{ending}"}
    return number == 2 and start != before and here.target in same
