"""`--notify`, and the telling at a run's end."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import click

from assay import settings
from assay.cli.options import Command
from assay.cli.terminal import say
from assay.services.notices import RunNotice, Target, read_target


def notify(command: Command) -> Command:
    """`--notify COMMAND|URL|desktop`, repeatable."""
    return click.option(
        "--notify",
        multiple=True,
        metavar="COMMAND|URL|desktop",
        help="Notify this command, URL or your desktop when the run ends or needs an answer.",
    )(command)


def targets(named: Sequence[str], configured: settings.Settings) -> tuple[Target, ...]:
    """Who is told: those named, else whom the settings name.

    Raises:
        ConfigError: one is neither a command nor an address.
    """
    if named or configured.notify is None:
        return tuple(read_target(each, named=True) for each in named)
    return (read_target(configured.notify.get_secret_value()),)


async def tell(notice: RunNotice, told: Sequence[Target]) -> None:
    """Tell everybody; who could not be told is a warning."""
    if not told:
        return
    sending = importlib.import_module("assay.services.notices.delivery")  # by name: slow to load, and seldom needed
    for warning in await sending.send(notice, told):
        say(f"warning: {warning}")
