"""Web addresses: parsing and comparison, the rules for allowed ones, and the kind and the DOI of a source at one."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache
from urllib.parse import parse_qs, unquote, urlsplit

import ada_url
import msgspec

from assay.core.clean import one_line
from assay.core.lazy import regex
from assay.core.sources import SourceKind

# Parsing web addresses, and recognizing two as the same page.

MAX_URL_CHARS = 8_000
"""Characters; no page needs more, and servers refuse longer ones."""
SCHEMES = {"http:": 80, "https:": 443}
TRACKING = regex(
    r"^(?:utm_\w+|fbclid|gclid|gclsrc|dclid|gbraid|wbraid|msclkid|yclid|twclid|ttclid|igshid|mc_[ce]id|mkt_tok|_hsenc|_hsmi"
    r"|vero_id|oly_(?:anon|enc)_id|_openstat|wickedid|s_cid|ref_src)$",
    re.IGNORECASE,
)
_SIGNS = regex(r"[\x00-\x20\x7f]")


class Url(msgspec.Struct, frozen=True):
    """A parsed address: `href` is the form for requests (no fragment, no user), `host` is without brackets."""

    href: str
    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> str:
        """Scheme, host and port: what robots.txt and request limits apply to."""
        return f"{self.scheme}://{self._bracketed_host}:{self.port}"

    @property
    def authority(self) -> str:
        """The host as in an address, with the port if it is not the scheme's default."""
        return (
            self._bracketed_host if self.port == SCHEMES[f"{self.scheme}:"] else f"{self._bracketed_host}:{self.port}"
        )

    @property
    def _bracketed_host(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


class BadUrl(ValueError):
    """The text is not the address of a web page; the message says why."""


@lru_cache(maxsize=512)
def parse_url(text: str, base: str = "") -> Url:
    """Parse an address, perhaps relative to `base`.

    Raises:
        BadUrl: it is not an address, is not http or https, names a user, or is too long.
    """
    text = text.strip(" \t\r\n\f")
    if len(text) > MAX_URL_CHARS:
        raise BadUrl(f"an address of more than {MAX_URL_CHARS:,} characters")
    if not base and _SIGNS.search(text):
        raise BadUrl("an address with control characters or spaces")
    try:
        url = ada_url.URL(text, base) if base else ada_url.URL(text)
    except (ValueError, UnicodeEncodeError) as error:
        raise BadUrl("not an address") from error
    if url.protocol not in SCHEMES:
        raise BadUrl(f"its scheme is {url.protocol[:20].rstrip(':')}, not http or https")
    if url.username or url.password:
        raise BadUrl("an address which names a user or a password")
    if not url.hostname.strip("."):
        raise BadUrl("an address without a host")
    url.hash = ""
    if len(url.href) > MAX_URL_CHARS:  # percent-encoding takes up to nine times the room
        raise BadUrl(f"an address of more than {MAX_URL_CHARS:,} characters")
    return Url(
        href=url.href.removesuffix("#"),
        scheme=url.protocol[:-1],
        host=url.hostname.strip("[]").rstrip("."),
        port=int(url.port) if url.port else SCHEMES[url.protocol],
        target=url.pathname + url.search,
    )


def is_address(text: str) -> bool:
    """True if `parse_url` reads it."""
    try:
        parse_url(text)
    except BadUrl:
        return False
    return True


def canonical_url(text: str) -> str:
    """The form in which addresses are compared; text that is not an address is unchanged.

    The host is in lower case; default port, fragment, and tracking parameters are removed. The rest of the query stays.
    """
    try:
        url = parse_url(text)
    except BadUrl:
        return text
    path, question, query = url.target.partition("?")
    parameters = [part for part in query.split("&") if part and not TRACKING.match(part.partition("=")[0])]
    return f"{url.scheme}://{url.authority}{path}" + (question + "&".join(parameters) if parameters else "")


def names_address(text: str, address: str) -> bool:
    """True if `text` names this address, with or without scheme, or a longer one that begins so.

    Its tracking parameters count too: a model could write there what it has read.

    Raises:
        BadUrl: it is no address.
    """
    searched, forms = _comparable(text), dict.fromkeys((address.strip(), parse_url(address).href))
    return any(_names(searched, form) for form in forms)


def _names(searched: str, address: str) -> bool:
    name = _comparable(address.partition("://")[2]).removeprefix("www.").rstrip("/")
    end = "" if "/" in name or "?" in name else r"(?![\w-]|\.\w)"  # a host is named to its end
    return bool(name) and re.search(rf"(?<![\w.@-])(?:www\.)?{re.escape(name)}{end}", searched) is not None


def _comparable(text: str) -> str:
    """A text in which an address is found however it is encoded, in Markdown too."""
    return unquote(text.replace("\\", "")).casefold()


# A user's rules for the web: domains, dates, a country, interpreted in one place for search and for pages.

MCP_PREFIX = "mcp:"
"""The beginning of addresses without a host: what a server of the Model Context Protocol found."""
DATE_PATTERN = regex(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", re.ASCII)


class WebRules(msgspec.Struct, frozen=True, kw_only=True):
    """Which pages of the web a run may find and read.

    `domains` and `denied` are hosts, each including all hosts below it: `gov.uk` includes `www.gov.uk`; no `domains`
    means all. `since` and `until` are days (ISO 8601), both included, "" for none. `country` is where a search is made
    from (ISO 3166, two small letters). With `fresh`, cached pages are not used. `left_out` are single pages, by
    canonical address.
    """

    domains: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    country: str = ""
    fresh: bool = False
    left_out: tuple[str, ...] = ()

    def host_refusal_reason(self, host: str) -> str:
        """Why pages of this host are not read; "" if they are."""
        host = host.lower().rstrip(".")
        denied_domain = next((domain for domain in self.denied if is_below(host, domain)), "")
        if denied_domain:
            return f"{denied_domain} was left out by request"
        if self.domains and not any(is_below(host, domain) for domain in self.domains):
            return f"not of {', '.join(self.domains)}"
        return ""

    def refusal_reason(self, url: str, published: str = "") -> str:
        """Why a page is left out, by its address and its date of publication (ISO 8601, or a part of it)."""
        if url.startswith(MCP_PREFIX):
            return f"not of {', '.join(self.domains)}" if self.domains else self._date_refusal_reason(published)
        try:
            why = self.host_refusal_reason(parse_url(url).host)
        except BadUrl:
            return "not an address"
        if not why and self.excludes(url):
            return "left out by request"
        return why or self._date_refusal_reason(published)

    def excludes(self, url: str) -> bool:
        """True if this page itself is left out."""
        return bool(self.left_out) and canonical_url(url) in self.left_out

    def _date_refusal_reason(self, published: str) -> str:
        match = DATE_PATTERN.match(published)
        if not match or not (self.since or self.until):
            return ""
        try:
            first, last = date_range(match)
        except ValueError:
            return ""
        if self.since and last < self.since:
            return f"published {match[0]}, before {self.since}"
        if self.until and first > self.until:
            return f"published {match[0]}, after {self.until}"
        return ""


ANYTHING = WebRules()


def is_below(host: str, domain: str) -> bool:
    """True if a host is the domain, or below it."""
    return host == domain or host.endswith(f".{domain}")


def date_range(match: re.Match[str]) -> tuple[str, str]:
    """The first and the last day that a date covers.

    Raises:
        ValueError: there is no such day.
    """
    year, month, day = (int(part) if part else 0 for part in match.groups())
    first = date(year, month or 1, day or 1)
    ends = month or 12
    return first.isoformat(), date(year, ends, day or calendar.monthrange(year, ends)[1]).isoformat()


_OFFICIAL = regex(r"(?:.*\.)?(?:gov|mil|int|go|gob|gouv|govt|gv|gc)(?:\.[a-z]{2})?", re.IGNORECASE)
_ACADEMIC = regex(r"(?:.*\.)?(?:edu|ac)(?:\.[a-z]{2})?", re.IGNORECASE)
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
    """The kind of a source, and the reason in a few words; unknown has none."""

    kind: SourceKind = "unknown"
    reason: str = ""


UNKNOWN = Quality()


def assess_source(url: str, metadata: Mapping[str, str], trusted: Sequence[str] = ()) -> Quality:
    """The kind of the page at `url`; anything but a web page is unknown.

    `trusted` are hosts (with all below them) that the user vouches for, which overrides everything else. What a page
    says about itself counts last, and never makes it official or primary.
    """
    try:
        host = parse_url(url).host.lower()
    except BadUrl:
        return UNKNOWN
    trusted_host = next((name for name in trusted if is_below(host, name)), "")
    if trusted_host:
        return Quality("primary", f"{trusted_host} is in sources.allow")
    return _quality_by_host(host) or _quality_by_metadata(metadata) or _quality_by_shape(host, metadata)


@lru_cache(maxsize=256)
def _quality_by_host(host: str) -> Quality | None:
    for kind, reason, names in HOSTS:
        if name := next((name for name in names if is_below(host, name)), ""):
            return Quality(kind, f"{name}: {reason}")
    if _OFFICIAL.fullmatch(host):
        return Quality("official", "a host of a state or of an office between states")
    return None


def _quality_by_metadata(metadata: Mapping[str, str]) -> Quality | None:
    if doi_of(metadata):
        return Quality("scholarly", "it states a DOI")
    if metadata.get("journal"):
        return Quality("scholarly", "it names the journal it is in")
    return None


def _quality_by_shape(host: str, metadata: Mapping[str, str]) -> Quality:
    if _FORUM_LABELS.intersection(host.split(".")):
        return Quality("forum", "anybody may write there, by its name")
    if _ACADEMIC.fullmatch(host):
        return Quality("scholarly", "a host of a university")
    if metadata.get("type", "").lower() in _NEWS_TYPES:
        return Quality("news", "it says that it is a news article")
    if metadata.get("type", "").lower() == "article" and metadata.get("section"):
        return Quality("news", "it says that it is an article of a section")
    return UNKNOWN


# DOIs: the one that a document states, or that is in its address.

DOI = regex(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/[-._;()/:A-Za-z0-9<>\[\]+]{1,200}")
"""Only the characters that Crossref allows in new DOIs (and `<>[]+` of old ones), so it is safe in any format."""
_AT_END = regex(rf"(?:^|/|doi:)({DOI.pattern})$")
_TAIL = regex(r"(?:/(?:full|fulltext|abstract|pdf|epdf|meta|html|summary))+$|(?:\.(?:full|pdf|html))+$|[.,;:]+$")
_NAMED = regex(r"(?:^|[._:-])doi$", re.IGNORECASE)
_CLOSING = (("(", ")"), ("[", "]"), ("<", ">"))
MAX_DOI_CHARS = 2_000
"""Characters of a stated DOI that are looked at."""


def doi_of(metadata: Mapping[str, str], url: str = "") -> str:
    """The DOI of a document by its metadata, whatever vocabulary names it there, else by its address; "" for none."""
    values = (value for name, value in metadata.items() if _NAMED.search(name.strip()))
    return next(filter(None, (find_doi(text, "") for text in values)), "") or find_doi("", url)


def find_doi(text: str, url: str) -> str:
    """The DOI that a document states, or that is in its address (of doi.org or a publisher); "" for none."""
    match = DOI.search(one_line(text[:MAX_DOI_CHARS]))
    return _trim_doi(match[0]) if match else _doi_in(url)


@lru_cache(maxsize=256)
def _doi_in(url: str) -> str:
    """The DOI in an address, "" for none; a run asks several times of each."""
    try:
        parts = urlsplit(one_line(url))
        doi_parameter = parse_qs(parts.query, max_num_fields=50).get("doi", [""])[0]
    except ValueError:
        return ""
    if parts.scheme.lower() not in ("http", "https"):
        return ""
    match = _AT_END.search(unquote(parts.path)) or DOI.fullmatch(doi_parameter)
    return _trim_doi(match[match.lastindex or 0]) if match else ""


def _trim_doi(text: str) -> str:
    """The DOI without what publishers append, and without the end of a sentence or of a bracket around it, unless
    nothing else would be left ("10.1234/pdf").
    """
    doi, before = text, ""
    while doi != before:
        before, doi = doi, _TAIL.sub("", doi)
        if any(doi.endswith(end) and doi.count(end) > doi.count(begin) for begin, end in _CLOSING):
            doi = doi[:-1]
    return doi if "/" in doi.rstrip("/") else text
