"""Tables: aligned for a person, tab-separated for a program."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from assay.cli.terminal import clean, write
from assay.settings import surroundings


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Rows on stdout: aligned columns on a terminal, tab-separated values without headings elsewhere."""
    cells = [[clean(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _draw(headings, cells)
        return
    for row in cells:
        write("\t".join(row))


def _draw(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        drawn.add_column(heading, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))  # Text: a title in square brackets is no markup
    Console(no_color=not surroundings().color, highlight=False).print(drawn)
