"""Whether a person can be asked, and asking before something is lost."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from assay import settings
from assay.cli.terminal import first_word, say
from assay.core.errors import UsageError

SHOWN = 20


def may_ask() -> bool:
    """Whether stdin and stderr are a person's terminal, and nothing in the environment says otherwise."""
    first_word.erase()
    return sys.stdin.isatty() and sys.stderr.isatty() and settings.surroundings().interactive


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
