"""`assay batch`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click

from assay import plugins, settings
from assay.cli import destinations, options, run_options
from assay.cli.jobs import queue_jobs, queue_option
from assay.cli.library import open_assay
from assay.cli.run_options import ResearchCommand, check_exist, paths_from
from assay.cli.runs.removal import apply_retention
from assay.cli.signals import TerminationSignal, cancel_on_signal, on_interrupts
from assay.cli.terminal import Exit, TerminalOptions, clean, say, write_json
from assay.core.errors import UnknownName
from assay.core.markers import CitationMode
from assay.core.milestones import pluralize, shorten
from assay.core.usage import Budget
from assay.services.arguments import check_format
from assay.services.batch import BadLine, Batch, BatchEnd, BatchFolder, BatchResult, BatchRow, Terms, read_orders
from assay.services.batch.rows import MAX_LINE_BYTES
from assay.services.jobs.specifications import BatchJob
from assay.services.notices import RunNotice, Target
from assay.services.schedules import stored_options


@dataclass(frozen=True, slots=True)
class _BatchTask:
    """The work of a batch, and how to report it."""

    orders: Sequence[BatchRow]
    bad: Sequence[BadLine]
    folder: BatchFolder
    terms: Terms
    strict: bool
    as_json: bool
    quiet: bool
    notify: tuple[Target, ...]


@click.command("batch", cls=ResearchCommand)
@click.argument("file", metavar="FILE.jsonl", type=click.File("rb"))
@click.option(
    "-o", "--output", "folder", type=options.FilePath(file_okay=False), required=True, metavar="DIR",
    help="Folder for the results; the same folder continues the batch.",
)  # fmt: skip
@run_options.places_option("; a row may name its own")
@click.option("--at-once", type=click.IntRange(1, 64), default=2, show_default=True, help="Number of runs at a time.")
@click.option("--max-usd", type=options.Money(), metavar="USD", help="Limit for all runs together in US dollars (5).")
@click.option("--max-tokens", type=options.Count(), metavar="COUNT", help="Limit for all runs together in tokens (2m).")
@click.option(
    "--format", "suffix", default="md", show_default=True, metavar="FORMAT", help="Format of the reports: md, html …"
)
@run_options.run_options("batch")
@options.citation_modes
@click.option("--strict", is_flag=True, help="Exit with 3 if a report did not pass its final check.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
@options.notify_option
@queue_option
@options.common_options
@click.pass_obj
def command(
    state: TerminalOptions,
    /,
    file: Any,
    folder: Path,
    paths: Sequence[str],
    at_once: int,
    max_usd: float | None,
    max_tokens: int | None,
    suffix: str,
    citations: CitationMode | None,
    strict: bool,
    as_json: bool,
    notify: Sequence[str],
    queued: bool,
    home: Path | None,
    **option_values: Any,
) -> int:
    """Research every question in FILE.jsonl (- is stdin). Each gets a row in DIR/results.jsonl and a report in DIR.

    A line is a question, or an object with "question", "id", "sources" and any run option ("depth", "max_tokens",
    "models" …), which overrides those given here. A CSV file has these as columns, named in its first line. Invalid
    lines are reported and skipped. Run the same command again with the same DIR to continue: finished questions are
    not researched again.

    Ctrl-C starts no more runs and waits for the current ones; a second Ctrl-C interrupts those too, and the next call
    continues them. Exit codes: 0 all done, 1 a line or a run failed, 3 a final check failed (with --strict), 5 the
    total limit was reached, 7 a run waits for answers, 130 and 143 interrupted.

    \b
        assay batch questions.jsonl -o out/ --in docs/
        assay batch questions.txt -o out/ --max-usd 5 --at-once 4
    """
    config = settings.load()
    terms = Terms(
        total=Budget(usd=max_usd, tokens=max_tokens),
        at_once=at_once,
        sources=tuple(check_exist(paths_from(paths))) if paths else None,
        options=cast("Any", option_values),
        suffix=_format(suffix),
        citations=citations or config.citations,
    )
    option_texts = stored_options("a question of a batch", terms.options, config)
    if queued:
        if strict or as_json or notify:
            raise click.UsageError("--queue leaves it to a worker: leave out --strict, --json and --notify")
        queue_jobs([_job(file, folder, terms, option_texts)], home, config, state.verbosity)
        return Exit.DONE
    targets = options.notice_targets(notify, config)
    rows = list(read_orders(destinations.lines(file, MAX_LINE_BYTES)))
    bad = [row for row in rows if isinstance(row, BadLine)]
    orders = [row for row in rows if isinstance(row, BatchRow)]
    for line in bad:
        say(f"line {line.line}: {line.error}")
    if not orders:
        raise click.UsageError("there is no question in it")
    job = _BatchTask(orders, bad, BatchFolder(folder), terms, strict, as_json, state.verbosity < 0, targets)
    with job.folder.lock():
        return asyncio.run(_batch(job, home, config))


def _job(file: Any, folder: Path, terms: Terms, option_texts: dict[str, Any]) -> BatchJob:
    """The same as a job for a worker, with the options' values as text.

    Raises:
        click.UsageError: the questions come from stdin.
    """
    if file.name == "<stdin>" or not Path(file.name).is_file():
        raise click.UsageError("--queue needs a file that workers can read, not stdin")
    return BatchJob(
        file=file.name,
        folder=str(folder),
        at_once=terms.at_once,
        paths=terms.sources,
        max_usd=terms.total.usd,
        max_tokens=terms.total.tokens,
        suffix=terms.suffix,
        citations=terms.citations,
        options=option_texts,
    )


def _format(name: str) -> str:
    suffix = f".{name.removeprefix('.')}"
    if suffix not in plugins.names("exporters"):
        raise UnknownName("format", name, (exporter.removeprefix(".") for exporter in plugins.names("exporters")))
    check_format(suffix)
    return suffix


async def _batch(job: _BatchTask, home: Path | None, config: settings.Settings) -> int:
    async with open_assay(home, config) as assay:
        batch = Batch(assay, job.orders, job.folder, job.terms, _Progress(job))
        if batch.skipped and not job.quiet:
            say(f"{pluralize(batch.skipped, 'question')} done already")
        try:
            end = await work_on(batch)
        finally:
            job.folder.sort_results()
        if end is None:
            return Exit.TERMINATED
        await apply_retention(assay, -1 if job.quiet else 0)
    code = _report(job, batch, end)
    await options.send_notices(_notice(job, batch, end), job.notify)
    return code


async def work_on(batch: Batch) -> BatchEnd | None:
    """Work on a batch. Ctrl-C begins no further run, a second one leaves the runs in progress; None after SIGTERM."""

    def stop() -> None:
        say(f"no further run is begun; {pluralize(batch.active_count, 'run')} at work (Ctrl-C again leaves them)")
        batch.stop()

    def leave() -> None:
        say("left; the same command continues")
        batch.detach()

    try:
        with cancel_on_signal(), on_interrupts(stop, leave):
            return await batch.work()
    except TerminationSignal:
        say("interrupted; the same command continues")
        return None


def spent_line(batch: Batch) -> str:
    """The tokens of a batch and their price, for a reader."""
    usd, tokens = batch.spending
    return f"{tokens:,} tokens{f', ${usd:.2f}' if usd else ''}"


def spent_fields(batch: Batch) -> dict[str, float]:
    """The same, for a program."""
    usd, tokens = batch.spending
    return {"usd": round(usd, 6), "tokens": tokens}


def claims_of(row: BatchResult) -> str:
    """The number of a row's claims with each verdict, unless they are only the closest passages."""
    if row.stop_reason == "no_evidence":
        return "nothing found"
    return ", ".join(f"{count} {verdict}" for verdict, count in row.claims.items())


