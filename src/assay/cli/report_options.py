"""The options which say what a report should be like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def report(command: Command) -> Command:
    """`--length`, `--lang`, `--template`, `--instructions`; they go to `Assay.start` as they are."""
    length = click.option(
        "--length",
        metavar="LENGTH",
        help="Length: short, normal (300 to 2,000 words, by depth), long, or in words.",
    )
    language = click.option(
        "--lang", "language", metavar="CODE", help="Language of the report (de, pt-BR); default: that of the question."
    )
    template = click.option(
        "--template",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Markdown file with the headings the report must have.",
    )
    instructions = click.option(
        "--instructions",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Further instructions for the report: style, emphasis, readers.",
    )
    return length(language(template(instructions(command))))
