"""`assay ask`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from assay import settings
from assay.cli import files, options, run_options
from assay.cli.answer_stream import Streaming, can_stream
from assay.cli.arguments import GroupedCommand, question_from
from assay.cli.exits import Exit
from assay.cli.library import stored
from assay.cli.run_watch import Output, stdout_for, watch
from assay.cli.stored_names import run_ids
from assay.cli.terminal import TerminalOptions
from assay.core.markers import CitationMode


@click.command("ask", cls=GroupedCommand)
@click.argument("reference", metavar="RUN", shell_complete=run_ids)
@click.argument("question", metavar="QUESTION")
@options.output("answer")
@run_options.run_options("ask")
@options.citations
@options.common
@click.pass_obj
def command(
    state: TerminalOptions,
    /,
    reference: str,
    question: str,
    outputs: Sequence[Path],
    as_json: bool,
    as_events: bool,
    citations: CitationMode | None,
    strict: bool,
    home: Path | None,
    **ways: Any,
) -> int:
    """Answer QUESTION (- reads it from stdin) from all that RUN (its id, the start of it, or last) opened.

    Nothing else is searched. The answer is cited and checked like a report, and is a run of its own in the same thread.
    Exits with 6 when what was opened does not hold the answer.

    \b
        assay ask last "Who measured it, and when?"
        assay ask k3v9 "Which of these figures are estimates?" --json
    """
    question = question_from([question], ())
    configured = settings.load()
    output = Output(
        files=files.checked(outputs),
        stdout=stdout_for(as_json=as_json, as_events=as_events),
        citations=citations or configured.citations,
        strict=strict,
        verbosity=state.verbosity,
    )
    return asyncio.run(_ask(reference, question, ways, output, home))


async def _ask(reference: str, question: str, ways: dict[str, Any], output: Output, home: Path | None) -> Exit:
    async with stored(home) as assay:
        await assay.find(reference)
        run = assay.ask(reference, question, **ways)
        if output.stdout != "report" or output.files or not can_stream():
            return await watch(assay, run, output)
        shown = Streaming(output.verbosity, output.citations)
        return await watch(assay, run, replace(output, rest=shown.rest), shown)
