"""Output for a person: text without control characters, tables, questions; and its exit code."""

from __future__ import annotations

import contextlib
import os
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, TextIO

import click

from assay.core.errors import StoreError, UsageError
from assay.core.lazy import lazy_module, regex

if TYPE_CHECKING:
    import shutil

    import msgspec
    from rich import cells as rich_cells
    from rich import console as rich_console
    from rich import table as rich_table
    from rich import text as rich_text

    from assay import settings
else:
    shutil = lazy_module("shutil")
    msgspec = lazy_module("msgspec")
    rich_cells = lazy_module("rich.cells")
    rich_console = lazy_module("rich.console")
    rich_table = lazy_module("rich.table")
    rich_text = lazy_module("rich.text")
    settings = lazy_module("assay.settings")


@dataclass
class TerminalOptions:
    """The options of every command: -1 quiet, 0 normal, 1 `-v`, 2 `-vv`; `plain` requests Markdown on a screen."""

    verbosity: int = 0
    plain: bool = False


def clean(text: str) -> str:
    """`text` on one line, without anything that could control a terminal or reorder its text."""
    return " ".join(strip_controls(text).split())


def clean_line(line: str) -> str:
    """`line` after `clean`, with its indentation."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    return indent + clean(line)


def strip_controls(text: str) -> str:
    """`text` without control characters (line feed and tab stay) and without directional overrides.

    Names, titles and reports are written by others; a terminal would obey an escape sequence in them.
    """
    return "".join(char for char in text if char in "\n\t" or not _is_control(char))


def _is_control(char: str) -> bool:
    return unicodedata.category(char) == "Cc" or "\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069"


class ReaderGone(Exception):
    """The reader of our stdout is gone (`assay … | head`): not an error, and nothing more is to be printed."""


class FirstWord:
    """The word a terminal shows while a command's parts are loaded, until there is other output.

    It has no line of its own and no control sequence except the carriage return, so that any terminal accepts it.
    """

    TEXT = "starting..."

    def __init__(self) -> None:
        self._shown = False

    def show(self) -> None:
        """Write it, if stderr is a terminal."""
        if not self._shown and sys.stderr is not None and sys.stderr.isatty():
            self._shown = True
            self._write(f"{self.TEXT}\r")

    def erase(self) -> None:
        """Erase it, if it is there."""
        if self._shown:
            self._shown = False
            self._write(f"\r{' ' * len(self.TEXT)}\r")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()


first_word = FirstWord()


def say(line: str, *, at_words: bool = False) -> None:
    """Print a line on stderr with its indentation; a missing reader is no reason to stop.

    `at_words` wraps it on a terminal. Lines with long commands are left to the terminal, so that they can be copied.
    """
    first_word.erase()
    line = clean_line(line)
    if at_words and sys.stderr is not None and sys.stderr.isatty():
        line = wrap(line, _width_of(sys.stderr))
    with contextlib.suppress(BrokenPipeError):
        click.echo(line, err=True)


def write(text: str, *, hint: str = "") -> None:
    """Write text to stdout: unchanged into a file or pipe, made harmless for a terminal; `hint` is for failures.

    Raises:
        ReaderGone: the reader is gone.
        StoreError: it cannot be written (the disk is full).
    """
    write_raw(strip_controls(text) if is_screen() else text, hint=hint)


def write_lines(lines: Iterable[str], *, hang: int = 0) -> None:
    """Write lines for a person to stdout: wrapped at words on a terminal (see `wrap`), unchanged elsewhere.

    Raises:
        ReaderGone, StoreError: as `write`.
    """
    width = shutil.get_terminal_size().columns if is_screen() else 0
    if wrapped_lines := [wrap(strip_controls(line), width, hang) if width else line for line in lines]:
        write("\n".join(wrapped_lines))


_WORD, _GAP = regex(r" *[^ ]+"), regex(r" *[^ ]+ {2,}")
"""A word with the space before it; a line's first word with a gap after it, as in a table without borders."""
_FARTHEST = 16
"""The last column at which text beside such a word goes on below itself."""


def wrap(text: str, width: int, hang: int = 0) -> str:
    """`text` broken at words into lines of at most `width` columns.

    What is left of a line goes on below its indentation and `hang` more, or below the text that follows a short first
    word and a gap. A word that is longer than a line, such as an address, stays whole: the terminal breaks it where it
    ends, and it can be copied.
    """
    return "\n".join(_wrap_line(line, width, hang) for line in text.split("\n"))


def _wrap_line(line: str, width: int, hang: int) -> str:
    if rich_cells.cell_len(line) <= width:
        return line
    gap = _GAP.match(line)
    below = gap.end() if gap and gap.end() <= _FARTHEST else len(line) - len(line.lstrip(" ")) + hang
    below = below if below < width // 2 else 0
    lines, used = [""], 0
    for word in _WORD.findall(line):
        alone = " " * below + word.lstrip(" ")
        after = used + rich_cells.cell_len(word)
        if lines[-1] and after > width >= rich_cells.cell_len(alone):
            lines.append(alone)
            used = rich_cells.cell_len(alone)
        else:
            lines[-1] += word
            used = after if after <= width else after % width
    return "\n".join(lines)


