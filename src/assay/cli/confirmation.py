"""Asking before something is lost."""

from __future__ import annotations

from collections.abc import Sequence

import click

from assay.cli.questions import may_ask
from assay.cli.terminal import say
from assay.core.errors import UsageError

SHOWN = 20


def confirm(question: str, named: Sequence[str], *, yes: bool) -> None:
    """Ask on a terminal, after naming what is meant; elsewhere only `--yes` does it.

    Raises:
        UsageError: nobody is there to ask.
        click.Abort: the answer was no.
    """
    if yes:
        return
    if not may_ask():
        raise UsageError(f"{question} Nobody can be asked here: say --yes")
    for line in named[:SHOWN]:
        say(f"  {line}")
    if len(named) > SHOWN:
        say(f"  … and {len(named) - SHOWN} more")
    click.confirm(question, abort=True, err=True)
