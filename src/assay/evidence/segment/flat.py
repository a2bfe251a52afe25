"""Texts whose lines are blocks already: printed pages and table rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from assay.core.lazy import regex
from assay.core.sources import BlockKind
from assay.core.tables.heads import DAY
from assay.core.text import ends_sentence
from assay.evidence.segment import lines as shape
from assay.evidence.segment.blocks import TextBlock

PAGE_BREAK = "\f"


def page_blocks(text: str) -> Iterator[TextBlock]:
    """A paragraph or list item per line, each with its page, from 1; a form feed ends a page."""
    start = 0
    for number, page in enumerate(text.split(PAGE_BREAK), 1):
        for line in shape.lines(page):
            if not line.body:
                continue
            bullet = shape.BULLET.match(line.body)
            first = start + line.start + line.text.index(line.body)
            kind: BlockKind = "item" if bullet or shape.NUMBERED.match(line.body) else "paragraph"
            kind = "navigation" if shape.is_leader(line.body) else kind
            if line.body.startswith("| ") and line.body.endswith(" |"):
                kind = "row"
            yield TextBlock(kind, first + (bullet.end() if bullet else 0), start + line.end, (), number)
        start += len(page) + len(PAGE_BREAK)


MAX_TITLE_CHARS = 200
"""Characters of a title above rows; a longer line says something."""
_PLACE_OF_ROW = regex(r" \| cells: [A-Z]+\d+:[A-Z]+\d+$")
"""What a sheet's reader writes behind each row."""


def row_blocks(text: str) -> Iterator[TextBlock]:
    """A table row per line. A title above the rows is their heading, and no row: it answers nothing."""
    heading: tuple[str, ...] = ()
    rows = (line for line in shape.lines(text) if line.body)
    first, second = next(rows, None), next(rows, None)
    if first is not None and second is not None and (title := _title(first.body)):
        yield TextBlock("heading", first.start, first.end, (title,))
        first, heading = None, (title,)
    for line in (each for each in chain((first, second), rows) if each is not None):
        yield TextBlock("row", line.start, line.end, heading)


def _title(line: str) -> str:
    """The title that the first line of a table is: one cell, without a day, and no sentence; else ""."""
    title = _PLACE_OF_ROW.sub("", line)
    has_cells = any(sign in title for sign in ":：|")
    is_title = len(title) <= MAX_TITLE_CHARS and not (has_cells or DAY.search(title) or ends_sentence(title))
    return title if is_title else ""