def _width_of(screen: TextIO) -> int:
    """The columns of a terminal; the default of `shutil` if it does not say."""
    try:
        columns = os.get_terminal_size(screen.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return columns or shutil.get_terminal_size().columns


def write_json(data: object, *, line: bool = False) -> None:
    """Write data to stdout as JSON, indented or as a single line."""
    encoded = msgspec.json.encode(data)
    write((encoded if line else msgspec.json.format(encoded)).decode())


def send_control(sequence: str) -> None:
    """Send a control sequence to the terminal behind stderr, which gets no report."""
    first_word.erase()
    with contextlib.suppress(OSError):
        click.echo(sequence, nl=False, err=True, color=True)


def is_screen() -> bool:
    """True if stdout is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def write_raw(text: str, *, hint: str = "") -> None:
    """Like `write`, for text that controls a terminal on purpose and was made harmless when it was laid out."""
    first_word.erase()
    try:
        click.echo(text, nl=not text.endswith("\n"), color=True)
    except BrokenPipeError as error:
        raise ReaderGone from error  # click would exit with 1 for the original error
    except OSError as error:
        _silence()
        raise StoreError(f"stdout cannot be written: {error.strerror}{hint and f'; {hint}'}") from error


def _silence() -> None:
    """Discard stdout: the rest of its buffer would fail again when the interpreter exits."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # a stdout that is not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


MAX_SHOWN = 20


def can_ask() -> bool:
    """True if stdin and stderr are a person's terminal, and nothing in the environment says otherwise."""
    first_word.erase()
    return sys.stdin.isatty() and sys.stderr.isatty() and settings.terminal_environment().interactive


def confirm(question: str, items: Sequence[str], *, yes: bool) -> None:
    """Ask on a terminal, after listing what is affected; elsewhere only `--yes` confirms.

    Raises:
        UsageError: nobody is there to ask.
        click.Abort: the answer was no.
    """
    if yes:
        return
    if not can_ask():
        raise UsageError(f"{question} There is no terminal to ask on: add --yes")
    for line in items[:MAX_SHOWN]:
        say(f"  {line}")
    if len(items) > MAX_SHOWN:
        say(f"  … and {len(items) - MAX_SHOWN} more")
    click.confirm(question, abort=True, err=True)


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows on stdout: aligned columns on a terminal, tab-separated values without headings elsewhere.

    On a terminal too narrow for the columns, each cell has a line of its own.
    """
    cells = [[clean(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        least = _least_widths(headings, cells)
        if sum(least) + 2 * (len(least) - 1) > shutil.get_terminal_size().columns:
            _print_stacked(headings, cells)
        else:
            _print_columns(headings, cells, least)
        return
    for row in cells:
        write("\t".join(row))


def print_list(data: object, headings: Sequence[str], rows: Iterable[Sequence[str]], *, as_json: bool) -> None:
    """Print a list on stdout: `data` as JSON, or else a table of `rows`."""
    if as_json:
        write_json(data)
    else:
        print_table(headings, list(rows))


_NARROWEST = 12
"""A column this wide can be read, whatever is in it."""


def _least_widths(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """The widths at which no column breaks its words into pieces, except long ones such as addresses."""
    columns = zip(*([heading.split() for heading in row] for row in (headings, *rows)), strict=True)
    widths = (max((rich_cells.cell_len(word) for cell in column for word in cell), default=0) for column in columns)
    return [min(width, _NARROWEST) for width in widths]


def _print_stacked(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print each cell that says something on a line below its row's first one, after its heading."""
    indent = max(map(rich_cells.cell_len, headings)) + 2
    for number, row in enumerate(rows):
        pairs = [(heading, cell) for heading, cell in zip(headings, row, strict=True) if cell]
        gaps = (" " * (indent - rich_cells.cell_len(heading)) for heading, _ in pairs)
        lines = [f"{heading}{gap}{cell}" for gap, (heading, cell) in zip(gaps, pairs, strict=True)]
        write_lines([*([""] if number else []), *lines], hang=indent)


def _print_columns(headings: Sequence[str], rows: Sequence[Sequence[str]], least: Sequence[int]) -> None:
    """Print rows on stdout as aligned columns below their headings."""
    first_word.erase()
    table = rich_table.Table(box=None, pad_edge=False, header_style="bold")
    for heading, width in zip(headings, least, strict=True):
        table.add_column(heading, overflow="fold", min_width=width)
    for row in rows:
        table.add_row(*(rich_text.Text(cell) for cell in row))  # Text: a title in square brackets is not markup
    rich_console.Console(no_color=not settings.terminal_environment().color, highlight=False).print(table)


class Exit(IntEnum):
    """0 to 7 are Assay's own, the last three are what shells expect after a signal."""

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
