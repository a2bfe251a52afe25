"""`assay check`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import click
import msgspec

from assay.app.checking import LONGEST, BadRow, CheckedRow, check_lines
from assay.cli import options
from assay.cli.exits import Exit
from assay.cli.files import save
from assay.cli.progress import counted
from assay.cli.terminal import State, say, write
from assay.core.errors import NotBuilt

_EVERY = 2.0
"""Seconds between lines of progress."""


@click.command("check")
@click.argument("file", metavar="FILE.jsonl", type=click.File("rb"))
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write here, not to stdout.")
@click.option("--model", metavar="PROVIDER:NAME", help="Not built yet: claims are checked without a model.")
@options.verbosity
@click.pass_obj
def command(state: State, file: BinaryIO, output: Path | None, model: str | None) -> int:
    """Check claims against texts: rows {"id", "doc", "claim"} in, "-" for stdin.

    Rows {"id", "verdict", "score", "rule", "reasons"} come out, in order: the score is the probability that the text
    supports the claim; the verdict is supported, unsupported, contradicted or unchecked (undecided). A line which is
    no such row gives {"id", "line", "error"}, the rest goes on, and the exit code is 1.
    """
    if model:
        raise NotBuilt(f"claims cannot be judged by {model!r} yet; without --model they are checked by their words")
    if output and not output.absolute().parent.is_dir():
        raise click.UsageError(f"the folder {output.absolute().parent} does not exist")
    counts: Counter[str] = Counter()
    rows = _watched(check_lines(_lines(file)), counts, quiet=state.verbosity < 0)
    if output:
        save(output, b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    else:
        for row in rows:
            write(msgspec.json.encode(row).decode())
    return Exit.FAILED if counts["bad"] else Exit.DONE


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; of one which is too long only so much that this can be seen."""
    while line := file.readline(LONGEST + 1):
        yield line
        while len(line) > LONGEST and not line.endswith(b"\n"):
            line = file.readline(LONGEST + 1)


def _watched(
    rows: Iterable[CheckedRow | BadRow], counts: Counter[str], *, quiet: bool
) -> Iterator[CheckedRow | BadRow]:
    """The rows, counted by verdict, with a line of progress now and then and one at the end."""
    began = said = time.monotonic()
    for row in rows:
        counts["bad" if isinstance(row, BadRow) else row.verdict] += 1
        now = time.monotonic()
        if not quiet and now - said >= _EVERY:
            said = now
            say(f"{counted(counts.total(), 'row')} checked, {counts.total() / (now - began):,.0f} a second")
        yield row
    if not quiet:
        found = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()) if verdict != "bad")
        bad = f"; {counted(counts['bad'], 'line')} could not be read" if counts["bad"] else ""
        say(f"checked {counted(counts.total() - counts['bad'], 'row')}{': ' if found else ''}{found}{bad}")
