"""Deletes runs: `rm`, `prune`, and the rules of `[retention]` after a run has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from assay import Assay, settings
from assay.cli import options
from assay.cli.completion import run_ids
from assay.cli.figures import format_size
from assay.cli.jobs import queue_jobs, queue_option
from assay.cli.library import open_existing
from assay.cli.runs.lists import Age
from assay.cli.terminal import Exit, TerminalOptions, clean, confirm, say, write, write_json
from assay.core.errors import LeaseHeld
from assay.core.milestones import pluralize, shorten
from assay.core.ports import FINAL, RunRow
from assay.services.jobs.specifications import PruneJob
from assay.services.retention import PruneResult, RetentionRules, SweepResult, rules_of

_ALL = 1_000_000


@click.command("rm")
@click.argument("references", nargs=-1, metavar="ID…", shell_complete=run_ids)
@click.option(
    "--older-than", "age", type=Age(), metavar="AGE", help="Delete every ended run older than this (30d, 12h, 4w)."
)
@options.yes_option
@options.common_options
@options.run_async
async def remove_runs(references: Sequence[str], age: timedelta | None, yes: bool, home: Path | None) -> int:
    """Delete the runs ID…: events, steps and messages, and documents no other run has read.

    Documents in a collection or used by another run stay. A run in progress is not deleted.

    \b
        assay runs rm last
        assay runs rm k3v9 m2p4 --yes
    """
    if bool(references) == (age is not None):
        raise click.UsageError("name runs to delete, or an age with --older-than")
    async with open_existing(home) as assay:
        rows = await _chosen_runs(assay, references, age)
        if not rows:
            say("there is no such run")
            return Exit.DONE
        lines = [f"{row.run_id}  {row.created_at[:10]}  {row.status}  {shorten(clean(row.question))}" for row in rows]
        confirm(f"Delete {pluralize(len(rows), 'run')}?", lines, yes=yes)
        deleted = [await _delete(assay, row) for row in rows]
        swept = await assay.tidy() if any(deleted) else None
    say(f"{pluralize(sum(deleted), 'run')} deleted{describe_swept(swept) if any(deleted) else ''}")
    return Exit.DONE if all(deleted) else Exit.FAILED


async def _chosen_runs(assay: Assay, references: Sequence[str], age: timedelta | None) -> list[RunRow]:
    """The chosen runs, each once; all are looked up before any is deleted."""
    if age is None:
        rows = [await assay.find(reference) for reference in references]
        return list({row.run_id: row for row in rows}.values())
    before = (datetime.now(UTC) - age).isoformat()
    return [row for row in await assay.runs(_ALL) if row.status in FINAL and row.created_at < before]


async def _delete(assay: Assay, row: RunRow) -> bool:
    try:
        await assay.delete(row.run_id)
    except LeaseHeld as error:
        say(f"{error}: it was not deleted; end it there first")
        return False
    return True


@click.command("prune")
@click.option(
    "--older-than", "age", type=Age(), metavar="AGE", help="Delete ended runs older than this (30d, 12h, 4w)."
)
@click.option("--keep", type=click.IntRange(0), metavar="N", help="Keep the newest N ended runs; delete the rest.")
@click.option(
    "--max-gb",
    type=options.FiniteRange(0, min_open=True),
    metavar="GB",
    help="Delete the oldest runs beyond this many gigabytes.",
)
@click.option("--dry-run", is_flag=True, help="List the runs it would delete, and delete nothing.")
@queue_option
@options.json_output
@options.common_options
@click.pass_obj
def prune_runs(
    state: TerminalOptions,
    age: timedelta | None,
    keep: int | None,
    max_gb: float | None,
    dry_run: bool,
    queued: bool,
    as_json: bool,
    home: Path | None,
) -> None:
    """Delete old runs by a rule (default: the one in [retention]), with documents no other run has read.

    Runs that others continue from, or that a schedule compares with, are kept. It asks for no confirmation.

    \b
        assay runs prune --older-than 30d --dry-run
        assay runs prune --keep 100
    """
    rules = RetentionRules(age=age, runs=keep, size=None if max_gb is None else int(max_gb * 1e9))
    if queued:
        if rules.any or dry_run or as_json:
            raise click.UsageError("--queue goes by the worker's [retention]: leave the other options out")
        queue_jobs([PruneJob()], home, settings.load(), state.verbosity)
        return
    result = asyncio.run(_prune(rules, dry_run, home))
    if as_json:
        write_json(result)
        return
    for row in result.runs:
        write(f"{row.run_id}\t{row.created_at[:10]}\t{row.status}\t{clean(row.question)}")
    action = "would be deleted" if dry_run else "deleted"
    swept_note = "" if dry_run else describe_swept(result.swept)
    say(f"{pluralize(len(result.runs), 'run')} {action}{swept_note}")


async def _prune(rules: RetentionRules, dry_run: bool, home: Path | None) -> PruneResult:
    async with open_existing(home) as assay:
        if not rules.any and not rules_of(assay.settings).any:
            raise click.UsageError("name a rule (--older-than, --keep, --max-gb), or set one in [retention]")
        return await assay.prune(rules if rules.any else None, dry_run=dry_run)


def describe_swept(swept: SweepResult | None) -> str:
    """What follows the number of deleted runs: what was cleaned up with them."""
    if swept is None:
        return "; documents stay for now: another process works with this library"
    if swept.apart:
        return "; bytes stay: another library stores some in the same place"
    if not swept.blobs:
        return ""
    return f"; {pluralize(len(swept.rows), 'document')} no run refers to any more removed ({format_size(swept.size)})"


async def apply_retention(assay: Assay, verbosity: int) -> None:
    """Delete the runs that the settings do not retain; without such settings nothing is read."""
    if not rules_of(assay.settings).any:
        return
    result = await assay.prune()
    if result.runs and verbosity >= 0:
        say(f"{pluralize(len(result.runs), 'run')} deleted, as [retention] says")
