"""Pages of the web: fetched from checked addresses only, within limits, as robots.txt allows.

addresses   what may be connected to       backend   the network, with every name resolved once
robots      what a site allows             body      bytes within limits, and what they are
keeping     pages kept for the next time
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
    """A fetcher.

    Args:
        agent: who asks, in every request.
        allow: hosts and networks which may be read though they are not public.
        seconds: for a page, redirects and all.
        largest: bytes of a page, unpacked.
        robots: whether robots.txt is honoured.
        kept: where pages are kept for the next time.
        headers: those of an answer which are kept with a page.

    Raises:
        ConfigError: `allow` holds what is neither a host nor a network.
    """
    manners = FetchManners(agent=agent, robots=robots, headers=headers)
    limits = FetchLimits(seconds=seconds, bytes=largest)
    return WebFetcher(clock, manners, policy=policy(allow), limits=limits, kept=kept)
