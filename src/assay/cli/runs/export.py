"""`assay runs export`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay import settings
from assay.cli import files, options
from assay.cli.library import opened
from assay.cli.runs.ids import run_ids
from assay.cli.terminal import say
from assay.core.markers import CitationMode


@click.command("export")
@click.argument("reference", metavar="ID", shell_complete=run_ids)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to (.md, .html, .pdf, .bib …); repeatable.",
)
@options.citations
@options.common
def command(reference: str, outputs: tuple[Path, ...], citations: CitationMode | None, home: Path | None) -> None:
    """Write the report of the run ID; of one that has not ended, as far as it is written."""
    targets = files.checked(outputs)
    asyncio.run(_export(reference, targets, citations or settings.load().citations, home))


async def _export(reference: str, targets: tuple[Path, ...], citations: CitationMode, home: Path | None) -> None:
    async with opened(home) as assay:
        run_id = (await assay.find(reference)).run_id
        for path in targets:
            files.save(path, await assay.export(run_id, files.suffix(path), citations))
            say(f"the report of run {run_id} is in {path}")
