"""Lines of fixed width: what stands left gives way to what stands right."""

from __future__ import annotations

from rich.text import Text

from assay.cli.terminal import clean

GAP = 2


def words(text: str, style: str = "") -> Text:
    """Text that others wrote, on one line and harmless."""
    return Text(clean(text), style=style, no_wrap=True)


def row(left: Text, right: Text, width: int) -> Text:
    """One line of at most `width` cells; `right` ends at the edge, and is left out where it takes more than half."""
    if not right.cell_len or right.cell_len + GAP > width / 2:
        return cut(left, width)
    left = cut(left, width - right.cell_len - GAP)
    space = width - left.cell_len - right.cell_len
    return Text.assemble(left, " " * space, right, no_wrap=True)


def cut(text: Text, width: int) -> Text:
    """`text` in at most `width` cells, its end an ellipsis where something is missing."""
    text = text.copy()
    text.truncate(max(width, 0), overflow="ellipsis")
    return text


def fill(text: Text, width: int) -> Text:
    """`text` in exactly `width` cells."""
    text = cut(text, width)
    text.pad_right(width - text.cell_len)
    return text
