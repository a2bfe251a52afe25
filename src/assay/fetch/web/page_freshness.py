"""Which pages may be kept for the next time, and how a request asks whether they changed (RFC 9110, RFC 9111)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

import msgspec

from assay.core.sources import Fetched

MOST = 86_400.0
"""Seconds a page is believed to be fresh at most, whatever its server says: who asks today wants today's page."""
MOMENT = 60.0
"""Seconds a page is fresh of which its server says nothing (RFC 9111, 4.2.2): two addresses which lead to one page, and
two agents who find it, are one request.
"""
_DIRECTIVE = re.compile(r"([a-z-]{1,40})(?:\s*=\s*\"?([^\",]{0,40}))?")


def seconds(at: str) -> float:
    """A time (ISO 8601) as seconds since 1970."""
    return datetime.fromisoformat(at).timestamp()


def fresh_for(headers: Mapping[str, str]) -> float | None:
    """For how many seconds a page need not be asked for again; None when it is not to be kept.

    It is kept for us alone, so that `private` and `s-maxage` say nothing. Where the server does not say how long, it is
    fresh for a moment. A page which is not fresh and cannot be asked for by a condition is not kept.
    """
    told = {found[1]: found[2] or "" for found in _DIRECTIVE.finditer(headers.get("cache-control", "").lower()[:500])}
    if "no-store" in told or headers.get("vary", "").strip() == "*":
        return None
    fresh = 0.0 if "no-cache" in told else _lifetime(told, headers) - _number(headers.get("age", ""))
    if fresh > 0:
        return min(fresh, MOST)
    return 0.0 if conditions(headers) else None


def _lifetime(told: Mapping[str, str], headers: Mapping[str, str]) -> float:
    if "max-age" in told:
        return _number(told["max-age"])
    if "expires" not in headers:
        return MOMENT
    try:
        expires = parsedate_to_datetime(headers["expires"][:64])
        return (expires - parsedate_to_datetime(headers["date"][:64])).total_seconds()
    except (KeyError, ValueError, TypeError, OverflowError, IndexError):
        return 0.0


def _number(text: str) -> float:
    return float(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0.0


def conditions(headers: Mapping[str, str]) -> dict[str, str]:
    """What a request says so that a page is only sent when it is another than the one with these headers."""
    asked = {"If-None-Match": headers.get("etag", ""), "If-Modified-Since": headers.get("last-modified", "")}
    return {name: value for name, value in asked.items() if value and value.isascii() and value.isprintable()}


def unchanged(page: Fetched, headers: Mapping[str, str], at: str) -> Fetched:
    """A kept page of which its server said at this time that it is still the same; newer headers replace older ones."""
    newer = {name: value for name, value in headers.items() if name in page.headers}
    return msgspec.structs.replace(page, headers={**page.headers, **newer}, fetched_at=at, kept="unchanged")
