"""`assay threads search`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay.cli import options
from assay.cli.threads.thread_rows import page_of, tell


@click.command("search")
@click.argument("text")
@options.paging
@options.json_output
@options.common
def command(text: str, limit: int, cursor: str, as_json: bool, home: Path | None) -> None:
    """Threads with TEXT in their title or in a question, whatever its case.

    `assay runs list --search` looks in reports too.

    \b
        assay threads search "signal tower"
        assay threads search tides --json
    """
    tell(asyncio.run(page_of(home, text, cursor, limit)), "no thread says that", as_json=as_json)
