"""The end of the report while it is written."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from assay.cli.live.columns import words
from assay.core.view import RunView

LINES = 3
INDENT = 2


def writing(view: RunView, width: int) -> list[Text]:
    """The last lines of the report, always as many, while its phase lasts; nothing before and after."""
    if view.active_phase != "write" or view.report.state != "writing" or width <= INDENT:
        return []
    tail = view.report.text[-width * (LINES + 1) :]
    wrapped = words(tail, "italic").wrap(Console(width=width), width - INDENT)[-LINES:]
    lines = [Text.assemble(" " * INDENT, line, no_wrap=True) for line in wrapped]
    return lines + [Text()] * (LINES - len(lines))
