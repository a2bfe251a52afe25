"""`assay runs export`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay import settings
from assay.cli import files, options
from assay.cli.library import opened
from assay.cli.terminal import say
from assay.core.markers import CitationMode
from assay.core.view import RunView


@click.command("export")
@click.argument("reference", metavar="ID")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to (.md, .json); repeatable.",
)
@options.citations
@options.common
def command(reference: str, outputs: tuple[Path, ...], citations: CitationMode | None, home: Path | None) -> None:
    """Write the report of the run ID; of one that has not ended, as far as it is written."""
    targets = files.checked(outputs)
    configured = settings.load()
    view = asyncio.run(_view(reference, home))
    for path in targets:
        files.save(path, files.rendered(view, path.suffix.lower(), citations or configured.citations))
        say(f"the report of run {view.run_id} is in {path}")


async def _view(reference: str, home: Path | None) -> RunView:
    async with opened(home) as assay:
        return await assay.view(reference)
