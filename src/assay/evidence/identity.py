"""Finds documents of a run that are one page under several addresses: with `amp.`, by a redirect, for print.

What a page says about its address (`<link rel="canonical">`) counts only within its own site, since any page may name
any other. This module compares only addresses. Whoever joins documents by it must check that they say the same, since
many sites name their front page, or the first of several parts, on all of their pages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from assay.core.sources import FINAL_URL, SNIPPET, Source
from assay.core.web_addresses import BadUrl, canonical, is_below, read

CANONICAL = "canonical"
"""The metadata key of a source for the address that the page itself gives."""
DEVICES = frozenset(("www", "amp", "m", "mobile", "touch", "print"))
"""First labels of hosts that are versions of a site rather than other sites."""


def same_site(one: str, other: str) -> bool:
    """Whether two addresses are of one site: equal hosts except `www.`, `amp.` and the like, or one below the other.

    That is narrower than a registrable domain and needs no list of these: `a.github.io` is not `b.github.io`.
    """
    try:
        first, second = _bare(read(one).host), _bare(read(other).host)
    except BadUrl:
        return False
    return is_below(first, second) or is_below(second, first)


def pages(sources: Iterable[Source]) -> tuple[tuple[str, ...], ...]:
    """The groups of two or more documents, by hash, that are one page by their addresses; sorted."""
    leader: dict[str, str] = {}

    def lead(name: str) -> str:
        while leader.setdefault(name, name) != name:
            leader[name] = name = leader[leader[name]]
        return name

    read_ones = [source for source in sources if source.url and source.media_type != SNIPPET]
    for source in read_ones:
        for address in _addresses(source):
            leader[lead(address)] = lead(source.document_sha256)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for source in read_ones:
        found[lead(source.document_sha256)].add(source.document_sha256)
    return tuple(sorted(tuple(sorted(group)) for group in found.values() if len(group) > 1))


def _addresses(source: Source) -> set[str]:
    """All addresses of a page in the form for comparison, which ignores TLS."""
    there = source.metadata.get(FINAL_URL, source.url)
    said = source.metadata.get(CANONICAL, "")
    own = (said,) if said and same_site(said, there) else ()
    return {canonical(address).partition("://")[2] or address for address in (source.url, there, *own)}


def _bare(host: str) -> str:
    """The host without a label for a version of the site; the rest has a dot."""
    host = host.lower()
    first, _, rest = host.partition(".")
    return rest if first in DEVICES and "." in rest else host
