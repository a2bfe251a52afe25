"""Options which name a judge for what is written already."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from assay.cli import run_options
from assay.cli.figures import joined, price
from assay.cli.options import Command
from assay.cli.progress import counted
from assay.core.usage import Usage


class JudgeOptions(msgspec.Struct, frozen=True):
    """What the options say: the model, whether it may see private documents, what it may take.

    `home` is that which remembers its answers.
    """

    model: str | None = None
    allow_private: bool = False
    max_usd: float | None = None
    max_tokens: int | None = None
    home: Path | None = None


def judging(command: Command) -> Command:
    """`--model`, `--max-usd`, `--max-tokens` and `--allow-private`."""
    named = click.option("--model", metavar="PROVIDER:NAME", help="Model that judges the claims the rules leave open.")
    return named(run_options.run_options("judge")(command))


def spent(model: str, usage: Usage) -> str:
    """What a judge took, in one line."""
    calls = counted(usage.model_calls, "call")
    return f"judged by {model}: {joined((calls, f'{usage.tokens:,} tokens', price(usage)), ', ')}"
