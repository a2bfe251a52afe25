"""Recognizes a link into a site that leads to its home page: what was linked is no longer there.

Sites move to their home page what they do not find any more, with status 200. The page is a real one, and none that the
link is about. Only addresses tell: a home page may be long, dated, and may say anything.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from assay.core.languages import NAMES
from assay.core.patterns import regex
from assay.core.sources import Fetched
from assay.core.web_addresses import TRACKING, BadUrl, Url, read
from assay.fetch.wall_words import LOGIN_PLACE

MOVED = "not found: the link leads to the site's home page"
_HOME = regex(
    r"(?:index|home|default|main|start|welcome|main[-_ ]?page|portal|homepage)(?:\d|[-_.][a-z]{2})?(?:\.\w{1,5})?",
    re.IGNORECASE,
)
"""The end of the address of a home page itself."""
_NO_PAGE = regex(
    r"docs?|documentation|wiki|blog|site|web|latest|stable|current|master|v\d[\d.]*|\d+(?:\.\d+)+|(?:19|20)\d\d",
    re.IGNORECASE,
)
"""Parts of an address that say which part of a site, or which version or year of it, and name no page."""
_TAGGED = regex(r"([a-z]{2,3})(?:[-_](?:[a-z]{2,4}|\d{3}))?", re.IGNORECASE)
_PAGE = regex(r"\d|[-_+ ].*[-_+ ]|\.\w{2,5}$")
"""One part alone names a page if it has a number, several words, or the suffix of a file."""


def leads_home(page: Fetched) -> str:
    """Why a page is not what its link named, if it is the home page of the same site; "" if it may be."""
    try:
        asked, final = read(page.url), read(page.final_url)
    except BadUrl:
        return ""
    if _site(asked) != _site(final) or LOGIN_PLACE.search(asked.target.partition("?")[0]):
        return ""
    parts, left = _parts(asked), _parts(final)
    if parts == left or (left and not _is_home_in(left, parts)) or _query(final) or "#" in page.final_url:
        return ""
    named = [each for each in parts if not (_is_language(each) or _HOME.fullmatch(each) or _NO_PAGE.fullmatch(each))]
    if named:  # a query alone, as of a campaign, leads to a home page anyway
        named += _query(asked)
    return MOVED if len(named) > 1 or any(map(_PAGE.search, named)) else ""


def _site(url: Url) -> str:
    return url.host.removeprefix("www.").removeprefix("m.")


def _parts(url: Url) -> list[str]:
    """The parts of an address's path, without the end of a home page's, and without numbers of sessions."""
    names = (each.partition(";")[0] for each in url.target.partition("?")[0].split("/"))
    parts = [unquote(each) for each in names if each]
    return parts[:-1] if parts and _HOME.fullmatch(parts[-1]) else parts


def _query(url: Url) -> list[str]:
    """The parts of an address's query that may name a page."""
    return [
        each for each in url.target.partition("?")[2].split("&") if each and not TRACKING.match(each.partition("=")[0])
    ]


def _is_home_in(left: list[str], parts: list[str]) -> bool:
    """True if an address leads to the home page in its own language."""
    return len(left) == 1 < len(parts) and _is_language(left[0]) and left[0].lower() == parts[0].lower()


def _is_language(part: str) -> bool:
    found = _TAGGED.fullmatch(part)
    return found is not None and found[1].lower() in NAMES
