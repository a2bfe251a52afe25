"""Options by which a run's owner keeps, or gives up, a hand on it."""

from __future__ import annotations

import click

from assay.cli.options import Command


def owning(command: Command) -> Command:
    """`--review-plan`, which goes to `Assay.start` as it is, and `--detach`."""
    review = click.option(
        "--review-plan",
        "review_plan",
        is_flag=True,
        flag_value="required",
        default=None,
        help="Edit and approve the plan first; without a terminal the run waits (exit 7).",
    )
    return review(detached(command))


def detached(command: Command) -> Command:
    """`--detach`."""
    return click.option("--detach", is_flag=True, help="Print the run's id and continue in the background.")(command)
