"""What a page says of itself: title, author, dates, language, address, and what readers of papers want to know."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec
from selectolax.lexbor import LexborHTMLParser

from assay.fetch.fields import iso_date
from assay.fetch.html_markdown import plain
from assay.fetch.linked_data import Linked, read_linked
from assay.fetch.text_decoder import clean
from assay.fetch.titles import fit

LINKED = 'script[type="application/ld+json"]'
MOST_METAS = 500
MOST_AUTHORS = 20
LONGEST = 2_000
"""Characters of a value which are read."""

FACTS = {
    "doi": ("citation_doi", "prism.doi", "dc.identifier.doi", "bepress_citation_doi"),
    "journal": ("citation_journal_title", "prism.publicationname"),
    "publisher": ("citation_publisher", "dc.publisher"),
    "type": ("og:type",),
    "section": ("article:section",),
    "site_name": ("og:site_name",),
    "modified": ("article:modified_time", "og:updated_time", "last-modified", "dcterms.modified"),
}
"""What else is kept of what a page says of itself, by the names it goes by."""
PUBLISHED = (
    "article:published_time",
    "citation_publication_date",
    "citation_date",
    "date",
    "dc.date",
    "dc.date.issued",
    "dcterms.created",
    "pubdate",
    "publish-date",
    "sailthru.date",
)

Metas = Mapping[str, tuple[str, ...]]
"""What a page's meta elements say, in order, by name in small letters."""


class PageMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """What a page says of itself, "" where it says nothing; `published` is an ISO day, `language` ISO 639-1."""

    title: str = ""
    description: str = ""
    url: str = ""
    author: str = ""
    published: str = ""
    language: str = ""
    facts: dict[str, str] = {}


def read_said(tree: LexborHTMLParser) -> PageMetadata:
    """What the page says: its own word, untrusted."""
    linked = read_linked(node.text(deep=True) for node in tree.css(LINKED))
    metas = _metas(tree)
    return PageMetadata(
        title=_title(tree, metas),
        description=_first(metas, "og:description", "description", "twitter:description"),
        url=_canonical(tree),
        author=_author(metas) or linked.author,
        published=iso_date(_first(metas, *PUBLISHED).replace("/", "-")) or linked.published,
        language=_language(tree),
        facts=_facts(metas, linked),
    )


def attribute(tree: LexborHTMLParser, selector: str, name: str) -> str:
    """The attribute `name` of the first element the selector finds, "" without one."""
    node = tree.css_first(selector)
    return _value(node.attributes.get(name)) if node is not None else ""


def _metas(tree: LexborHTMLParser) -> Metas:
    found: dict[str, tuple[str, ...]] = {}
    for node in tree.css("meta[content]")[:MOST_METAS]:
        said = node.attributes
        content = _value(said.get("content"))
        for key in ("name", "property"):
            name = (said.get(key) or "").lower()
            if name and content:
                found[name] = (*found.get(name, ()), content)[:MOST_AUTHORS]
    return found


def _first(metas: Metas, *names: str) -> str:
    """What the first of these names says which says anything."""
    return next((metas[name][0] for name in names if name in metas), "")


def _value(stated: str | None) -> str:
    return clean((stated or "")[: 2 * LONGEST].strip())[:LONGEST]


def _title(tree: LexborHTMLParser, metas: Metas) -> str:
    stated = fit(_first(metas, "og:title", "citation_title"))
    for selector in ("title", "h1"):
        node = None if stated else tree.css_first(selector)
        if node is not None:
            stated = fit(plain(node))
    return clean(stated)


def _author(metas: Metas) -> str:
    """Who the page says wrote it: each author of a paper, else the one; an address is no name."""
    if several := metas.get("citation_author"):
        return "; ".join(" ".join(name.split()) for name in several)[:300]
    stated = _first(metas, "author", "article:author", "dc.creator", "parsely-author", "sailthru.author")
    return "" if stated.startswith(("http://", "https://")) else stated[:300]


def _facts(metas: Metas, linked: Linked) -> dict[str, str]:
    stated = {key: _first(metas, *names)[:300] for key, names in FACTS.items()}
    stated["modified"] = iso_date(stated["modified"]) or linked.modified
    stated["type"] = linked.type or stated["type"]
    return {key: said for key, said in stated.items() if said}


def _canonical(tree: LexborHTMLParser) -> str:
    url = attribute(tree, 'link[rel="canonical"]', "href")
    return url if url.startswith(("http://", "https://")) else ""


def _language(tree: LexborHTMLParser) -> str:
    stated = attribute(tree, "html", "lang").lower()
    return stated[:2] if re.fullmatch(r"[a-z]{2}([-_].*)?", stated) else ""
