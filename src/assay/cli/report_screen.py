"""A report on a terminal: laid out for people, where Markdown would go into a file or a pipe."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import click

from assay import settings
from assay.cli.terminal import TerminalOptions, is_screen
from assay.core.later import later
from assay.core.markers import CitationMode
from assay.core.view import RunView

if TYPE_CHECKING:
    from assay.export import terminal
else:
    terminal = later("assay.export.terminal")

_LAID_OUT = ("numbers", "none")
"""The citation modes which are no wish for Markdown."""


def is_laid_out(citations: CitationMode) -> bool:
    """Whether a report is laid out here: on a terminal, unless Markdown is asked for."""
    context = click.get_current_context(silent=True)
    plain = context is not None and context.ensure_object(TerminalOptions).plain
    return is_screen() and not plain and citations in _LAID_OUT


def laid_out(view: RunView, citations: CitationMode) -> str:
    """The report as the terminal shows it, in its width and, unless `NO_COLOR` is set, its colours."""
    return terminal.render(view, citations, shutil.get_terminal_size().columns, colour=settings.surroundings().color)
