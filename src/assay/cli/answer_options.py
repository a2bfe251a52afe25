"""Options which say what form the answer has."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.options import Command


def typed(command: Command) -> Command:
    """`--schema FILE`."""
    return click.option(
        "--schema",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Fill this JSON Schema instead of writing a report; what is unknown is null.",
    )(command)
