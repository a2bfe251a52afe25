"""Documents that people write in XML, as pages: DocBook manuals, JATS articles, TEI editions, DITA topics."""

from __future__ import annotations

import html
import re
from html.entities import html5
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING

from assay.core.lazy import lazy_module, regex
from assay.fetch.text_form import decode

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = lazy_module("lxml.etree")

XML_DOCUMENT_SUFFIXES = (".docbook", ".dbk", ".nxml", ".tei", ".dita")
"""Suffixes of nothing else. Other XML is read as such a document if its first element shows it."""
SNIFFED_CHARS = 64_000
MAX_ENTITIES, MAX_ENTITY_CHARS = 1_000, 1_000_000
"""Names that a document defines for pieces of its text, and how much text these add: a few bytes could stand for
gigabytes.
"""

ROOT = regex(
    r"\ufeff?\s*+(?><(?:\?[^>]*+|!--(?:(?!-->).)*+--|!(?:[^\[>]|\[(?:(?!\]\s{0,99}>).)*+\]\s*+)*+)>\s*+)*+"
    r"(?P<root><(?:\w+:)?(?P<name>[\w.]+))",
    re.DOTALL,
)
"""The first element, perhaps after declarations and comments."""
_TEXT_ENTITY = regex(r"<!ENTITY\s+([\w.-]{1,100})\s+(?:SYSTEM\b|PUBLIC\b|([\"'])((?:(?!\2)[^<&]){0,1000})\2\s*>)")
_ENTITY = regex(r"&([A-Za-z_][\w.-]{0,100});")
_XML_ENTITIES = frozenset(("amp", "lt", "gt", "quot", "apos"))
_SIGN = regex(r"<(?:\w+:)?([\w.-]+)(?=[\s/>])|\b(DITA) ")
_PARAGRAPHS = ("para", "simpara")
_ROOTS = {
    **dict.fromkeys("book chapter section sect1 sect2 sect3 appendix preface part refentry".split(), _PARAGRAPHS),
    **dict.fromkeys(("topic", "concept", "task"), ("DITA",)),
    **dict.fromkeys(("TEI", "TEI.2"), ("p", "l")),
    "article": (*_PARAGRAPHS, "sec", "article-title"),
    "reference": (*_PARAGRAPHS, "DITA"),
}
"""The first elements of such documents, each with the elements, or the type, of which the beginning must show one."""

_SECTIONS = frozenset(
    "book article chapter section sect1 sect2 sect3 sect4 sect5 simplesect appendix preface part refentry refsect1"
    " refsect2 refsect3 refsection refsynopsisdiv reference glossary bibliography qandaset sec app ref-list back"
    " abstract topic concept task div div1 div2 div3 div4".split()
)
_TITLES = frozenset(("title", "refentrytitle", "article-title", "head"))
_TITLED = _SECTIONS | {"title-group", "article-meta", "front", "refmeta", "body", "TEI"}
"""Elements whose title is a heading; that of a table or a figure is none."""
_DROPPED = frozenset(
    "indexterm index toc remark titleabbrev subtitle colophon mediaobject inlinemediaobject alt math tex-math"
    " teiHeader prolog journal-meta contrib-group aff author-notes permissions history pub-date article-id"
    " article-categories self-uri volume issue fpage lpage counts custom-meta-group related-links".split()
)
_INFO = regex(r"\w*info")
"""What a document says about itself: of this only the title is read."""
_TAGS = {
    **dict.fromkeys(("para", "simpara", "p", "shortdesc", "mixed-citation", "biblioentry", "lg"), "p"),
    **dict.fromkeys("itemizedlist orderedlist simplelist calloutlist procedure steps list ul ol".split(), "ul"),
    **dict.fromkeys(("listitem", "member", "step", "callout", "list-item", "li", "item"), "li"),
    **dict.fromkeys(("variablelist", "glossentry", "def-list", "dl", "parml", "qandaentry"), "dl"),
    **dict.fromkeys(("term", "glossterm", "dt", "pt", "question"), "dt"),
    **dict.fromkeys(("glossdef", "def", "dd", "pd", "answer"), "dd"),
    **dict.fromkeys(("programlisting", "screen", "synopsis", "literallayout", "codeblock", "preformat"), "pre"),
    **dict.fromkeys(
        "literal command code filename option varname constant function monospace codeph envar userinput".split(),
        "code",
    ),
    **dict.fromkeys(("table", "informaltable"), "table"),
    **dict.fromkeys(("row", "tr", "strow"), "tr"),
    **dict.fromkeys(("entry", "td", "cell", "stentry"), "td"),
    **dict.fromkeys(("superscript", "sup"), "sup"),
    **dict.fromkeys(("subscript", "sub"), "sub"),
    **dict.fromkeys(
        ("note", "tip", "warning", "caution", "important", "example", "figure", "fig", "blockquote"), "div"
    ),
    **dict.fromkeys(("formalpara", "epigraph", "caption", "disp-quote", "refnamediv", "cmdsynopsis"), "div"),
    "th": "th",
}
_TERMS = frozenset(("varlistentry", "glossentry", "def-item"))
"""The only elements in which a term is one of a list: elsewhere it is a word of a sentence."""
_AROUND = {"quote": ("“", "”"), "footnote": (" (", ")"), "fn": (" (", ")"), "l": ("", "<br>")}
"""What stands before and after an element's text."""
_JOINED = {"refnamediv": " — ", "menuchoice": " → ", "keycombo": "+"}
"""What stands between the parts of an element."""


