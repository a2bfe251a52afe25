"""`assay runs export`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay import settings
from assay.app import signatures
from assay.cli import files, options
from assay.cli.library import stored
from assay.cli.runs.ids import run_ids
from assay.cli.terminal import say
from assay.core.markers import CitationMode
from assay.core.report import written
from assay.core.view import RunView

_BUNDLE = ".zip"
_LISTS = (".bib", ".csl.json", ".ris")  # of what a report cites, and of nothing else


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
    help="File to write (.md, .html, .pdf, .bib …); repeatable.",
)
@click.option("--sign", is_flag=True, help="Sign the bundle (-o FILE.zip) with your key: assay keys sign create.")
@options.citations
@options.common
def command(
    reference: str, outputs: tuple[Path, ...], sign: bool, citations: CitationMode | None, home: Path | None
) -> None:
    """Write the report of run ID to a file. An unfinished report is written as far as it goes.

    \b
        assay runs export last -o report.html -o report.zip
        assay runs export k3v9 -o references.bib
    """
    targets = files.checked(outputs)
    if sign:
        if not any(files.suffix(path) == _BUNDLE for path in targets):
            raise click.UsageError(f"--sign signs a bundle: name a file which ends in {_BUNDLE}")
        signatures.own_key()  # said before anything is written, where there is none
    asyncio.run(_export(reference, targets, citations or settings.load().citations, home, sign=sign))


async def _export(
    reference: str, targets: tuple[Path, ...], citations: CitationMode, home: Path | None, *, sign: bool
) -> None:
    async with stored(home) as assay:
        view = await assay.view(reference)
        for path in targets:
            suffix = files.suffix(path)
            data = await assay.export(view.run_id, suffix, citations)
            files.save(path, signatures.signed(data, view.run_id) if sign and suffix == _BUNDLE else data)
            say(_told(view, path, suffix))


def _told(view: RunView, path: Path, suffix: str) -> str:
    """What is in the file now; of a run which has no report, that it has none."""
    match written(view):
        case "finished":
            return f"the report of run {view.run_id} is in {path}"
        case "writing":
            return f"run {view.run_id} {_ended(view)}, its report is not finished: what there is of it is in {path}"
        case "none":
            return f"run {view.run_id} {_ended(view)}, there is no report: {path} holds {_holds(suffix)}"


def _ended(view: RunView) -> str:
    return {"failed": "failed", "cancelled": "was cancelled", "completed": "ended"}.get(view.status, "has not ended")


def _holds(suffix: str) -> str:
    """What a format holds of a run without a report."""
    known = {".zip": "the run's log and why", ".json": "the run's data and why"}
    return "no source" if suffix in _LISTS else known.get(suffix, "no more than why")
