"""The options which say what documents a run sees, and where they may go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from assay.cli.stored_names import in_places

Command = TypeVar("Command", bound=Callable[..., Any])


def places(more: str = "; - reads them from stdin") -> Callable[[Command], Command]:
    """`--in PATH…`; `more` ends its help."""
    return click.option(
        "--in",
        "paths",
        multiple=True,
        metavar="PATH…",
        shell_complete=in_places,
        help=f"Search only these files, folders, globs, page addresses or collections (@NAME){more}.",
    )


def scope(command: Command) -> Command:
    """`--in` and `--allow-private`; the latter goes to `Assay.start` as it is."""
    private = click.option(
        "--allow-private",
        is_flag=True,
        help="Let remote models see documents in private collections, and search the web beside them.",
    )
    return places()(private(command))