def price_of(row: BatchResult) -> str:
    """The price of a row, in brackets; "" if it cost nothing."""
    return f" (${row.usd:.2f})" if row.usd else ""


class _Progress:
    """Prints a line on stderr for each finished question."""

    def __init__(self, job: _BatchTask) -> None:
        self._job = job

    def __call__(self, order: BatchRow, row: BatchResult) -> None:
        if self._job.quiet and row.status == "completed":
            return
        detail = row.error or claims_of(row)
        note = f" ({detail})" if detail else ""
        say(f"line {order.line} {row.status}{note}{price_of(row)}: {shorten(clean(order.question), 60)}")


def _rows(job: _BatchTask) -> tuple[list[BatchResult], dict[str, int]]:
    """The results for this file's questions, and how many there are of each status."""
    keys = {order.key for order in job.orders}
    rows = [row for row in job.folder.results.values() if row.key in keys]
    return rows, {status: sum(row.status == status for row in rows) for status in sorted({row.status for row in rows})}


def _notice(job: _BatchTask, batch: Batch, end: BatchEnd) -> RunNotice:
    usd, tokens = batch.spending
    return RunNotice(event="batch", status=end, usd=round(usd, 6), tokens=tokens, rows=_rows(job)[1])


def _report(job: _BatchTask, batch: Batch, end: BatchEnd) -> Exit:
    rows, counts = _rows(job)
    if job.as_json:
        fields = {
            "ended": end, "questions": len(job.orders), "bad_lines": job.bad, "rows": counts,
            "not_begun": batch.pending_count, **spent_fields(batch),
            "results": str(job.folder.path / "results.jsonl"),
        }  # fmt: skip
        write_json(fields, line=True)
    elif not job.quiet:
        parts = [f"{count} {status}" for status, count in counts.items()]
        parts += [f"{batch.pending_count} not begun"] if batch.pending_count else []
        reason_note = "; the total does not pay for another report (--max-usd, --max-tokens)" if end == "spent" else ""
        say(f"{', '.join(parts)}; {spent_line(batch)}{reason_note}")
        say(f"results: {job.folder.path / 'results.jsonl'}")
    return _exit_code(job, rows, end)


def _exit_code(job: _BatchTask, rows: Sequence[BatchResult], end: BatchEnd) -> Exit:
    if end == "stopped":
        return Exit.CANCELLED
    if job.bad or any(row.status in ("failed", "running", "paused") for row in rows):
        return Exit.FAILED
    if job.strict and any(row.status == "completed" and not row.is_good for row in rows):
        return Exit.UNVERIFIED
    if end == "spent":
        return Exit.LIMIT
    return Exit.INPUT_NEEDED if any(row.status == "waiting" for row in rows) else Exit.DONE
