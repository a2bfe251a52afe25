"""The options which say what of the web a run may use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def web(command: Command) -> Command:
    """`--web/--offline`, `--domain`, `--not-domain`, `--since`, `--until`, `--country`, `--fresh`.

    They go to `Assay.start` as they are.
    """
    options = (
        click.option(
            "--web/--offline",
            default=None,
            help="Search and read the web too, beside --in; or leave it alone (without --in it is searched).",
        ),
        click.option(
            "--domain",
            "domains",
            multiple=True,
            metavar="HOST",
            help="Of the web only this host and those below it (gov.uk); again: several.",
        ),
        click.option(
            "--not-domain",
            "not_domains",
            multiple=True,
            metavar="HOST",
            help="Of the web nothing from this host and those below it; again: several.",
        ),
        click.option("--since", metavar="DAY", help="Of the web nothing published before (2024-05-31, 2024-05, 2024)."),
        click.option("--until", metavar="DAY", help="Of the web nothing published after."),
        click.option("--country", metavar="CODE", help="Search the web as from this country (de, us)."),
        click.option("--fresh", is_flag=True, help="Ask for every page anew, also those kept from earlier runs."),
    )
    for option in reversed(options):
        command = option(command)
    return command
