"""Texts whose lines are blocks already: printed pages and table rows."""

from __future__ import annotations

from collections.abc import Iterator

from assay.core.sources import BlockKind
from assay.evidence.segment import lines as shape
from assay.evidence.segment.blocks import TextBlock

PAGE_BREAK = "\f"


def pages(text: str) -> Iterator[TextBlock]:
    """A paragraph or list item a line, each with its page, from 1; a form feed ends a page."""
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


def rows(text: str) -> Iterator[TextBlock]:
    """A table row a line."""
    for line in shape.lines(text):
        if line.body:
            yield TextBlock("row", line.start, line.end, ())
