"""The numbers that Word shows before headings, clauses and items: "4.2", "(a)", "Article IV".

ECMA-376, part 1, section 17.9: a paragraph, or its style, names a numbering and a level in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.core.lazy import regex
from assay.fetch.list_numbers import list_number
from assay.fetch.office.package import parse_xml
from assay.fetch.text_form import parse_number

if TYPE_CHECKING:
    from docx.document import Document
    from lxml import etree

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MAX_STYLE_DEPTH = 10
MAX_NUMBER_CHARS = 60
_PLACE = regex(r"%([1-9])")
_KINDS = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}


class WordNumbers:
    """Counts the numbered paragraphs of a document, which are given in their order."""

    def __init__(self, document: Document) -> None:
        self._levels: dict[str, dict[int, etree._Element]] = {}
        self._abstract: dict[str, str] = {}
        self._starts: dict[str, dict[int, int]] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._styles = {str(style.get(f"{W}styleId")): style for style in document.styles.element.iter(f"{W}style")}
        for relation in document.part.rels.values():
            if relation.reltype.endswith("/numbering") and not relation.is_external:
                self._read(parse_xml(relation.target_part.blob))

    def _read(self, numbering: etree._Element) -> None:
        for abstract in numbering.iter(f"{W}abstractNum"):
            levels = {_number(level, "ilvl"): level for level in abstract.iter(f"{W}lvl")}
            self._levels[str(abstract.get(f"{W}abstractNumId"))] = levels
        for num in numbering.iter(f"{W}num"):
            key = str(num.get(f"{W}numId"))
            self._abstract[key] = _value(num, "abstractNumId")
            self._starts[key] = {
                _number(override, "ilvl"): parse_number(_value(override, "startOverride"), 1)
                for override in num.iter(f"{W}lvlOverride")
                if override.find(f"{W}startOverride") is not None
            }
        for abstract in numbering.iter(f"{W}abstractNum"):  # some refer to those of a style
            style = self._styles.get(_value(abstract, "numStyleLink"))
            named = None if style is None else style.find(f"{W}pPr/{W}numPr")
            if named is not None:
                same = self._levels.get(self._abstract.get(_value(named, "numId"), ""), {})
                self._levels[str(abstract.get(f"{W}abstractNumId"))] = same

    def next_number(self, paragraph: etree._Element) -> str:
        """The number of the next paragraph; "" if it has none, or a bullet."""
        key, depth = self._place(paragraph)
        levels = self._levels.get(self._abstract.get(key, ""), {})
        if depth not in levels:
            return ""
        counts = self._counts.setdefault(self._abstract[key], {})
        starts = self._starts[key]
        if depth in starts:  # only the first paragraph of this numbering begins anew
            counts[depth] = starts.pop(depth)
        else:
            counts[depth] = counts[depth] + 1 if depth in counts else _start(levels[depth])
        for deeper in [level for level in counts if level > depth]:
            del counts[deeper]
        if _value(levels[depth], "numFmt") == "bullet":
            return ""
        return _show(levels, depth, counts)

    def _place(self, paragraph: etree._Element) -> tuple[str, int]:
        """The numbering of a paragraph and its level in it; what the paragraph does not say its styles do."""
        key = depth = ""
        for properties in self._properties(paragraph):
            numbered = properties.find(f"{W}numPr")
            if numbered is not None:
                key, depth = key or _value(numbered, "numId"), depth or _value(numbered, "ilvl")
            if key:
                break
        return key, parse_number(depth, self._level_of_style(paragraph, key))

    def _properties(self, paragraph: etree._Element) -> Iterator[etree._Element]:
        """The properties of a paragraph and of its styles, the nearest first."""
        properties = paragraph.find(f"{W}pPr")
        if properties is None:
            return
        yield properties
        style = self._styles.get(_value(properties, "pStyle"))
        for _ in range(MAX_STYLE_DEPTH):
            if style is None:
                return
            properties = style.find(f"{W}pPr")
            if properties is not None:
                yield properties
            style = self._styles.get(_value(style, "basedOn"))

    def _level_of_style(self, paragraph: etree._Element, key: str) -> int:
        """The level that belongs to a paragraph's style, the first if none does."""
        properties = paragraph.find(f"{W}pPr")
        style = "" if properties is None else _value(properties, "pStyle")
        levels = self._levels.get(self._abstract.get(key, ""), {})
        return next((depth for depth, level in levels.items() if style and _value(level, "pStyle") == style), 0)


def _show(levels: dict[int, etree._Element], depth: int, counts: dict[int, int]) -> str:
    """The text of a number, such as `%1.%2`, with the counts of its levels."""
    plain = levels[depth].find(f"{W}isLgl") is not None

    def count(place: str) -> str:
        level = levels.get(int(place) - 1)
        kind = "none" if level is None else _value(level, "numFmt")
        number = counts.get(int(place) - 1, 1 if level is None else _start(level))
        if kind == "decimalZero":
            return f"{number:02}"
        return "" if kind == "none" else list_number(number, "1" if plain else _KINDS.get(kind, "1"))

    text = _PLACE.sub(lambda match: count(match[1]), _value(levels[depth], "lvlText"))
    return " ".join(text.split())[:MAX_NUMBER_CHARS]


def _start(level: etree._Element) -> int:
    return parse_number(_value(level, "start"), 1)


def _value(above: etree._Element, name: str) -> str:
    """The value of a child; "" if there is none."""
    child = above.find(f"{W}{name}")
    return "" if child is None else str(child.get(f"{W}val", ""))


def _number(node: etree._Element, name: str) -> int:
    return parse_number(str(node.get(f"{W}{name}", "")), 0)
