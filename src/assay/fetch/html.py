"""HTML pages: articles by trafilatura, documentation and feeds in full by our own conversion."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.core.errors import ExtractError, NeedsScripts
from assay.core.languages import detect_language
from assay.core.lazy import lazy_module, regex
from assay.core.sources import ACCESS, Extracted
from assay.fetch.fields import title_from_name
from assay.fetch.html_markdown import limit_nesting, to_markdown
from assay.fetch.html_metadata import LINKED_DATA_SELECTOR, add_missing_lead, attribute, read_metadata
from assay.fetch.html_preparation import (
    NOTICE,
    expand_components,
    feed_page,
    is_in_article,
    is_notice,
    noscript_text,
    remove_other_articles,
    remove_requests,
)
from assay.fetch.text_form import clean, decode
from assay.fetch.xml_documents import XML_DOCUMENT_SUFFIXES, xml_document_page

if TYPE_CHECKING:
    from lxml.html import HtmlElement
    from selectolax import lexbor
    from selectolax.lexbor import LexborHTMLParser, LexborNode
else:
    lexbor = lazy_module("selectolax.lexbor")

MAX_PAGE_CHARS = 4_000_000
"""Pages longer than this many characters are converted in full: trafilatura needs seconds per megabyte."""
MAX_PAGE_ELEMENTS = 100_000
"""So are pages with more elements. Of 8,300 shorter pages, with their manuals' indexes, none has more than 59,000; four
megabytes of tags that nothing closes have a million, and took 20 seconds.
"""
MIN_ARTICLE_SHARE = 0.05
"""An article with less than this share of the page's visible text was not found; the page is converted in full."""
MIN_PROSE_CHARS, MIN_PROSE_SHARE = 1_000, 0.8
"""The least characters in an element's paragraphs, and share of the page's, for the element to hold the article."""

SHORT_PAGE_CHARS = 200
"""Pages with less text than this many characters are converted in full: trafilatura mistakes menus for such a page."""
MIN_HIDDEN_CHARS = 2_000
"""From this many characters below its body on, a page is not short, whatever it shows."""

CHARSET = regex(
    rb"(?:<meta[^>]{0,200}charset\s*=|\A\s*<\?xml[^>]{0,100}encoding\s*=)\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE
)
INLINE_GAP = regex(r"(?<=[^\s|]) {2,}(?=[^\s|])")
"""The gap that a link or bold words leave in the middle of a line."""
WRAPPED_LINE = regex(r"(?<=\S)[ \t]*\n[ \t]+(?=[^\s|#>*+-])(?!\d{1,3}[.)] )")
"""Where a paragraph continues after the end of an indented line of HTML."""
_NUMBERED_TWICE = regex(r"^([ \t]*)\d{1,9}\. (-?\d{1,9}|[a-zA-Z]{1,9})\\\. ", re.MULTILINE)
"""An item with trafilatura's number before its own, whose point it escapes."""
GENERATORS = regex(
    r"docutils|sphinx|docbook|doxygen|javadoc|rustdoc|mkdocs|mdbook|docusaurus|vitepress|gitbook|asciidoc|antora|pandoc"
    r"|texinfo|makeinfo|latex2html|groff|mandoc|pod2html|typedoc|yard|pydoc",
    re.IGNORECASE,
)
DOCUMENTATION = (
    ".sphinxsidebar, div.docbook, div.navheader, div.rst-content, .md-content, .rustdoc, .mdbook, .sidebar-scrollbox"
    ", .doc-content"
)
CLUTTER = "nav, footer, aside, form, iframe, script[src^='http' i], script[src^='//']"
EXTERNAL_SCRIPT = "script[src]"
MANUAL_LINKS = 3
"""With this many links to places inside itself a page belongs to a manual, even if a script colours its code."""
SURROUNDINGS = "nav, header, footer, aside"
TEXTLESS = (
    'script:not([type="application/ld+json"]), style, svg, link, iframe, template, input, select, option, button'
    ", object, embed, canvas, audio, video"
)
"""Elements without text that slow down the search for the article."""
ROOT_SELECTORS = ('[role="main"]', "main", "article", "body")


class HtmlExtractor:
    """A page's main text in the text form.

    Pages made by documentation tools, and pages without any clutter, are converted in full, with tables, definition
    lists and code: on 46 pages of Python's and PostgreSQL's manuals that keeps 96 % of the words (trafilatura: 89 %,
    the worst page 21 %), 17 times faster. The shortest pages are converted in full too. On other pages trafilatura
    finds the article, and its lead is restored: on the 884 pages of its evaluation that gives F 0.933 (0.929 on the
    half that nothing was tuned on; 0.922 for the unprepared page without the lead).
    """

    name = "html/8"
    suffixes = (".html", ".htm", ".xhtml", *XML_DOCUMENT_SUFFIXES)
    media_type = "text/html"
    isolated = False

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        charset = CHARSET.search(data[:4096])
        page = (
            feed_page(data)
            or xml_document_page(data, name)
            or decode(data, charset[1].decode("ascii") if charset else "")
        )
        page = limit_nesting(expand_components(page))
        tree = lexbor.LexborHTMLParser(page)
        facts = read_metadata(tree)
        remove_requests(tree, page)
        text = clean(_main_text(tree, facts.description, is_large=_is_large(page), free=ACCESS not in facts.facts))
        if not text.strip():
            raise ExtractError("the page shows no text")
        if is_notice(text) and not NOTICE.search(facts.title):
            raise NeedsScripts("the page has no text without JavaScript")
        yield Extracted(
            text=text,
            extractor=self.name,
            syntax="markdown",
            title=facts.title or title_from_name(name),
            url=facts.url,
            author=facts.author,
            published=facts.published,
            language=facts.language or detect_language(text),
            metadata=facts.facts,
        )


