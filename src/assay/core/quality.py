"""What kind of source a page is, told from its address and from what it says of itself, with the reason.

The lists are short and general on purpose: kinds of hosts (`.gov`, `.edu`, DOI), bodies which set standards, and
sites so large that nearly every run meets them. What is on none of them is unknown, which is no fault.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from assay.core.sources import SourceKind
from assay.core.urls import BadUrl, read
from assay.core.webrules import is_below

DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>{}|\\^`]{1,200}")
_OFFICIAL = re.compile(r"(?:.*\.)?(?:gov|mil|int|go|gob|gouv|govt|gv|gc)(?:\.[a-z]{2})?", re.IGNORECASE)
_ACADEMIC = re.compile(r"(?:.*\.)?(?:edu|ac)(?:\.[a-z]{2})?", re.IGNORECASE)

_STANDARDS = (
    "ietf.org rfc-editor.org w3.org whatwg.org iso.org iec.ch itu.int unicode.org ecma-international.org nist.gov"
)
_LAW = "eur-lex.europa.eu legislation.gov.uk congress.gov federalregister.gov govinfo.gov sec.gov courtlistener.com"
_OFFICES = "europa.eu un.org who.int oecd.org worldbank.org imf.org ecb.europa.eu federalreserve.gov admin.ch bund.de"
_PAPERS = (
    "doi.org arxiv.org biorxiv.org medrxiv.org ssrn.com ncbi.nlm.nih.gov pubmed.gov plos.org nature.com science.org"
    " sciencedirect.com springer.com wiley.com jstor.org acm.org ieee.org mdpi.com openalex.org semanticscholar.org"
)
_WORKS = "wikipedia.org wikidata.org britannica.com merriam-webster.com wiktionary.org"
_TALK = (
    "reddit.com stackoverflow.com stackexchange.com superuser.com serverfault.com askubuntu.com quora.com"
    " news.ycombinator.com x.com twitter.com facebook.com medium.com discourse.org"
)
_WIRES = "reuters.com apnews.com afp.com bbc.com bbc.co.uk npr.org dpa.com"

HOSTS: tuple[tuple[SourceKind, str, tuple[str, ...]], ...] = (
    ("primary", "a body which sets standards", tuple(_STANDARDS.split())),
    ("primary", "the text of law or of records", tuple(_LAW.split())),
    ("scholarly", "an archive or publisher of research", tuple(_PAPERS.split())),
    ("reference", "a work of reference", tuple(_WORKS.split())),
    ("forum", "anybody may write there", tuple(_TALK.split())),
    ("news", "a news agency or broadcaster", tuple(_WIRES.split())),
    ("official", "an office between states", tuple(_OFFICES.split())),
)
_FORUM_LABELS = frozenset(("forum", "forums", "community", "discuss"))
_NEWS_TYPES = frozenset(("newsarticle", "reportagenewsarticle"))


class Quality(msgspec.Struct, frozen=True):
    """What kind of source it is, and the reason in a few words; unknown has none."""

    kind: SourceKind = "unknown"
    reason: str = ""


UNKNOWN = Quality()


def assess(url: str, metadata: Mapping[str, str], trusted: Sequence[str] = ()) -> Quality:
    """The kind of the page at `url`; what is no page of the web is unknown.

    `trusted` are hosts (with all below them) which the user vouches for: that wins over everything else. What a page
    says of itself counts last, and makes no page official or primary.
    """
    try:
        host = read(url).host.lower()
    except BadUrl:
        return UNKNOWN
    vouched = next((name for name in trusted if is_below(host, name)), "")
    if vouched:
        return Quality("primary", f"{vouched} is in sources.allow")
    return _by_host(host) or _by_words(metadata) or _by_shape(host, metadata)


def find_doi(metadata: Mapping[str, str], url: str = "") -> str:
    """The DOI a document states, else that of its address, in lower case; "" where there is none."""
    for text in (metadata.get("doi", ""), metadata.get("DOI", ""), url if "doi.org/" in url else ""):
        if found := DOI.search(text[:2_000]):
            return found[0].rstrip(".,;)").lower()
    return ""


@lru_cache(maxsize=256)
def _by_host(host: str) -> Quality | None:
    for kind, reason, names in HOSTS:
        if name := next((name for name in names if is_below(host, name)), ""):
            return Quality(kind, f"{name}: {reason}")
    if _OFFICIAL.fullmatch(host):
        return Quality("official", "a host of a state or of an office between states")
    return None


def _by_words(metadata: Mapping[str, str]) -> Quality | None:
    if find_doi(metadata):
        return Quality("scholarly", "it states a DOI")
    if metadata.get("journal"):
        return Quality("scholarly", "it names the journal it is in")
    return None


def _by_shape(host: str, metadata: Mapping[str, str]) -> Quality:
    if _FORUM_LABELS.intersection(host.split(".")):
        return Quality("forum", "anybody may write there, by its name")
    if _ACADEMIC.fullmatch(host):
        return Quality("scholarly", "a host of a university")
    if metadata.get("type", "").lower() in _NEWS_TYPES:
        return Quality("news", "it says that it is a news article")
    if metadata.get("type", "").lower() == "article" and metadata.get("section"):
        return Quality("news", "it says that it is an article of a section")
    return UNKNOWN
