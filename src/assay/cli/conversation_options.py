"""Options of a run which talks with its user: clarifying questions, threads, going on from an earlier run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from assay.cli.options import Command
from assay.cli.stored_names import run_ids
from assay.core.decoders import UNREADABLE

LARGEST = 1_000_000
"""Bytes of a file of answers."""


def read_answers(text: str) -> list[str] | dict[str, str]:
    """Answers out of a text: a JSON list, a JSON object by question, or a line each. An empty one leaves it open.

    Raises:
        click.UsageError: it begins as JSON and is neither.
    """
    if text.lstrip()[:1] not in ("[", "{"):
        return text.splitlines()
    try:
        return msgspec.json.decode(text, type=list[str] | dict[str, str])
    except UNREADABLE as error:
        raise click.UsageError(
            f"answers are a JSON list of texts, or an object of texts by question: {error}"
        ) from error


def _answers(ctx: click.Context, param: click.Parameter, value: Path | None) -> list[str] | dict[str, str] | None:
    if value is None:
        return None
    try:
        data = sys.stdin.buffer.read(LARGEST + 1) if str(value) == "-" else _read(value)
        if len(data) > LARGEST:
            raise click.BadParameter(f"{value} holds more than {LARGEST:,} bytes")
        return read_answers(data.decode("utf-8-sig"))
    except OSError as error:
        raise click.BadParameter(f"{value} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise click.BadParameter(f"{value} is not text in UTF-8") from error


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST + 1)


def answers(command: Command) -> Command:
    """`--answers FILE`."""
    return click.option(
        "--answers",
        type=click.Path(path_type=Path),
        callback=_answers,
        metavar="FILE",
        help="Answers to clarifying questions: JSON, or one a line; - reads stdin.",
    )(command)


def conversing(command: Command) -> Command:
    """`--thread`, `--continue`, `--ask`, `--no-clarify`, `--answers`."""
    options: tuple[Any, ...] = (
        click.option(
            "--thread", metavar="NAME", help="Conversation this question belongs to; its earlier messages are known."
        ),
        click.option(
            "--continue",
            "continues",
            metavar="RUN",
            shell_complete=run_ids,
            help="Continue from the evidence of an earlier run (its id, the start of it, or last).",
        ),
        click.option(
            "--ask",
            type=click.Choice(["never", "optional", "required"]),
            help="Ask if unclear; required: wait (exit 7).",
        ),
        click.option("--no-clarify", "ask", flag_value="never", help="Ask no clarifying questions (--ask never)."),
        answers,
    )
    for option in reversed(options):
        command = option(command)
    return command