def _main_text(tree: LexborHTMLParser, description: str, *, is_large: bool, free: bool) -> str:
    """The main text of a page. Consumes the tree.

    In a page that `is_large` no article is looked for. If a page is not `free` to read, what it tells search engines is
    not for all readers.
    """
    keep_whole = is_documentation(tree)
    if not keep_whole:
        _remove_surroundings(tree)
        remove_other_articles(tree)
    full = to_markdown(_root(tree), links=keep_whole)
    instead = noscript_text(tree) if len(full) < SHORT_PAGE_CHARS else ""
    for node in () if free else tree.css(LINKED_DATA_SELECTOR):
        node.decompose()
    article = "" if keep_whole or is_large or _is_short(tree, full) else _article(tree)
    text = add_missing_lead(article, full, description) if len(article) > MIN_ARTICLE_SHARE * len(full) else full
    return instead if len(text) < SHORT_PAGE_CHARS and len(instead) > len(text) else text


def _is_large(page: str) -> bool:
    return len(page) > MAX_PAGE_CHARS or page.count("<") - page.count("</") > MAX_PAGE_ELEMENTS


def _is_short(tree: LexborHTMLParser, full: str) -> bool:
    """True if the page has little text; a page that hides its text until a script has run does not count."""
    if len(full) >= SHORT_PAGE_CHARS:
        return False
    return tree.body is None or len(tree.body.text(deep=True)) < MIN_HIDDEN_CHARS


def is_documentation(tree: LexborHTMLParser) -> bool:
    """True if a documentation tool made this page, or it has no clutter. Manuals link to places inside themselves.

    Of the 884 pages of trafilatura's evaluation (news, blogs, shops) 4 count as documentation, all without clutter; of
    300 pages of two manuals, all do.
    """
    generator = attribute(tree, 'meta[name="generator" i]', "content")
    if GENERATORS.search(generator) or tree.css_first(DOCUMENTATION) is not None:
        return True
    if tree.css_first(CLUTTER) is not None:
        return False
    return tree.css_first(EXTERNAL_SCRIPT) is None or len(tree.css("a[href^='#']:not([href='#'])")) >= MANUAL_LINKS


def _remove_surroundings(tree: LexborHTMLParser) -> None:
    """Remove what surrounds a page's text, except a header with the page's heading, and anything inside an article."""
    for node in tree.css(SURROUNDINGS):
        if node.css_first("h1, article, main") is None and not is_in_article(node):
            node.decompose()


def _article(tree: LexborHTMLParser) -> str:
    """The article that trafilatura finds after everything that is not text has been removed. Consumes the tree.

    Most of the time goes into repeated walks through the page: on the tuning half of the evaluation the removal saves
    40 % of the time, and raises F by 0.002.
    """
    # The import takes half a second, so only pages that need it pay for it.
    import trafilatura  # noqa: PLC0415

    for node in tree.css(TEXTLESS):
        node.decompose()
    page = _parse_page(_narrow_page(tree))
    text = trafilatura.extract(page, output_format="markdown", include_tables=True, include_comments=False) or ""
    return _NUMBERED_TWICE.sub(r"\1- \2. ", unwrap_paragraphs(text))


def unwrap_paragraphs(article: str) -> str:
    """An article with each paragraph on one line, as in a browser: line breaks in HTML mean nothing."""
    parts = article.split("```")
    if len(parts) % 2 == 0:
        return article
    parts[::2] = [INLINE_GAP.sub(" ", WRAPPED_LINE.sub(" ", part)) for part in parts[::2]]
    return "```".join(parts)


def _parse_page(page: str) -> HtmlElement:
    """The tree that trafilatura builds from a page, with one class for all elements.

    lxml's own parser calls a Python function for the class at each access to an element, which takes a tenth of the
    time for finding the article.
    """
    # Only available with trafilatura.
    from lxml import etree, html  # noqa: PLC0415

    parser = html.HTMLParser(encoding="utf-8", collect_ids=False, remove_comments=True, remove_pis=True)
    parser.set_element_class_lookup(etree.ElementDefaultClassLookup(element=html.HtmlElement))
    return html.document_fromstring(page.encode(), parser=parser)


def _narrow_page(tree: LexborHTMLParser) -> str:
    """The page as HTML, or only the one element that holds nearly all of its paragraphs."""
    root = _root(tree)
    inside = _prose_length(root)
    if root.tag != "body" and inside >= MIN_PROSE_CHARS and inside >= MIN_PROSE_SHARE * _prose_length(tree):
        return f"<html><body>{root.html or ''}</body></html>"
    return tree.html or ""


def _prose_length(root: LexborHTMLParser | LexborNode) -> int:
    return sum(len(paragraph.text(deep=True)) for paragraph in root.css("p"))


def _root(tree: LexborHTMLParser) -> LexborNode:
    """The one element that holds the main text, else the body."""
    for selector in ROOT_SELECTORS:
        nodes = tree.css(selector)
        if len(nodes) == 1:
            return nodes[0]
    root = tree.body or tree.root
    if root is None:
        raise ExtractError("the page shows no text")
    return root
