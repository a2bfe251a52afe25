"""`assay runs answer`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay import settings
from assay.cli import options
from assay.cli.asking import may_ask, put_questions
from assay.cli.conversing import answers as answers_option
from assay.cli.exits import Exit
from assay.cli.files import checked
from assay.cli.library import stored
from assay.cli.runs.ids import run_ids
from assay.cli.runs.resume import go_on
from assay.cli.terminal import State, say
from assay.cli.watch import Output, stdout_for
from assay.core.markers import CitationMode

HOW = "give the answers in their order, or in a file (--answers FILE)"


@click.command("answer")
@click.argument("reference", metavar="ID", shell_complete=run_ids)
@click.argument("texts", metavar="[ANSWER]…", nargs=-1)
@answers_option
@click.option("--no-resume", is_flag=True, help="Only leave the answers; `assay runs resume` goes on.")
@options.output()
@options.citations
@options.common
@click.pass_obj
def command(
    state: State,
    reference: str,
    texts: tuple[str, ...],
    answers: list[str] | dict[str, str] | None,
    no_resume: bool,
    outputs: tuple[Path, ...],
    as_json: bool,
    as_events: bool,
    strict: bool,
    citations: CitationMode | None,
    home: Path | None,
) -> int:
    """Answer the questions the run ID waits with, and go on with it in this process.

    An empty answer leaves its question to the usual reading. On a terminal the questions are asked.
    """
    if texts and answers is not None:
        raise click.UsageError("answers are given as words or in a file, not both")
    stdout = stdout_for(as_json=as_json, as_events=as_events)
    configured = settings.load()
    output = Output(checked(outputs), stdout, citations or configured.citations, strict, state.verbosity)
    told = answers if answers is not None else list(texts) or None
    return asyncio.run(_answer(reference, told, output, home, no_resume=no_resume))


async def _answer(
    reference: str, answers: list[str] | dict[str, str] | None, output: Output, home: Path | None, *, no_resume: bool
) -> Exit:
    async with stored(home) as assay:
        view = await assay.view(reference)
        if answers is None and view.waiting_for == "answers" and not may_ask():
            raise click.UsageError(f"no answers; {HOW}. Asked is: {'; '.join(view.clarification.questions)}")
        if answers is None:
            answers = put_questions(view) if view.waiting_for == "answers" else []
        await assay.answer(view.run_id, answers)
        if no_resume:
            say(f"answered; to go on: assay runs resume {view.run_id}")
            return Exit.DONE
        return await go_on(assay, view.run_id, output)
