"""The numbers of list items, which a program or browser shows and a file does not hold as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.core.lazy import regex

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_LETTER_NUMBER, MAX_ROMAN = 26 * 26, 3_999
"""Higher numbers stay in digits."""
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc")),
    *((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def list_number(number: int, kind: str) -> str:
    """A number as lists of a kind show it, which is named as in HTML: `1`, `a`, `A`, `i`, `I`."""
    if kind in ("a", "A") and 0 < number <= MAX_LETTER_NUMBER:
        high, low = divmod(number - 1, 26)
        text = (chr(ord("a") + high - 1) if high else "") + chr(ord("a") + low)
    elif kind in ("i", "I") and 0 < number <= MAX_ROMAN:
        text = ""
        for value, letters in _ROMAN:
            count, number = divmod(number, value)
            text += letters * count
    else:
        return str(number)
    return text if kind.islower() else text.upper()


_NUMBER = regex(r"\s*[+-]?\d{1,9}")
_BARE_STYLE = regex(r"list-style(?:-type)?\s*:[^;]*\bnone\b", re.IGNORECASE)
_KINDS = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}
"""The classes of docutils."""
_SECTIONS = "h1, h2, h3, h4, h5, h6, article, section, table, form"
"""What a numbered item does not hold: lists of results and comments are numbered in the file alone."""
_LISTS, _WRAPPERS = frozenset(("ol", "ul", "dl")), frozenset(("p", "div", "span"))
MAX_WRAPPERS = 5


def number_items(root: LexborNode) -> None:
    """Write the number of each item of an ordered list before its text."""
    bare = _lists_of_sections(root)
    for ordered in root.css("ol"):
        attributes = ordered.attributes
        if ordered.mem_id in bare or _BARE_STYLE.search(attributes.get("style") or ""):
            continue
        items = [node for node in _children(ordered) if node.tag == "li"]
        classes = (attributes.get("class") or "").split()
        kind = attributes.get("type") or next((_KINDS[name] for name in classes if name in _KINDS), "1")
        step = -1 if "reversed" in attributes else 1
        number = _integer(attributes.get("start"), 1 if step > 0 else len(items))
        for item in items:
            number = _integer(item.attributes.get("value"), number)
            _write_before(item, f"{list_number(number, kind)}. ")
            number += step


def _lists_of_sections(root: LexborNode) -> frozenset[int]:
    """The lists with sections in them; each is found once, however deeply they are nested."""
    lists, seen = set[int](), set[int]()
    for section in root.css(_SECTIONS):
        above = section.parent
        while above is not None and above.mem_id not in seen:
            seen.add(above.mem_id)
            if above.tag == "ol":
                lists.add(above.mem_id)
            above = above.parent
    return frozenset(lists)


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        yield child
        child = child.next


def _integer(value: str | None, otherwise: int) -> int:
    match = _NUMBER.match(value or "")
    return int(match[0]) if match else otherwise


def _write_before(item: LexborNode, text: str) -> None:
    """Write a text at the beginning of the first line of an item, if it begins with one."""
    node = item
    for _ in range(MAX_WRAPPERS):
        first = next(
            (child for child in _children(node) if child.tag != "-text" or (child.text_content or "").strip()), None
        )
        if first is None or first.tag in _LISTS:
            return
        if first.tag not in _WRAPPERS:
            first.insert_before(text)
            return
        node = first
