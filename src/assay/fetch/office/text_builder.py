"""Headings, paragraphs, items and tables as the text form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assay.core.errors import ExtractError
from assay.core.sources import LONGEST_PASSAGE
from assay.fetch.table import names_of, one_cell, row_lines, split_head
from assay.fetch.text_decoder import clean

MOST_TEXT = 64 * 1024 * 1024
"""Code points taken from one document."""
DEEPEST = 6
BARS = len("|  |")


class TextBuilder:
    """Collects blocks, each below the one before; `text` is all of them."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self._item = False

    def heading(self, text: str, level: int) -> None:
        """A heading; levels beyond the deepest are the deepest."""
        if text := _one_line(text):
            self._add(f"{'#' * max(1, min(level, DEEPEST))} {text}")

    def paragraph(self, text: str) -> None:
        if text := _one_line(text):
            # a sign at the beginning would make it something else
            self._add(f"\\{text}" if text[0] in "#|" else text)

    def item(self, text: str, level: int = 0) -> None:
        """An item of a list, `level` lists deep."""
        if text := _one_line(text):
            self._add("  " * max(0, min(level, DEEPEST)) + f"- {text}", item=True)

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """A row is `| header: cell | header: cell |`, as long as the table has a header; empty cells are left out.

        What has one column, or one row, is there for the layout: its cells are paragraphs.
        """
        cells = [[one_cell(clean(cell)) for cell in row] for row in rows]
        cells = [row for row in cells if any(row)]
        if len(cells) < 2 or max(map(len, cells)) < 2:
            for row in cells:
                for cell in filter(None, row):
                    self.paragraph(cell)
            return
        lines = [f"| {line} |" for line in labelled(cells, LONGEST_PASSAGE - BARS)]
        self._add("\n".join(lines))

    def block(self, text: str) -> None:
        """Text which is in the text form already."""
        if text.strip():
            self._add(text.strip("\n"))

    @property
    def text(self) -> str:
        """All of it, with a line's end."""
        return "".join(self._parts) + "\n" if self._parts else ""

    def _add(self, block: str, *, item: bool = False) -> None:
        self._size += len(block) + 2
        if self._size > MOST_TEXT:
            raise ExtractError(f"it holds more than {MOST_TEXT >> 20} million characters; split it")
        gap = "" if not self._parts else "\n" if item and self._item else "\n\n"
        self._parts.append(gap + block)
        self._item = item


def labelled(rows: list[list[str]], longest: int) -> list[str]:
    """The lines of a table, its header told from its rows; notes above it come first."""
    columns = Counter(map(len, rows)).most_common(1)[0][0]
    above, head, below = split_head(rows, columns)
    header = names_of(head) if head else []
    lines = [line for row in above for line in row_lines(row, (), longest)]
    return lines + [line for row in below for line in row_lines(row, header, longest)]


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())
