"""`assay check`."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, BinaryIO, cast

import click
import msgspec

import assay
from assay import settings
from assay.cli import options, run_options
from assay.cli.destinations import lines, save
from assay.cli.terminal import Exit, TerminalOptions, say, write
from assay.core.milestones import pluralize
from assay.core.usage import Usage
from assay.services.claim_checks import (
    MAX_LINE_BYTES,
    BadRow,
    CheckedRow,
    ClaimRow,
    RowChecker,
    added_checks,
    check_rows,
    read_lines,
)

_PROGRESS_SECONDS = 2.0
"""Seconds between lines of progress."""


@click.command("check")
@click.argument("what", metavar="FILE.jsonl|CLAIM")
@click.option("--in", "text", type=click.File("rb"), metavar="FILE", help="Check CLAIM against this text.")
@click.option("-o", "--output", type=options.FilePath(dir_okay=False), help="Write to this file instead of stdout.")
@run_options.judge_option
@run_options.run_options("check")
@options.common_options
@click.pass_obj
def command(
    state: TerminalOptions,
    what: str,
    text: BinaryIO | None,
    output: Path | None,
    model: str | None,
    max_usd: float | None,
    max_tokens: int | None,
    home: Path | None,
) -> int:
    """Check claims against texts: rows {"id", "doc", "claim"} in, "-" for stdin.

    Rows {"id", "verdict", "score", "rule", "reasons"} come out, in order. The score is the probability that the text
    supports the claim. The verdict is quoted (the text contains the claim word for word), supported, unsupported,
    contradicted or unchecked (undecided). An invalid line gives {"id", "line", "error"}; the rest is still checked,
    and the exit code is 1.

    With --model the verdict may also be partial, and "slots" are values of the claim that the model had to find in
    the text without seeing them. Its answers are cached, so asking again costs nothing. --max-usd and --max-tokens
    limit the cost; claims beyond the limit stay unchecked.

    \b
        assay check claims.jsonl -o verdicts.jsonl
        assay check claims.jsonl --model ollama:qwen3
        assay check "The plant employs 400 people." --in plant.md
    """
    if output and not output.absolute().parent.is_dir():
        raise click.UsageError(f"the folder {output.absolute().parent} does not exist")
    watch = _Watch(quiet=state.verbosity < 0)
    with _rows(what, text) as rows:
        if model is not None:
            output_lines = _judge_rows(rows, model, home, watch, output, max_usd, max_tokens)
        else:
            output_lines = _check_rows(rows, watch, output)
    if output:
        save(output, b"".join(output_lines))
    watch.end()
    return Exit.FAILED if watch.counts["bad"] else Exit.DONE


@contextmanager
def _rows(claim_or_path: str, text: BinaryIO | None) -> Iterator[Iterator[ClaimRow | BadRow]]:
    """The rows of a file, or the single row of a claim and its text."""
    if text is not None:
        data = text.read(MAX_LINE_BYTES + 1)
        if len(data) > MAX_LINE_BYTES:
            raise click.UsageError(f"the text has more than {MAX_LINE_BYTES // 1024 // 1024} MiB")
        try:
            yield iter([ClaimRow(id=1, doc=data.decode("utf-8-sig"), claim=claim_or_path)])
        except UnicodeDecodeError as error:
            hint = "make one of another format: assay extract FILE > text.md"
            raise click.UsageError(f"--in takes a text in UTF-8; {hint}") from error
        return
    try:
        with click.open_file(claim_or_path, "rb") as file:
            yield read_lines(lines(cast("IO[bytes]", file), MAX_LINE_BYTES))
    except (FileNotFoundError, IsADirectoryError) as error:
        raise click.UsageError(
            f"{claim_or_path!r} is not a file of rows; to check a claim, name its text: --in FILE"
        ) from error


def _check_rows(rows: Iterator[ClaimRow | BadRow], watch: _Watch, output: Path | None) -> list[bytes]:
    """Check every row without a model, and return the lines for an output file, if there is one."""
    output_lines: list[bytes] = []
    checker = RowChecker(added_checks(_disabled_checks()))
    for row in check_rows(rows, checker):
        _print_row(row, watch, output_lines if output else None)
    for fault in checker.faults():
        _warn(fault)
    return output_lines


def _disabled_checks() -> tuple[str, ...]:
    """The checks which the settings switch off; without those of other packages no settings are read."""
    return settings.load().checks_off if added_checks() else ()


def _warn(fault: str) -> None:
    say(f"warning: {fault}")


def _judge_rows(
    rows: Iterator[ClaimRow | BadRow],
    model: str,
    home: Path | None,
    watch: _Watch,
    output: Path | None,
    usd: float | None,
    tokens: int | None,
) -> list[bytes]:
    output_lines: list[bytes] = []
    notify = partial(_print_row, watch=watch, output_lines=output_lines if output else None)
    work = assay.judge_rows(rows, notify, model=model, home=home, max_usd=usd, max_tokens=tokens, warn=_warn)
    watch.used = asyncio.run(work)
    return output_lines


def _print_row(row: CheckedRow | BadRow, watch: _Watch, output_lines: list[bytes] | None) -> None:
    watch.count(row)
    line = msgspec.json.encode(row)
    if output_lines is None:
        write(line.decode())
    else:
        output_lines.append(line + b"\n")


class _Watch:
    """Counts rows by verdict; prints progress now and then, and once at the end."""

    def __init__(self, *, quiet: bool) -> None:
        self.counts: Counter[str] = Counter()
        self.used = Usage()
        self._quiet = quiet
        self._began = self._printed_at = time.monotonic()

    def count(self, row: CheckedRow | BadRow) -> None:
        self.counts["bad" if isinstance(row, BadRow) else row.verdict] += 1
        now, total = time.monotonic(), self.counts.total()
        if not self._quiet and now - self._printed_at >= _PROGRESS_SECONDS:
            self._printed_at = now
            say(f"{pluralize(total, 'row')} checked, {total / (now - self._began):,.0f} a second")

    def end(self) -> None:
        """Print the last line."""
        if self._quiet:
            return
        verdict_counts = ", ".join(
            f"{count} {verdict}" for verdict, count in sorted(self.counts.items()) if verdict != "bad"
        )
        unreadable = f"; {pluralize(self.counts['bad'], 'line')} could not be read" if self.counts["bad"] else ""
        cost = ""
        if self.used.model_calls:
            cost = f"; {pluralize(self.used.model_calls, 'call')} of the model, {self.used.tokens:,} tokens"
        rows = pluralize(self.counts.total() - self.counts["bad"], "row")
        say(f"checked {rows}{': ' if verdict_counts else ''}{verdict_counts}{unreadable}{cost}")
