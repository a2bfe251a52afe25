"""What a command shows a person: text without control characters, tables, questions; and its exit code."""

from __future__ import annotations

import contextlib
import os
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import click

from assay.core.errors import StoreError, UsageError
from assay.core.later import later

if TYPE_CHECKING:
    from rich import console as rich_console
    from rich import table as rich_table
    from rich import text as rich_text

    from assay import settings
else:
    rich_console = later("rich.console")
    rich_table = later("rich.table")
    rich_text = later("rich.text")
    settings = later("assay.settings")


@dataclass
class TerminalOptions:
    """What the options of any command say: -1 quiet, 0 normal, 1 `-v`, 2 `-vv`; `plain` wants Markdown on a screen."""

    verbosity: int = 0
    plain: bool = False


def clean(text: str) -> str:
    """`text` on one line, with nothing that could steer a terminal or reorder what stands there."""
    return " ".join(harmless(text).split())


def cleaned(line: str) -> str:
    """`line` as `clean` makes it, indented as it is."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    return indent + clean(line)


def harmless(text: str) -> str:
    """`text` without control characters (line feed and tab stay) and without directional overrides.

    Names, titles and reports are written by others; an escape sequence in one would be obeyed by the terminal.
    """
    return "".join(char for char in text if char in "\n\t" or not _steers(char))


def _steers(char: str) -> bool:
    return unicodedata.category(char) == "Cc" or "\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069"


class ReaderGone(Exception):
    """Who read our stdout has left (`assay … | head`): nothing went wrong, and nothing more is to be said."""


class FirstWord:
    """What stands on a terminal while a command's parts are loaded, until anything else is shown.

    It has no line of its own and no control sequence but the carriage return, so that any terminal takes it.
    """

    TEXT = "starting..."

    def __init__(self) -> None:
        self._shown = False

    def show(self) -> None:
        """Write it, where stderr is a terminal."""
        if not self._shown and sys.stderr is not None and sys.stderr.isatty():
            self._shown = True
            self._write(f"{self.TEXT}\r")

    def erase(self) -> None:
        """Take it away, if it is there."""
        if self._shown:
            self._shown = False
            self._write(f"\r{' ' * len(self.TEXT)}\r")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()


first_word = FirstWord()


def say(line: str) -> None:
    """A line on stderr, indented as it is; that nobody reads it is no reason to stop."""
    first_word.erase()
    with contextlib.suppress(BrokenPipeError):
        click.echo(cleaned(line), err=True)


def write(text: str, *, hint: str = "") -> None:
    """Text on stdout: as it is into a file or pipe, made harmless for a terminal; `hint` is for when it cannot be.

    Raises:
        ReaderGone: nobody reads it any more.
        StoreError: it cannot be written (the disk is full).
    """
    put(harmless(text) if is_screen() else text, hint=hint)


def put_aside(sequence: str) -> None:
    """A control sequence for the terminal behind stderr, where no report is."""
    first_word.erase()
    with contextlib.suppress(OSError):
        click.echo(sequence, nl=False, err=True, color=True)


def is_screen() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def put(text: str, *, hint: str = "") -> None:
    """As `write`, for text which steers a terminal on purpose and was made harmless by whoever laid it out."""
    first_word.erase()
    try:
        click.echo(text, nl=not text.endswith("\n"), color=True)
    except BrokenPipeError as error:
        raise ReaderGone from error  # click would make an exit code of 1 of the other
    except OSError as error:
        _silence()
        raise StoreError(f"stdout cannot be written: {error.strerror}{hint and f'; {hint}'}") from error


def _silence() -> None:
    """Let stdout go nowhere: what is left in its buffer would fail again when the interpreter ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # a stdout which is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


SHOWN = 20


def may_ask() -> bool:
    """Whether stdin and stderr are a person's terminal, and nothing in the environment says otherwise."""
    first_word.erase()
    return sys.stdin.isatty() and sys.stderr.isatty() and settings.surroundings().interactive


def confirm(question: str, named: Sequence[str], *, yes: bool) -> None:
    """Ask on a terminal, after naming what is meant; elsewhere only `--yes` does it.

    Raises:
        UsageError: nobody is there to ask.
        click.Abort: the answer was no.
    """
    if yes:
        return
    if not may_ask():
        raise UsageError(f"{question} Nobody can be asked here: say --yes")
    for line in named[:SHOWN]:
        say(f"  {line}")
    if len(named) > SHOWN:
        say(f"  … and {len(named) - SHOWN} more")
    click.confirm(question, abort=True, err=True)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Rows on stdout: aligned columns on a terminal, tab-separated values without headings elsewhere."""
    cells = [[clean(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _draw(headings, cells)
        return
    for row in cells:
        write("\t".join(row))


def _draw(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Rows on stdout as aligned columns under their headings."""
    first_word.erase()
    drawn = rich_table.Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        drawn.add_column(heading, overflow="fold")
    for row in rows:
        drawn.add_row(*(rich_text.Text(cell) for cell in row))  # Text: a title in square brackets is no markup
    rich_console.Console(no_color=not settings.surroundings().color, highlight=False).print(drawn)


class Exit(IntEnum):
    """0 to 7 are Assay's, the last three what shells expect after a signal."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    UNVERIFIED = 3
    PAUSED = 4
    LIMIT = 5
    NO_EVIDENCE = 6
    INPUT_NEEDED = 7
    CANCELLED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143
