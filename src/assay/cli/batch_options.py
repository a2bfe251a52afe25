"""Options of `assay batch`: the total, how many at once, and the form of the reports."""

from __future__ import annotations

import click

from assay.cli.budget_options import Money
from assay.cli.options import Command, Count, Duration


def total(command: Command) -> Command:
    """`--max-usd`, `--max-tokens`: of all runs together; `--max-time`: of each; `--at-once`, `--format`."""
    options = (
        click.option(
            "--at-once", type=click.IntRange(1, 64), default=2, show_default=True, help="Number of runs at a time."
        ),
        click.option("--max-usd", type=Money(), metavar="USD", help="Limit for all runs together in US dollars (5)."),
        click.option("--max-tokens", type=Count(), metavar="COUNT", help="Limit for all runs together in tokens (2m)."),
        click.option("--max-time", type=Duration(), metavar="TIME", help="Time limit for each run (90s, 5m)."),
        click.option(
            "--format",
            "suffix",
            default="md",
            show_default=True,
            metavar="FORMAT",
            help="Format of the reports: md, html …",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command
