"""Tables: aligned for a person, tab-separated for a program."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.cli.terminal import clean, write
from assay.core.later import later

if TYPE_CHECKING:
    from assay.cli import rich_tables
else:
    rich_tables = later("assay.cli.rich_tables")


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Rows on stdout: aligned columns on a terminal, tab-separated values without headings elsewhere."""
    cells = [[clean(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        rich_tables.draw(headings, cells)
        return
    for row in cells:
        write("\t".join(row))
