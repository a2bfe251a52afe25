"""What a person allows of the web: domains, dates, a country. One reading of it, for search and for pages alike."""

from __future__ import annotations

import calendar
import re
from datetime import date

import msgspec

from assay.core.urls import BadUrl, canonical, read

OTHER = "mcp:"
"""How addresses begin which are of no host: what a server of the Model Context Protocol found."""
DAY = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", re.ASCII)


class WebRules(msgspec.Struct, frozen=True, kw_only=True):
    """What of the web a run may find and read.

    `domains` and `denied` are hosts, each with all hosts below it: `gov.uk` holds `www.gov.uk`; no `domains` are all.
    `since` and `until` are days (ISO 8601), both included, "" for none. `country` is where a search looks from
    (ISO 3166, two small letters). With `fresh` pages kept from earlier runs are not used. `left_out` are single pages,
    by their canonical address.
    """

    domains: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    country: str = ""
    fresh: bool = False
    left_out: tuple[str, ...] = ()

    def refuses_host(self, host: str) -> str:
        """Why pages of this host are not read; "" when they are."""
        host = host.lower().rstrip(".")
        denied = next((domain for domain in self.denied if is_below(host, domain)), "")
        if denied:
            return f"{denied} was left out by request"
        if self.domains and not any(is_below(host, domain) for domain in self.domains):
            return f"not of {', '.join(self.domains)}"
        return ""

    def refuses(self, url: str, published: str = "") -> str:
        """Why a page is left out, by its address and the day it was published (ISO 8601, or a part of it)."""
        if url.startswith(OTHER):
            return f"not of {', '.join(self.domains)}" if self.domains else self._refuses_date(published)
        try:
            why = self.refuses_host(read(url).host)
        except BadUrl:
            return "not an address"
        if not why and self.leaves_out(url):
            return "left out by request"
        return why or self._refuses_date(published)

    def leaves_out(self, url: str) -> bool:
        """Whether this very page is left out."""
        return bool(self.left_out) and canonical(url) in self.left_out

    def _refuses_date(self, published: str) -> str:
        found = DAY.match(published)
        if not found or not (self.since or self.until):
            return ""
        try:
            first, last = days_of(found)
        except ValueError:
            return ""
        if self.since and last < self.since:
            return f"published {found[0]}, before {self.since}"
        if self.until and first > self.until:
            return f"published {found[0]}, after {self.until}"
        return ""


ANYTHING = WebRules()


def is_below(host: str, domain: str) -> bool:
    """Whether a host is the domain, or below it."""
    return host == domain or host.endswith(f".{domain}")


def days_of(found: re.Match[str]) -> tuple[str, str]:
    """The first and the last day of what a date names.

    Raises:
        ValueError: there is no such day.
    """
    year, month, day = (int(part) if part else 0 for part in found.groups())
    first = date(year, month or 1, day or 1)
    ends = month or 12
    return first.isoformat(), date(year, ends, day or calendar.monthrange(year, ends)[1]).isoformat()
