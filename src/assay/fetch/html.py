"""HTML pages: articles by trafilatura, documentation in full by our own conversion."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser, LexborNode

from assay.core.errors import ExtractError
from assay.core.languages import detect
from assay.core.sources import Extracted
from assay.fetch.fields import stem
from assay.fetch.html_markdown import shallow, to_markdown
from assay.fetch.html_metadata import attribute, read_said, with_lead
from assay.fetch.text_decoder import clean, decode

if TYPE_CHECKING:
    from lxml.html import HtmlElement

LARGEST_ARTICLE = 4_000_000
"""Pages longer than this many characters are converted in full: trafilatura needs seconds a megabyte."""
LEAST_SHARE = 0.05
"""An article shorter than this share of the page's visible text was not found; the page is taken in full."""
LEAST_PROSE, MOST_PROSE = 1_000, 0.8
"""Characters in paragraphs, and the share of all of the page, with which an element holds the article."""

SHORT = 200
"""Pages with less text than this many characters are converted in full: trafilatura takes menus for such a page."""
MOSTLY_HIDDEN = 2_000
"""Characters below its body from which on a page is not short, whatever it shows."""

CHARSET = re.compile(rb"<meta[^>]{0,200}charset=[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)
GAP = re.compile(r"(?<=[^\s|]) {2,}(?=[^\s|])")
"""What a link or bold words leave in the middle of a line."""
WRAP = re.compile(r"(?<=\S)[ \t]*\n[ \t]+(?=[^\s|#>*+-])(?!\d{1,3}[.)] )")
"""Where a paragraph goes on after the end of an indented line of its HTML."""
GENERATORS = re.compile(
    r"docutils|sphinx|docbook|doxygen|javadoc|rustdoc|mkdocs|mdbook|docusaurus|vitepress|gitbook|asciidoc|antora|pandoc"
    r"|texinfo|makeinfo|latex2html|groff|mandoc|pod2html|typedoc|yard|pydoc",
    re.IGNORECASE,
)
DOCUMENTATION = (
    ".sphinxsidebar, div.docbook, div.navheader, div.rst-content, .md-content, .rustdoc, .mdbook, .sidebar-scrollbox"
    ", .doc-content"
)
CLUTTER = "nav, footer, aside, form, iframe, script[src^='http' i], script[src^='//']"
SCRIPT = "script[src]"
POINTERS = 3
"""Links of a page to places of its own from which on it is a manual's, though a script beside it colours its code."""
AROUND = "nav, header, footer, aside"
TEXTLESS = (
    'script:not([type="application/ld+json"]), style, svg, link, iframe, template, input, select, option, button'
    ", object, embed, canvas, audio, video"
)
"""What says nothing itself, but is looked at again and again by what looks for the article."""
ROOTS = ('[role="main"]', "main", "article", "body")


class HtmlExtractor:
    """A page's main text in the text form.

    Pages made by documentation tools, and pages without any clutter, are converted in full, with tables,
    definition lists and code: over 46 pages of Python's and PostgreSQL's manuals that keeps 96 % of the words
    (trafilatura: 89 %, the worst page 21 %), 17 times faster. So are the shortest pages. Elsewhere trafilatura finds
    the article, and its lead is put back: over the 884 of its evaluation that gives F 0.933 (0.929 on the half that
    nothing was tuned on; 0.922 for the page as it came and without the lead).
    """

    name = "html/5"
    suffixes = (".html", ".htm", ".xhtml")
    media_type = "text/html"
    isolated = False

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """One document.

        Raises:
            ExtractError: the bytes are not text, or the page shows none.
        """
        declared = CHARSET.search(data[:4096])
        page = shallow(decode(data, declared[1].decode("ascii") if declared else ""))
        tree = LexborHTMLParser(page)
        whole = is_documentation(tree)
        if not whole:
            _tidy(tree)
        full = to_markdown(_root(tree), links=whole)
        said = read_said(tree)
        article = "" if whole or _is_short(tree, full) or len(page) > LARGEST_ARTICLE else _article(tree)
        if len(article) > LEAST_SHARE * len(full):
            text = clean(with_lead(article, full, said.description))
        else:
            text = clean(full)
        if not text.strip():
            raise ExtractError("the page shows no text")
        yield Extracted(
            text=text,
            extractor=self.name,
            syntax="markdown",
            title=said.title or stem(name),
            url=said.url,
            author=said.author,
            published=said.published,
            language=said.language or detect(text),
            metadata=said.facts,
        )


def _is_short(tree: LexborHTMLParser, full: str) -> bool:
    """Whether the page has little text; one which hides all of it until a script has run has not."""
    if len(full) >= SHORT:
        return False
    return tree.body is None or len(tree.body.text(deep=True)) < MOSTLY_HIDDEN


def is_documentation(tree: LexborHTMLParser) -> bool:
    """Whether a documentation tool made this page, or nothing on it is clutter. Manuals have links to their own places.

    Of 884 pages of trafilatura's evaluation (news, blogs, shops) 4 are taken for documentation, all without
    clutter; of 300 pages of two manuals, all.
    """
    generator = attribute(tree, 'meta[name="generator" i]', "content")
    if GENERATORS.search(generator) or tree.css_first(DOCUMENTATION) is not None:
        return True
    if tree.css_first(CLUTTER) is not None:
        return False
    return tree.css_first(SCRIPT) is None or len(tree.css("a[href^='#']:not([href='#'])")) >= POINTERS


def _tidy(tree: LexborHTMLParser) -> None:
    """Take off the page what stands around its text; a header with the page's heading stays, so does what is inside
    an article.
    """
    for node in tree.css(AROUND):
        if node.css_first("h1, article, main") is None and not _inside_article(node):
            node.decompose()


def _inside_article(node: LexborNode) -> bool:
    above = node.parent
    while above is not None:
        if above.tag in ("article", "main"):
            return True
        above = above.parent
    return False


def _article(tree: LexborHTMLParser) -> str:
    """The article as trafilatura finds it in what is left of the page without all that is no text; the tree is of no
    use afterwards.

    Most of its time goes into walking the page again and again: on the half of the evaluation things are tuned on that
    takes 40 % less time than the page as it came, and its F is 0.002 higher.
    """
    # Half a second to import: paid only where a page needs it.
    import trafilatura  # noqa: PLC0415

    for node in tree.css(TEXTLESS):
        node.decompose()
    page = _parsed(_narrowed(tree))
    found = trafilatura.extract(page, output_format="markdown", include_tables=True, include_comments=False) or ""
    return unwrapped(found)


def unwrapped(article: str) -> str:
    """An article with each paragraph on one line, as a browser shows it: how its HTML is wrapped says nothing."""
    parts = article.split("```")
    if len(parts) % 2 == 0:
        return article
    parts[::2] = [GAP.sub(" ", WRAP.sub(" ", part)) for part in parts[::2]]
    return "```".join(parts)


def _parsed(page: str) -> HtmlElement:
    """The tree trafilatura makes of a page, with one class for all elements.

    lxml's own parser asks a Python function for the class of an element as often as one is looked at, which takes a
    tenth of the time of finding the article.
    """
    # Only where trafilatura is.
    from lxml import etree, html  # noqa: PLC0415

    parser = html.HTMLParser(encoding="utf-8", collect_ids=False, remove_comments=True, remove_pis=True)
    parser.set_element_class_lookup(etree.ElementDefaultClassLookup(element=html.HtmlElement))
    return html.document_fromstring(page.encode(), parser=parser)


def _narrowed(tree: LexborHTMLParser) -> str:
    """The page as HTML, or only the one element of it which holds nearly all of its paragraphs."""
    root = _root(tree)
    inside = _prose(root)
    if root.tag != "body" and inside >= LEAST_PROSE and inside >= MOST_PROSE * _prose(tree):
        return f"<html><body>{root.html or ''}</body></html>"
    return tree.html or ""


def _prose(within: LexborHTMLParser | LexborNode) -> int:
    return sum(len(paragraph.text(deep=True)) for paragraph in within.css("p"))


def _root(tree: LexborHTMLParser) -> LexborNode:
    """The one element which holds the main text, else the body."""
    for selector in ROOTS:
        found = tree.css(selector)
        if len(found) == 1:
            return found[0]
    root = tree.body or tree.root
    if root is None:
        raise ExtractError("the page shows no text")
    return root
