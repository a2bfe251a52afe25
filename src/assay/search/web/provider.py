"""The protocol of web search providers: their access, their hits, and common formats."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

import msgspec
from dateutil import parser as dates
from selectolax.lexbor import LexborHTMLParser

from assay.core.ports import Query
from assay.core.ports.models import Secret


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
            SearchFailed: it could not answer; the reason says what to do, if anything can be done.
        """
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


# Providers' texts in one form: without markup, with ISO dates.

FIRST, LAST = "1970-01-01", "2100-01-01"
"""The ends of a range of days for providers that require both."""


def with_sites(query: Query) -> str:
    """The query with its domains in the form of search engines: `tides (site:a.org OR site:b.org) -site:c.org`."""
    wanted = [f"site:{domain}" for domain in query.rules.domains]
    joined = f"({' OR '.join(wanted)})" if len(wanted) > 1 else "".join(wanted)
    return " ".join(filter(None, (query.text, joined, *(f"-site:{domain}" for domain in query.rules.denied))))


def plain(markup: str | None) -> str:
    """The text of a snippet, without any markup, on one line."""
    if not markup:
        return ""
    text = LexborHTMLParser(markup).text() if "<" in markup or "&" in markup else markup
    return " ".join(text.split())


def iso_date(said: str | int | None) -> str:
    """A date as ISO; a year or a month alone stays one, anything else (or a relative date) is ""."""
    text = str(said or "").strip()
    if text.isdigit():
        return text if len(text) == 4 and text.isascii() else ""
    first, second = datetime(1904, 2, 3), datetime(1906, 5, 7)
    try:  # missing parts come from the default: two defaults reveal them
        one, other = dates.parse(text, default=first), dates.parse(text, default=second)
    except (ValueError, ArithmeticError, TypeError):
        return ""
    if one.year != other.year:
        return ""
    if one.month != other.month:
        return f"{one.year:04d}"
    return f"{one.year:04d}-{one.month:02d}" + (f"-{one.day:02d}" if one.day == other.day else "")