def is_xml_document(text: str) -> bool:
    """True if the first element is that of such a document, and what belongs into one follows."""
    beginning = text[:SNIFFED_CHARS]
    root = ROOT.match(beginning)
    signs = _ROOTS.get(root["name"], ()) if root is not None else ()
    return any((sign[1] or sign[2]) in signs for sign in _SIGN.finditer(beginning)) if signs else False


def xml_document_page(data: bytes, name: str) -> str:
    """Such a document as HTML; "" if the file called `name` is none."""
    is_any_xml = name.lower().endswith(".xml")
    if not is_any_xml and not name.lower().endswith(XML_DOCUMENT_SUFFIXES):
        return ""
    text = decode(data)
    root = ROOT.match(text[:SNIFFED_CHARS])
    if root is None or (is_any_xml and not is_xml_document(text)):
        return ""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, load_dtd=False, huge_tree=False)
    node = etree.fromstring(replace_entities(text, root.start("root")).encode(), parser)
    if node is None:
        return ""
    writer = _PageWriter()
    writer.write(node, 0)
    title = html.escape(next((_text(element) for element in node.iter() if element_name(element) in _TITLES), ""))
    language = html.escape(node.get("lang") or node.get("{http://www.w3.org/XML/1998/namespace}lang") or "")
    return f'<html lang="{language}"><head><title>{title}</title></head><body>{"".join(writer.parts)}</body></html>'


def replace_entities(text: str, start: int) -> str:
    """The elements from `start` on, with what the entities before them stand for; one defined elsewhere, or too much,
    leaves its name, and one that is another file nothing.
    """
    definitions = islice(_TEXT_ENTITY.finditer(text, 0, start), MAX_ENTITIES)
    defined = {definition[1]: definition[3] or "" for definition in definitions}
    left = MAX_ENTITY_CHARS

    def replacement(match: re.Match[str]) -> str:
        name = match[1]
        if name in _XML_ENTITIES:
            return match[0]
        if name not in defined:
            return html.escape(html5.get(f"{name};", name))
        nonlocal left
        left -= len(defined[name])
        return html.escape(defined[name] if left >= 0 else name)

    return _ENTITY.sub(replacement, text[start:])


def element_name(node: etree._Element | None) -> str:
    """The name of an element without its namespace; "" for a comment, an instruction and none."""
    return node.tag.rpartition("}")[2] if node is not None and isinstance(node.tag, str) else ""


def _text(node: etree._Element) -> str:
    """The text of a title, without marks for an index."""
    inside = ((_text(child) if element_name(child) not in _DROPPED else "", child.tail or "") for child in node)
    return " ".join("".join([node.text or "", *chain.from_iterable(inside)]).split())


class _PageWriter:
    """Collects the HTML of elements; the parser lets none lie more than 256 deep."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def write(self, node: etree._Element, depth: int) -> None:
        """Write an element that lies in `depth` sections, without what follows it."""
        name, parent = element_name(node), node.getparent()
        if not name or name in _DROPPED:
            return
        if _INFO.fullmatch(name):
            for title in node.iterchildren("{*}title"):
                self._write_heading(title, depth)
            return
        if name in _TITLES:
            if parent is None or element_name(parent) in _TITLED:
                self._write_heading(node, depth)
            else:
                self.parts.append(f"<p>{html.escape(_text(node))}</p>")
            return
        tag = _page_tag(node)
        before, after = _AROUND.get(name, ("", ""))
        self.parts.append(f"{before}<{tag}>" if tag else before)
        self._write_inside(node, depth + (name in _SECTIONS), _JOINED.get(name, ""))
        self.parts.append(f"</{tag}>{after}" if tag else after)

    def _write_inside(self, node: etree._Element, depth: int, between: str) -> None:
        self.parts.append(html.escape(node.text or ""))
        for number, child in enumerate(node):
            self.parts.append(between if number else "")
            self.write(child, depth)
            self.parts.append("" if between else html.escape(child.tail or ""))

    def _write_heading(self, node: etree._Element, depth: int) -> None:
        level = min(max(depth, 1), 6)
        self.parts.append(f"<h{level}>{html.escape(_text(node))}</h{level}>")


def _page_tag(node: etree._Element) -> str:
    """The HTML element for one; "" for one whose text is part of the text around it."""
    name = element_name(node)
    outer, above = (element_name(parent) for parent in islice(chain(node.iterancestors(), repeat(None)), 2))
    if name in _SECTIONS:
        return "section"
    if outer in _AROUND or (name in ("term", "glossterm") and outer not in _TERMS):
        return ""
    if name == "listitem" and outer == "varlistentry":
        return "dd"
    return "th" if name == "entry" and "thead" in (outer, above) else _TAGS.get(name, "")
