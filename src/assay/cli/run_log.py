"""`-vv`: the log of runs on stderr too."""

from __future__ import annotations

import click

from assay import settings
from assay.cli.display import can_draw
from assay.cli.terminal import TerminalOptions


def logged(configured: settings.Settings) -> settings.Settings:
    """The settings, with the whole log on stderr where `-vv` asks for it.

    Where stderr is a terminal which the live view draws on there is no room for lines: `log.file` keeps them.
    """
    context = click.get_current_context(silent=True)
    state = context.find_object(TerminalOptions) if context else None
    if state is None or state.verbosity < 2 or can_draw():
        return configured
    log = configured.log.model_copy(update={"stderr": True, "level": "debug"})
    return configured.model_copy(update={"log": log})
