"""Runs in a list: `list`, `label`, `open`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, TypedDict, get_args

import click
import msgspec

from assay import Assay, settings
from assay.cli import desktop, options
from assay.cli.library import HOW_TO_RUN, exists, stored
from assay.cli.stored_names import run_ids
from assay.cli.tables import table
from assay.cli.terminal import clean, say, write
from assay.core.markers import CitationMode
from assay.core.ports import FINAL, RunRow, RunStatus
from assay.core.ports.lists import STARRED, read_label

# How old a run is, as people say it.

_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


class Age(click.ParamType[timedelta]):
    """`12h`, `30d` or `4w`."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        match = re.fullmatch(r"(\d{1,5})([hdw])", str(value).strip().lower())
        if match is None:
            self.fail(f"{value!r} is not an age like 12h, 30d or 4w", param, ctx)
        return timedelta(hours=int(match[1]) * _HOURS[match[2]])


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
def list_runs(limit: int, cursor: str, as_json: bool, home: Path | None, search: str | None, **wanted: str) -> None:
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


@click.command("label")
@click.argument("reference", metavar="RUN", shell_complete=run_ids)
@click.argument("labels", nargs=-1, metavar="[NAME[=VALUE]]...")
@click.option("--remove", multiple=True, metavar="NAME", help="Take this label away; repeatable.")
@click.option("--star/--unstar", default=None, help="Star the run, or take its star away.")
@options.common
def label_run(
    reference: str, labels: tuple[str, ...], remove: tuple[str, ...], star: bool | None, home: Path | None
) -> None:
    """Give RUN labels, to find it again; without any, tell which it has. No model is told of them.

    \b
        assay runs label last --star
        assay runs label last to-read project=tides
        assay runs list --label project=tides
    """
    added = dict(map(read_label, labels)) | ({STARRED: ""} if star else {})
    removed = (*remove, *([STARRED] if star is False else []))
    asyncio.run(_label(reference, added, removed, home))


async def _label(reference: str, added: dict[str, str], removed: tuple[str, ...], home: Path | None) -> None:
    async with stored(home) as assay:
        row = await assay.find(reference)
        labels = await assay.label(row.run_id, added, removed) if added or removed else row.labels
    shown = ", ".join(f"{name}={value}" if value else name for name, value in sorted(labels.items()))
    say(f"{row.run_id}: {clean(shown) or 'no labels'}")


@click.command("open")
@click.argument("reference", metavar="ID", shell_complete=run_ids, default="last")
@options.citations
@options.common
def open_report(reference: str, citations: CitationMode | None, home: Path | None) -> None:
    """Open the report of run ID (the last one without it) in the browser, as one HTML file.

    The file's path goes to stdout; where there is no browser, that is all.

    \b
        assay runs open last
        assay runs open k3v9 --footnotes
    """
    path = asyncio.run(_written(reference, citations or settings.load().citations, home))
    write(str(path))
    desktop.show(path)


async def _written(reference: str, citations: CitationMode, home: Path | None) -> Path:
    async with stored(home) as assay:
        return await desktop.page(assay, reference, citations)
