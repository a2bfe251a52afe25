"""Fetches pages of the web: only from checked addresses, within limits, and as robots.txt allows.

addresses   which hosts may be connected to     backend   the network, with every name resolved once robots      what a
site allows                  body      bytes within limits, and their type keeping     pages kept for later requests
fetcher     one page, hop by hop
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.ports import Clock, PageCache
from assay.fetch.web.addresses import policy
from assay.fetch.web.fetcher import KEPT, FetchLimits, FetchManners, WebFetcher


def create(
    clock: Clock,
    *,
    agent: str,
    allow: Sequence[str],
    seconds: float,
    largest: int,
    robots: bool,
    kept: PageCache | None = None,
    headers: Sequence[str] = KEPT,
) -> WebFetcher:
    """Create a fetcher.

    Args:
        agent: the user agent of every request.
        allow: hosts and networks that may be read although they are not public.
        seconds: the limit for a page, including redirects.
        largest: the most bytes of a page, unpacked.
        robots: whether to obey robots.txt.
        kept: where pages are kept for later requests.
        headers: headers of an answer that are kept with a page.

    Raises:
        ConfigError: `allow` contains something that is neither a host nor a network.
    """
    manners = FetchManners(agent=agent, robots=robots, headers=headers)
    limits = FetchLimits(seconds=seconds, bytes=largest)
    return WebFetcher(clock, manners, policy=policy(allow), limits=limits, kept=kept)
