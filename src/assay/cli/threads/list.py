"""`assay threads list`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay.cli import options
from assay.cli.threads.thread_rows import HOW_TO_BEGIN, page_of, tell


@click.command("list")
@options.paging
@options.json_output
@options.common
def command(limit: int, cursor: str, as_json: bool, home: Path | None) -> None:
    """Threads, the one with the latest run first: name, last run, how many runs, title or first question.

    A thread is made by --thread NAME, or by going on from a run (--continue).

    \b
        assay threads list
        assay threads list --json -n 20
    """
    tell(asyncio.run(page_of(home, "", cursor, limit)), HOW_TO_BEGIN, as_json=as_json)
