"""`assay runs open`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay import settings
from assay.cli import browser, options
from assay.cli.library import stored
from assay.cli.runs.ids import run_ids
from assay.cli.terminal import write
from assay.core.markers import CitationMode


@click.command("open")
@click.argument("reference", metavar="ID", shell_complete=run_ids, default="last")
@options.citations
@options.common
def command(reference: str, citations: CitationMode | None, home: Path | None) -> None:
    """Open the report of run ID (the last one without it) in the browser, as one HTML file.

    The file's path goes to stdout; where there is no browser, that is all.

    \b
        assay runs open last
        assay runs open k3v9 --footnotes
    """
    path = asyncio.run(_written(reference, citations or settings.load().citations, home))
    write(str(path))
    browser.show(path)


async def _written(reference: str, citations: CitationMode, home: Path | None) -> Path:
    async with stored(home) as assay:
        return await browser.page(assay, reference, citations)
