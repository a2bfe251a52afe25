"""`assay runs open`."""

from __future__ import annotations

import asyncio
import tempfile
import webbrowser
from pathlib import Path

import click

from assay import settings
from assay.cli import options
from assay.cli.files import save
from assay.cli.library import stored
from assay.cli.runs.ids import run_ids
from assay.cli.terminal import say, write
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
    if not settings.surroundings().interactive or not webbrowser.open(path.as_uri()):
        say("no browser to open it in")


async def _written(reference: str, citations: CitationMode, home: Path | None) -> Path:
    """The report in a folder which only this user may read, and which the system clears in time."""
    async with stored(home) as assay:
        view = await assay.view(reference)
        data = await assay.export(view.run_id, ".html", citations)
    path = Path(tempfile.mkdtemp(prefix="assay-")) / f"{view.run_id}.html"
    save(path, data)
    return path
