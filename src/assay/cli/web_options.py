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
            help="Use the web beside --in, or never; without --in the web is used.",
        ),
        click.option(
            "--domain",
            "domains",
            multiple=True,
            metavar="HOST",
            help="Use only web pages of this host and its subdomains (gov.uk); repeatable.",
        ),
        click.option(
            "--not-domain",
            "not_domains",
            multiple=True,
            metavar="HOST",
            help="Ignore web pages of this host and its subdomains; repeatable.",
        ),
        click.option(
            "--since", metavar="DAY", help="Ignore web pages published before this date (2024-05-31, 2024-05, 2024)."
        ),
        click.option("--until", metavar="DAY", help="Ignore web pages published after this date."),
        click.option("--country", metavar="CODE", help="Search the web from this country (de, us)."),
        click.option("--fresh", is_flag=True, help="Fetch every page again, even those cached by earlier runs."),
    )
    for option in reversed(options):
        command = option(command)
    return command
