"""`assay runs resume`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay import Assay, settings
from assay.cli import notify_options, options
from assay.cli.exits import Exit
from assay.cli.files import checked
from assay.cli.library import stored
from assay.cli.questions import converse, may_ask, put
from assay.cli.run_watch import Output, conclude, follow, looked_on, stdout_for
from assay.cli.runs.ids import run_ids
from assay.cli.terminal import TerminalOptions, say
from assay.core.errors import LeaseHeld
from assay.core.markers import CitationMode
from assay.core.ports import FINAL, RunRow


@click.command("resume")
@click.argument("reference", metavar="ID", shell_complete=run_ids)
@options.output()
@options.citations
@notify_options.notify
@options.common
@click.pass_obj
def command(
    state: TerminalOptions,
    reference: str,
    outputs: tuple[Path, ...],
    as_json: bool,
    as_events: bool,
    strict: bool,
    citations: CitationMode | None,
    notify: tuple[str, ...],
    home: Path | None,
) -> int:
    """Continue run ID where it stopped, in this process, and print its report.

    If another process executes the run, follow it; if it has ended, print its report again.

    \b
        assay runs resume last
        assay runs resume k3v9 -o report.html
    """
    stdout = stdout_for(as_json=as_json, as_events=as_events)
    configured = settings.load()
    output = Output(
        files=checked(outputs),
        stdout=stdout,
        citations=citations or configured.citations,
        strict=strict,
        verbosity=state.verbosity,
        notify=notify_options.targets(notify, configured),
    )
    return asyncio.run(_resume(reference, output, home))


async def _resume(reference: str, output: Output, home: Path | None) -> Exit:
    async with stored(home) as assay:
        return await go_on(assay, reference, output)


async def go_on(assay: Assay, reference: str, output: Output) -> Exit:
    """Execute a stored run to its end, put its questions where a person is there; follow one that is executed."""
    row = await assay.find(reference)
    if row.status in FINAL and not await _had_no_model(assay, row):
        return await _again(assay, row.run_id, output)
    if row.status == "waiting" and not await assay.is_answered(row.run_id):
        view = await assay.view(row.run_id)
        if not may_ask():
            return await conclude(assay, view, output)
        if not await put(assay, view):
            return await conclude(assay, await assay.view(row.run_id), output)
    try:
        run = await assay.resume(row.run_id)
    except LeaseHeld as error:
        say(f"running in {error.place}; following it (Ctrl-C stops following, the run goes on)")
        if not await looked_on(aiter(assay.follow(row.run_id)), output, output.display(), row.run_id):
            return Exit.CANCELLED
        return await conclude(assay, await assay.view(row.run_id), output)
    return await converse(assay, run, output, somebody=may_ask())


async def _had_no_model(assay: Assay, row: RunRow) -> bool:
    """Whether a run failed because no model could be used: it may begin where it stopped."""
    return row.status == "failed" and (await assay.view(row.run_id)).stop_reason == "no_model"


async def _again(assay: Assay, run_id: str, output: Output) -> Exit:
    if output.stdout == "events":
        await follow(aiter(assay.follow(run_id)), output, output.display())
    return await conclude(assay, await assay.view(run_id), output)
