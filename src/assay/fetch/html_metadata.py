"""The statements of a page about itself: title, author, dates, language, address, and the data of papers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from assay.core.document_dates import iso_date
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.lazy import regex
from assay.core.sources import ACCESS, PAYWALL
from assay.fetch.fields import clean_title
from assay.fetch.html_tables import node_text
from assay.fetch.text_form import clean

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

# What a page says about itself to search engines: schema.org in JSON-LD.

MAX_BLOCK_CHARS = 200_000
"""The most characters of a block that are read."""
MAX_BLOCKS = 10
MAX_OBJECTS = 200
MAX_LINKED_AUTHORS = 10
TYPES = frozenset(("newsarticle", "reportagenewsarticle", "article", "scholarlyarticle", "blogposting", "techarticle"))
"""The types whose author and dates apply to the page."""


class LinkedData(msgspec.Struct, frozen=True, kw_only=True):
    """Author, dates (ISO days), type (in lower case) and text of the page's article; "" for missing values.

    It is not `free` if the page says that not everybody can read it.
    """

    author: str = ""
    published: str = ""
    modified: str = ""
    type: str = ""
    body: str = ""
    free: bool = True


def read_linked(blocks: Iterable[str]) -> LinkedData:
    """Read the first article in the blocks; a block that is not JSON is ignored."""
    for number, block in enumerate(blocks):
        if number >= MAX_BLOCKS:
            break
        for thing in _linked_objects(block):
            kind = _type(thing)
            if kind in TYPES:
                return LinkedData(
                    author=_names(thing.get("author")),
                    published=_day(thing.get("datePublished")),
                    modified=_day(thing.get("dateModified")),
                    type=kind,
                    body=_text_of(thing.get("articleBody")),
                    free=str(thing.get("isAccessibleForFree", True)).lower() not in ("false", "no"),
                )
    return LinkedData()


def _linked_objects(block: str) -> Iterator[dict[str, object]]:
    """The things that a block describes, including those of its graph."""
    try:
        data = msgspec.json.decode(block[: MAX_BLOCK_CHARS + 1]) if len(block) <= MAX_BLOCK_CHARS else None
    except DECODE_ERRORS:
        return
    queue = [data]
    for _ in range(MAX_OBJECTS):
        if not queue:
            return
        thing = queue.pop(0)
        if isinstance(thing, list):
            queue += thing[:MAX_OBJECTS]
        elif isinstance(thing, dict):
            yield thing
            queue.append(thing.get("@graph"))


def _type(thing: dict[str, object]) -> str:
    value = thing.get("@type")
    first = value[0] if isinstance(value, list) and value else value
    return first.lower() if isinstance(first, str) else ""


def _names(value: object) -> str:
    people = value if isinstance(value, list) else [value]
    candidates = [person.get("name") if isinstance(person, dict) else person for person in people[:MAX_LINKED_AUTHORS]]
    names = (" ".join(clean(name).split()) for name in candidates if isinstance(name, str))
    return "; ".join(name for name in names if name and not name.startswith(("http://", "https://")))[:300]


def _text_of(value: object) -> str:
    return clean(value) if isinstance(value, str) else ""


def _day(value: object) -> str:
    return iso_date(value[:100]) if isinstance(value, str) else ""


NON_TEXT_TAGS = ("script", "style", "noscript", "template", "head", "svg", "nav", "header", "footer", "aside")
"""Elements beside the text of a page."""
LINKED_DATA_SELECTOR = 'script[type="application/ld+json"]'
MAX_METAS = 500
MAX_AUTHORS = 20
MAX_VALUE_CHARS = 2_000
"""The most characters of a value that are read."""
FACT_NAMES = {
    "doi": ("citation_doi", "prism.doi", "dc.identifier.doi", "bepress_citation_doi"),
    "journal": ("citation_journal_title", "prism.publicationname"),
    "publisher": ("citation_publisher", "dc.publisher"),
    "type": ("og:type",),
    "section": ("article:section",),
    "site_name": ("og:site_name",),
    "modified": ("article:modified_time", "og:updated_time", "last-modified", "dcterms.modified"),
}
"""Other metadata that is kept, by the names it has in pages."""
TIER_NAME = "article:content_tier"
"""Says whether a page is free to read, `metered` or `locked`."""
PUBLISHED_NAMES = tuple(
    "article:published_time citation_publication_date citation_date date dc.date dc.date.issued dcterms.created"
    " pubdate publish-date sailthru.date".split()
)
MARKED_DATE_SELECTOR = (
    '[itemprop="datePublished" i], time[pubdate], time.published[datetime], time.dt-published[datetime]'
)
"""Where a text marks its day of publication: microdata, HTML, microformats."""
MetaTags = Mapping[str, tuple[str, ...]]
"""The contents of a page's meta elements, in order, by name in lower case."""


class PageMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """The statements of a page about itself, "" for missing values; `published` is an ISO day, `language` ISO 639-1."""

    title: str = ""
    description: str = ""
    url: str = ""
    author: str = ""
    published: str = ""
    language: str = ""
    facts: dict[str, str] = {}


def read_metadata(tree: LexborHTMLParser) -> PageMetadata:
    """Read what the page says about itself; untrusted."""
    linked_data = read_linked(node.text(deep=True) for node in tree.css(LINKED_DATA_SELECTOR))
    metas = _metas(tree)
    return PageMetadata(
        title=_title(tree, metas),
        description=_first_value(metas, "og:description", "description", "twitter:description"),
        url=_canonical(tree),
        author=_author(metas) or linked_data.author,
        published=iso_date(_first_value(metas, *PUBLISHED_NAMES).replace("/", "-"))
        or linked_data.published
        or _marked_date(tree),
        language=_language(tree),
        facts=_facts(metas, linked_data),
    )


def _marked_date(tree: LexborHTMLParser) -> str:
    """The day that the page marks as that of publication; "" if it marks none, or several as lists of articles do.

    Of 119 pages that also state it in their head, 112 state the same day there, and 4 the next or the last.
    """
    nodes = tree.css(MARKED_DATE_SELECTOR)[:MAX_METAS]
    values = (_value(node.attributes.get("datetime") or node.attributes.get("content")) for node in nodes)
    days = {day for value in values if (day := iso_date(value[:100]))}
    return days.pop() if len(days) == 1 else ""


def attribute(tree: LexborHTMLParser, selector: str, name: str) -> str:
    """The attribute `name` of the first element that the selector finds; "" if there is none."""
    node = tree.css_first(selector)
    return _value(node.attributes.get(name)) if node is not None else ""


def text_outside(tree: LexborHTMLParser, *tags: str) -> str:
    """The text of a page on one line, without what is beside it and without these elements, which go from the tree."""
    tree.strip_tags([*NON_TEXT_TAGS, *tags])
    return " ".join(tree.body.text(separator=" ").split()) if tree.body is not None else ""


def _metas(tree: LexborHTMLParser) -> MetaTags:
    metas: dict[str, tuple[str, ...]] = {}
    for node in tree.css("meta[content]")[:MAX_METAS]:
        attributes = node.attributes
        content = _value(attributes.get("content"))
        for key in ("name", "property"):
            name = (attributes.get(key) or "").lower()
            if name and content:
                metas[name] = (*metas.get(name, ()), content)[:MAX_AUTHORS]
    return metas


def _first_value(metas: MetaTags, *names: str) -> str:
    """The first value among these names that is not empty."""
    return next((metas[name][0] for name in names if name in metas), "")


def _value(text: str | None) -> str:
    return clean((text or "")[: 2 * MAX_VALUE_CHARS].strip())[:MAX_VALUE_CHARS]


def _title(tree: LexborHTMLParser, metas: MetaTags) -> str:
    title = clean_title(_first_value(metas, "og:title", "citation_title"))
    for selector in ("title", "h1"):
        node = None if title else tree.css_first(selector)
        if node is not None:
            title = clean_title(node_text(node))
    return clean(title)


def _author(metas: MetaTags) -> str:
    """The authors according to the page: each author of a paper, else one; an address is not a name."""
    if several := metas.get("citation_author"):
        return "; ".join(" ".join(name.split()) for name in several)[:300]
    author = _first_value(metas, "author", "article:author", "dc.creator", "parsely-author", "sailthru.author")
    return "" if author.startswith(("http://", "https://")) else author[:300]


