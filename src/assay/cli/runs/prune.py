"""`assay runs prune`."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import click
import msgspec

from assay.app.retention import Pruned, RetentionRules, rules_of
from assay.cli import options
from assay.cli.library import stored
from assay.cli.progress import counted
from assay.cli.runs.ages import Age
from assay.cli.runs.retention import said
from assay.cli.terminal import clean, say, write


@click.command("prune")
@click.option(
    "--older-than", "age", type=Age(), metavar="AGE", help="Delete ended runs older than this (30d, 12h, 4w)."
)
@click.option("--keep", type=click.IntRange(0), metavar="N", help="Keep the newest N ended runs; delete the rest.")
@click.option(
    "--max-gb",
    type=click.FloatRange(0, min_open=True),
    metavar="GB",
    help="Delete the oldest runs beyond this many gigabytes.",
)
@click.option("--dry-run", is_flag=True, help="List them, and delete nothing.")
@options.json_output
@options.common
def command(
    age: timedelta | None, keep: int | None, max_gb: float | None, dry_run: bool, as_json: bool, home: Path | None
) -> None:
    """Delete ended runs by a rule (without one, that of [retention]), and what only they had read.

    Runs which others go on from, and those a schedule is compared with, are kept. Nothing is asked.

    \b
        assay runs prune --older-than 30d --dry-run
        assay runs prune --keep 100
    """
    rules = RetentionRules(age=age, runs=keep, size=None if max_gb is None else int(max_gb * 1e9))
    done = asyncio.run(_prune(rules, dry_run, home))
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(done)).decode())
        return
    for row in done.runs:
        write(f"{row.run_id}\t{row.created_at[:10]}\t{row.status}\t{clean(row.question)}")
    would = "would be deleted" if dry_run else "deleted"
    more = "" if dry_run else said(done.swept)
    say(f"{counted(len(done.runs), 'run')} {would}{more}")


async def _prune(rules: RetentionRules, dry_run: bool, home: Path | None) -> Pruned:
    async with stored(home) as assay:
        if not rules.any and not rules_of(assay.settings).any:
            raise click.UsageError("name a rule (--older-than, --keep, --max-gb), or set one in [retention]")
        return await assay.prune(rules if rules.any else None, dry_run=dry_run)
