"""Tables drawn on a terminal; loaded where there is one."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from assay.cli.terminal import first_word
from assay.settings import surroundings


def draw(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Rows on stdout as aligned columns under their headings."""
    first_word.erase()
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        drawn.add_column(heading, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))  # Text: a title in square brackets is no markup
    Console(no_color=not surroundings().color, highlight=False).print(drawn)
