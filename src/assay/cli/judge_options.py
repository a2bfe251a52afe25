"""Options which name a judge for what is written already."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from assay.cli.options import Command
from assay.cli.progress import counted
from assay.core.usage import Usage


class Judge(msgspec.Struct, frozen=True):
    """What the options say: the model, whether it may see private documents, the home which remembers its answers."""

    model: str | None = None
    allow_private: bool = False
    home: Path | None = None


def judging(command: Command) -> Command:
    """`--model` and `--allow-private`."""
    command = click.option(
        "--allow-private", is_flag=True, help="Let a model which is not on this machine see private documents."
    )(command)
    return click.option("--model", metavar="PROVIDER:NAME", help="A model which judges what the rules do not decide.")(
        command
    )


def spent(model: str, usage: Usage) -> str:
    """What a judge took, in one line."""
    return f"judged by {model}: {counted(usage.model_calls, 'call')}, {usage.tokens:,} tokens"
