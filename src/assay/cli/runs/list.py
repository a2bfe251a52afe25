"""`assay runs list`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict, get_args

import click
import msgspec

from assay import Assay
from assay.cli import options
from assay.cli.library import HOW_TO_RUN, exists, stored
from assay.cli.tables import table
from assay.cli.terminal import say, write
from assay.core.ports import FINAL, RunRow, RunStatus


class ListFilter(TypedDict):
    """Which runs are listed."""

    status: Sequence[RunStatus]
    text: str
    since: str
    until: str
    thread: str
    collection: str
    label: str


class ShownRuns:
    """Runs of a page, what is shown beside each, and where the list goes on."""

    def __init__(self, rows: Sequence[RunRow] = (), next: str = "", beside: Sequence[str] | None = None) -> None:
        self.rows, self.next = rows, next
        self.beside = [row.question for row in rows] if beside is None else beside


@click.command("list")
@click.option(
    "--status",
    type=click.Choice(get_args(RunStatus)),
    multiple=True,
    help="List only runs with this status; repeatable.",
)
@click.option("--asked", "text", default="", metavar="TEXT", help="List only runs with this text in their question.")
@click.option("--since", default="", metavar="DATE", help="List only runs started on this day or later (2026-11-23).")
@click.option("--before", "until", default="", metavar="DATE", help="List only runs started before this day.")
@click.option("--thread", default="", metavar="NAME", help="List only runs of this thread.")
@click.option("--collection", default="", metavar="NAME", help="List only runs which searched this collection.")
@click.option("--label", default="", metavar="NAME[=VALUE]", help="List only runs with this label.")
@click.option("--search", metavar="WORDS", help="Search questions and reports for these words, best match first.")
@options.paging
@options.json_output
@options.common
def command(limit: int, cursor: str, as_json: bool, home: Path | None, search: str | None, **wanted: str) -> None:
    """Runs, newest first; with --json also whose each is, its labels, and what it has used.

    \b
        assay runs list -n 10
        assay runs list --status failed --since 2026-11
        assay runs list --search "signal tower"
        assay runs list --json
    """
    if search is not None and any(wanted.values()):
        raise click.UsageError("--search goes with no other condition")
    found = asyncio.run(_found(home, wanted, search, cursor, limit, as_json=as_json))  # type: ignore[arg-type]
    if not found.rows:
        say("no run is so" if search is not None or any(wanted.values()) else HOW_TO_RUN)
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(found.rows)).decode())
    else:
        cells = zip(found.rows, found.beside, strict=True)
        table(
            ("run", "created", "status", "question" if search is None else "best sentence"),
            [(row.run_id, row.created_at[:16].replace("T", " "), _status(row), beside) for row, beside in cells],
        )
    if found.next:
        say(f"there are more: --cursor {found.next}")


async def _found(
    home: Path | None, wanted: ListFilter, search: str | None, cursor: str, limit: int, *, as_json: bool
) -> ShownRuns:
    if not exists(home):
        return ShownRuns()
    async with stored(home) as assay:
        if search is not None:
            return await _searched(assay, search, cursor, limit)
        # briefs and accounts take their time
        page = await assay.page(**wanted, cursor=cursor, limit=limit, accounts=as_json)
        return ShownRuns(page.runs, page.next)


async def _searched(assay: Assay, text: str, cursor: str, limit: int) -> ShownRuns:
    found = await assay.search_runs(text, cursor=cursor, limit=limit)
    return ShownRuns(
        [each.run for each in found.runs], found.next, [each.snippet or each.run.question for each in found.runs]
    )


def _status(row: RunRow) -> str:
    """A run which has neither ended nor a live process was interrupted; one that waits or is paused needs none."""
    if row.queued and not row.holder and row.status not in FINAL and row.status != "paused":
        return "queued"
    return row.status if row.status in FINAL or row.status in ("waiting", "paused") or row.holder else "interrupted"
