"""Answers a waiting run: `answer`, `approve`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import click

from assay import Assay, RunView, settings
from assay.cli import options
from assay.cli.completion import run_ids
from assay.cli.library import stored
from assay.cli.questions import put
from assay.cli.run_options import run_options
from assay.cli.run_watch import Output, OutputOptions, conclude, takes_output
from assay.cli.runs.continuation import go_on
from assay.cli.terminal import Exit, TerminalOptions, may_ask, say

HOW = "give the answers in their order, or in a file (--answers FILE)"


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """The answers to a waiting run on a command line."""

    answers: list[str] | dict[str, str] | None = None
    approved: bool = False
    plan: Path | None = None
    resume: bool = True


@click.command(
    "answer",
)
@click.argument("reference", metavar="ID", shell_complete=run_ids)
@click.argument("texts", metavar="[ANSWER]…", nargs=-1)
@run_options("answer")
@click.option("--no-resume", is_flag=True, help="Only store the answers; `assay runs resume` continues.")
@options.output()
@options.citations
@options.notify
@options.common
@click.pass_obj
@takes_output
def answer_run(
    state: TerminalOptions,
    reference: str,
    texts: tuple[str, ...],
    answers: list[str] | dict[str, str] | None,
    no_resume: bool,
    wanted: OutputOptions,
    home: Path | None,
) -> int:
    """Answer the questions that run ID waits for, and continue it in this process.

    An empty answer keeps the usual reading of the question. On a terminal, Assay asks the questions. To approve a
    plan, use `assay runs approve`.

    \b
        assay runs answer last "The one in Brittany"
        assay runs answer last --answers answers.json
    """
    if texts and answers is not None:
        raise click.UsageError("give the answers as words or with --answers FILE, not both")
    configured = settings.load()
    output = wanted.output(configured, state.verbosity)
    given_answers = answers if answers is not None else list(texts) or None
    given = AnswerOptions(answers=given_answers, resume=not no_resume)
    return asyncio.run(answer_and_resume(reference, given, output, home))


async def answer_and_resume(reference: str, given: AnswerOptions, output: Output, home: Path | None) -> Exit:
    """Answer a waiting run, and continue it unless that is left for later."""
    async with stored(home) as assay:
        view = await assay.view(reference)
        if not await _give(assay, view, given):
            return await conclude(assay, await assay.view(view.run_id), output)
        if not given.resume:
            say(f"answered; to go on: assay runs resume {view.run_id}")
            return Exit.DONE
        return await go_on(assay, view.run_id, output)


async def _give(assay: Assay, view: RunView, given: AnswerOptions) -> bool:
    """Answer a run from the command line, else ask a person; False if it is not to continue."""
    if given.approved or given.plan is not None:
        await assay.approve(view.run_id, given.plan)
    elif given.answers is not None or not view.waiting_for:
        await assay.answer(view.run_id, given.answers or [])
    elif may_ask():
        return await put(assay, view)
    elif view.waiting_for == "plan":
        how = f"assay runs approve {view.run_id}, with --plan FILE to give another"
        raise click.UsageError(f"run {view.run_id} waits for its plan to be approved: {how}")
    else:
        raise click.UsageError(f"no answers; {HOW}. Asked is: {'; '.join(view.clarification.questions)}")
    return True


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
@options.notify
@options.common
@click.pass_obj
@takes_output
def approve_plan(
    state: TerminalOptions,
    reference: str,
    plan: Path | None,
    no_resume: bool,
    wanted: OutputOptions,
    home: Path | None,
) -> int:
    """Approve the plan of run ID, or give it another plan, and continue the run in this process.

    \b
        assay runs approve last
        assay runs approve last --plan plan.txt
    """
    configured = settings.load()
    output = wanted.output(configured, state.verbosity)
    given = AnswerOptions(approved=plan is None, plan=plan, resume=not no_resume)
    return asyncio.run(answer_and_resume(reference, given, output, home))
