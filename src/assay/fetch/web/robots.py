"""robots.txt (RFC 9309): which pages of a site may be read, and how often."""

from __future__ import annotations

import msgspec
from protego import Protego

from assay.core.urls import Url

LARGEST = 512_000
"""Bytes read of a robots.txt; RFC 9309 wants at least 500 KiB."""
LONGEST_DELAY = 10.0
"""Seconds between two requests that a site may ask for and get."""


class RobotsResponse(msgspec.Struct, frozen=True):
    """What a site answered when its robots.txt was asked for; status 0 when it did not answer."""

    status: int
    text: str = ""


class RobotsRules(msgspec.Struct, frozen=True):
    """What one site allows: where there is no robots.txt (`parsed` is None) everything, or nothing, for a `reason`."""

    parsed: Protego | None = None
    reason: str = ""

    def refusal(self, url: Url, agent: str) -> str:
        """Why this page may not be read; "" when it may."""
        if self.parsed is None or self.parsed.can_fetch(url.href, agent):
            return self.reason
        return "does not want this page read by programs"

    def delay(self, agent: str) -> float:
        """Seconds between two requests."""
        wanted = None if self.parsed is None else self.parsed.crawl_delay(agent)
        return min(max(float(wanted or 0.0), 0.0), LONGEST_DELAY)


def rules(answer: RobotsResponse) -> RobotsRules:
    """What the answer means: no such file, all may be read; a site in trouble, nothing (RFC 9309, 2.3.1)."""
    if 200 <= answer.status < 300:
        return RobotsRules(Protego.parse(answer.text))
    if 400 <= answer.status < 500 and answer.status != 429:
        return RobotsRules()
    told = f"answered {answer.status}" if answer.status else "did not answer"
    return RobotsRules(reason=f"{told} when its robots.txt was asked for, and so allows nothing")
