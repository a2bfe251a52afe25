"""The numbers that OpenDocument programs show before headings and items: "4.2", "(a)".

OpenDocument 1.3, part 3, sections 5.3 and 16.31: a list names a style, whose levels say how they are numbered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.fetch.list_numbers import list_number
from assay.fetch.text_form import parse_number

if TYPE_CHECKING:
    from lxml import etree

TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_ID = "{http://www.w3.org/XML/1998/namespace}id"
_BLOCKS = (f"{TEXT}p", f"{TEXT}h")
_LEVEL_TAGS = (f"{TEXT}list-level-style-number", f"{TEXT}outline-level-style")

Levels = dict[int, "etree._Element"]
"""The numbered levels of a style, from 1."""


class OpenNumbers:
    """The numbers of the paragraphs and headings of a body, by the styles in these parts."""

    def __init__(self, parts: list[etree._Element], body: etree._Element) -> None:
        self.numbers: dict[etree._Element, str] = {}
        self._styles: dict[str, Levels] = {}
        self._outline: Levels = {}
        for part in parts:
            for style in part.iter(f"{TEXT}list-style", f"{TEXT}outline-style"):
                levels = {_number(level, "level", 1): level for level in style.iter(*_LEVEL_TAGS)}
                self._styles[str(style.get(f"{STYLE}name"))] = levels
                if style.tag == f"{TEXT}outline-style":
                    self._outline = levels
        self._headings: dict[int, int] = {}
        self._lists: dict[str, dict[int, int]] = {}
        """The last counts of lists, by `#` with their keys, and by their styles."""
        for node in body.iter(f"{TEXT}list", f"{TEXT}h"):
            if next(node.iterancestors(f"{TEXT}list", f"{TEXT}tracked-changes"), None) is None:
                (self._number_heading if node.tag == f"{TEXT}h" else self._number_list)(node)

    def _number_heading(self, heading: etree._Element) -> None:
        if heading.get(f"{TEXT}is-list-header") != "true":
            depth = _number(heading, "outline-level", 1)
            _count(self._outline, depth, self._headings)
            self._note(heading, self._outline, depth, self._headings)

    def _number_list(self, outer: etree._Element) -> None:
        """Number the items of a list and of those in it."""
        style = str(outer.get(f"{TEXT}style-name", ""))
        levels, before = self._styles.get(style, {}), str(outer.get(f"{TEXT}continue-list", ""))
        goes_on = outer.get(f"{TEXT}continue-numbering") == "true"
        counts = self._lists.get(f"#{before}" if before else style, {}) if before or goes_on else {}
        self._lists[style] = self._lists[f"#{outer.get(_ID, '')}"] = counts
        for item in outer.iter(f"{TEXT}list-item"):
            depth = sum(1 for _ in item.iterancestors(f"{TEXT}list"))
            if (start := item.get(f"{TEXT}start-value")) is not None:
                counts[depth] = parse_number(str(start), 1) - 1
            first = next((child for child in item if child.tag in _BLOCKS), None)
            if first is not None:
                _count(levels, depth, counts)
                self._note(first, levels, depth, counts)

    def _note(self, node: etree._Element, levels: Levels, depth: int, counts: dict[int, int]) -> None:
        if depth in levels and (number := _show(levels, depth, counts)):
            self.numbers[node] = number


def _count(levels: Levels, depth: int, counts: dict[int, int]) -> None:
    """Count an item of a level, below which counting begins anew."""
    counts[depth] = counts[depth] + 1 if depth in counts else _start(levels, depth)
    for deeper in [level for level in counts if level > depth]:
        del counts[deeper]


def _show(levels: Levels, depth: int, counts: dict[int, int]) -> str:
    level = levels[depth]
    first = max(depth - _number(level, "display-levels", 1) + 1, 1)
    shown = [
        list_number(counts.get(each, _start(levels, each)), kind)
        for each in range(first, depth + 1)
        if each in levels and (kind := str(levels[each].get(f"{STYLE}num-format", "")))
    ]
    if not level.get(f"{STYLE}num-format"):
        return ""
    return f"{level.get(f'{STYLE}num-prefix', '')}{'.'.join(shown)}{level.get(f'{STYLE}num-suffix', '')}".strip()


def _start(levels: Levels, depth: int) -> int:
    return _number(levels[depth], "start-value", 1) if depth in levels else 1


def _number(node: etree._Element, name: str, otherwise: int) -> int:
    return parse_number(str(node.get(f"{TEXT}{name}", "")), otherwise)