def _facts(metas: MetaTags, linked_data: LinkedData) -> dict[str, str]:
    facts = {key: _first_value(metas, *names)[:300] for key, names in FACT_NAMES.items()}
    facts["modified"] = iso_date(facts["modified"]) or linked_data.modified
    facts["type"] = linked_data.type or facts["type"]
    if not linked_data.free or _first_value(metas, TIER_NAME).lower() in ("metered", "locked"):
        facts[ACCESS] = PAYWALL
    return {key: value for key, value in facts.items() if value}


def _canonical(tree: LexborHTMLParser) -> str:
    url = attribute(tree, 'link[rel="canonical"]', "href")
    return url if url.startswith(("http://", "https://")) else ""


def _language(tree: LexborHTMLParser) -> str:
    language = attribute(tree, "html", "lang").lower()
    return language[:2] if re.fullmatch(r"[a-z]{2}([-_].*)?", language) else ""


# The lead of an article: the paragraph in larger type between the headline and the text. Extractors drop it because of
# its place and its name (`teaser`, `intro`, `chapo`).

WITHIN = 200
"""The first blocks of a page, in which its lead is searched."""
MIN_BLOCK_CHARS = 60
"""From this many characters on, a block shows where the article begins; shorter ones are bylines, dates, buttons."""
MIN_LEAD_CHARS = 80
"""From this many characters on, a paragraph below the headline is a lead even if it is not the page's description."""
MIN_SAME_CHARS = 80
"""Characters (letters and digits) by which a block of the page is recognised in the article."""
SAME_DESCRIPTION = 30
"""Characters (letters and digits) by which a block is recognised as the page's description of itself."""
NO_WORD = regex(r"[\W_]+")
SENTENCE_ENDS = (".", "!", "?", "…", '"', "”", "“", "»", "。")
NO_PROSE = ("#", "- ", "|", "```")


def add_missing_lead(article: str, full: str, description: str) -> str:
    """Put the lead in front of `article` (below its headline, if it has one), if `full` has a lead that it lacks.

    Args:
        article: the extracted article, as Markdown.
        full: the whole page in the text form, which contains the article somewhere.
        description: the page's description of itself for search engines; "" if there is none.
    """
    blocks = _lead(article, full, description)
    if not blocks:
        return article
    lead = "\n\n".join(blocks)
    if article.startswith("# "):
        headline, _, rest = article.partition("\n")
        return f"{headline}\n\n{lead}\n\n{rest.lstrip()}"
    return f"{lead}\n\n{article}"


def _lead(article: str, full: str, description: str) -> list[str]:
    """The blocks of `full` between the headline and the article's first block that form the lead."""
    blocks = full.split("\n\n", WITHIN)[:WITHIN]
    article_text, description_text = _alphanumerics(article), _alphanumerics(description)
    first = next((index for index, block in enumerate(blocks) if _is_in_article(block, article_text)), 0)
    headlines = [index for index in range(first) if blocks[index].startswith("# ")]
    lead = []
    for block in blocks[headlines[-1] + 1 if headlines else max(0, first - 8) : first]:
        bare = _alphanumerics(block)
        if block.lstrip().startswith(NO_PROSE) or not bare or bare in article_text:
            continue
        if _matches_description(bare, description_text) or (
            headlines and len(block) >= MIN_LEAD_CHARS and block.rstrip().endswith(SENTENCE_ENDS)
        ):
            lead.append(block.strip())
    return lead


def _is_in_article(block: str, article: str) -> bool:
    """True if a block of the page is part of the article."""
    return (
        len(block) >= MIN_BLOCK_CHARS
        and not block.startswith("#")
        and _alphanumerics(block)[:MIN_SAME_CHARS] in article
    )


def _matches_description(block: str, description: str) -> bool:
    if min(len(block), len(description)) < SAME_DESCRIPTION:
        return False
    return block[:SAME_DESCRIPTION] in description or description[:SAME_DESCRIPTION] in block


def _alphanumerics(text: str) -> str:
    """Only letters and digits, in lower case: two renderings of a page differ in the rest."""
    return NO_WORD.sub("", text.lower())
