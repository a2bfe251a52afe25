"""Pages nested deeper than any browser shows: the tags beyond are taken out before they are read.

HTML's own rules look at every open block for each new one, so that reading a megabyte of `<div>` takes minutes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

DEEPEST = 512
"""Open blocks; browsers stop there too."""
_BLOCKS = (
    "address|article|aside|blockquote|center|details|dialog|dir|div|dl|fieldset|figcaption|figure|footer|form|header"
    "|hgroup|main|menu|nav|ol|search|section|summary|table|ul"
)
_TAG = re.compile(rf"<(/?)(?:{_BLOCKS})(?=[\s/>])[^<>]*>?", re.IGNORECASE)


def shallow(page: str) -> str:
    """`page`, without the tags of blocks which would be open beside `DEEPEST` others; their text stays."""
    if page.count("<") <= DEEPEST:
        return page
    pieces, at = list[str](), 0
    for start, end in _too_deep(page):
        pieces.append(page[at:start])
        at = end
    return "".join([*pieces, page[at:]]) if pieces else page


def _too_deep(page: str) -> Iterator[tuple[int, int]]:
    """Where tags stand which open a block too many, and those which close it again."""
    depth = 0
    for tag in _TAG.finditer(page):
        if tag[1]:
            beyond, depth = depth > DEEPEST, max(0, depth - 1)
        else:
            beyond, depth = depth >= DEEPEST, depth + 1
        if beyond:
            yield tag.span()
