"""Options which say what becomes of a report once it is written."""

from __future__ import annotations

import click

from assay.cli.options import Command


def checking(command: Command) -> Command:
    """`--no-repair`; it goes to `Assay.start` as it is, None where the settings decide."""
    return click.option(
        "--no-repair",
        "repair",
        is_flag=True,
        flag_value=False,
        default=None,
        help="Keep sentences that fail verification as written, with their verdicts.",
    )(command)
