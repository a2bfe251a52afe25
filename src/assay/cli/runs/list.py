"""`assay runs list`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from assay.cli import options
from assay.cli.library import HOW_TO_RUN, exists, stored
from assay.cli.tables import table
from assay.cli.terminal import say, write
from assay.core.ports import FINAL, RunRow


@click.command("list")
@click.option("-n", "limit", type=click.IntRange(1), default=100, show_default=True, help="How many.")
@options.json_output
@options.common
def command(limit: int, as_json: bool, home: Path | None) -> None:
    """Runs, newest first; with --json also whose each is, its labels, and what it has used.

    \b
        assay runs list -n 10
        assay runs list --json
    """
    rows = asyncio.run(_runs(limit, home, as_json=as_json))
    if not rows:
        say(HOW_TO_RUN)
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(rows)).decode())
        return
    table(
        ("run", "created", "status", "question"),
        [(row.run_id, row.created_at[:16].replace("T", " "), _status(row), row.question) for row in rows],
    )


async def _runs(limit: int, home: Path | None, *, as_json: bool) -> Sequence[RunRow]:
    if not exists(home):
        return []
    async with stored(home) as assay:
        return await (assay.listed(limit) if as_json else assay.runs(limit))  # briefs and accounts take their time


def _status(row: RunRow) -> str:
    """A run which has neither ended nor a live process was interrupted; one that waits or is paused needs none."""
    if row.queued and not row.holder and row.status not in FINAL and row.status != "paused":
        return "queued"
    return row.status if row.status in FINAL or row.status in ("waiting", "paused") or row.holder else "interrupted"
