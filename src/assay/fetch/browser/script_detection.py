"""Whether a page says anything without its scripts."""

from __future__ import annotations

import re

import msgspec
from selectolax.lexbor import LexborHTMLParser

SHORT, BARE = 200, 40
"""Characters of text below which a page is suspected of needing its scripts, and below which it says nothing."""
BEGINNING = 32_000
"""Bytes of a page which are looked at first: where they say enough, so does the page."""
LARGEST = 5_000_000
"""Bytes; what is larger is taken as it is."""
RUN = frozenset(
    ("", "module", "text/javascript", "application/javascript", "text/ecmascript", "application/ecmascript")
)
"""Types of scripts which run; others are data."""
ASIDE = ["script", "style", "noscript", "template", "head", "nav", "header", "footer", "aside", "form", "svg"]
_SCRIPT = re.compile(rb"<script", re.IGNORECASE)


class PageGlance(msgspec.Struct, frozen=True):
    """A page at a glance: characters of its text, menus and the like left out, and whether scripts run in it."""

    characters: int
    scripts: bool

    @property
    def bare(self) -> bool:
        """Whether a reader sees nothing before the scripts have run."""
        return self.scripts and self.characters < BARE

    @property
    def short(self) -> bool:
        """Whether there may be more of it once they have."""
        return self.scripts and self.characters < SHORT


def look(body: bytes) -> PageGlance:
    """How much text there is in an HTML page, at least. Blocking: some milliseconds a megabyte."""
    if len(body) > LARGEST or not _SCRIPT.search(body):
        return PageGlance(characters=len(body), scripts=False)
    if len(body) > BEGINNING and not (glance := _looked_at(body[:BEGINNING])).short and glance.scripts:
        return glance
    return _looked_at(body)


def _looked_at(body: bytes) -> PageGlance:
    tree = LexborHTMLParser(body)
    scripts = any((node.attributes.get("type") or "").strip().lower() in RUN for node in tree.css("script"))
    if not scripts:
        return PageGlance(characters=len(body), scripts=False)
    tree.strip_tags(ASIDE)
    text = tree.body.text(separator=" ") if tree.body is not None else ""
    return PageGlance(characters=len(" ".join(text.split())), scripts=True)
