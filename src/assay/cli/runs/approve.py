"""`assay runs approve`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay import settings
from assay.cli import notify_options, options
from assay.cli.files import checked
from assay.cli.run_watch import Output, stdout_for
from assay.cli.runs.answer import AnswerOptions, answered
from assay.cli.runs.ids import run_ids
from assay.cli.terminal import TerminalOptions
from assay.core.markers import CitationMode


@click.command("approve")
@click.argument("reference", metavar="ID", shell_complete=run_ids)
@click.option(
    "--plan",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Use this plan instead: its text form, or JSON as the run printed it.",
)
@click.option("--no-resume", is_flag=True, help="Only approve it; `assay runs resume` continues.")
@options.output()
@options.citations
@notify_options.notify
@options.common
@click.pass_obj
def command(
    state: TerminalOptions,
    reference: str,
    plan: Path | None,
    no_resume: bool,
    outputs: tuple[Path, ...],
    as_json: bool,
    as_events: bool,
    strict: bool,
    citations: CitationMode | None,
    notify: tuple[str, ...],
    home: Path | None,
) -> int:
    """Approve the plan the run ID waits with, or give it another, and go on with it in this process.

    \b
        assay runs approve last
        assay runs approve last --plan plan.txt
    """
    configured = settings.load()
    output = Output(
        files=checked(outputs),
        stdout=stdout_for(as_json=as_json, as_events=as_events),
        citations=citations or configured.citations,
        strict=strict,
        verbosity=state.verbosity,
        notify=notify_options.targets(notify, configured),
    )
    given = AnswerOptions(approved=plan is None, plan=plan, resume=not no_resume)
    return asyncio.run(answered(reference, given, output, home))
