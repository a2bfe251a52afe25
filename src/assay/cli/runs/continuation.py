"""Continues a stored run, or computes it again: `answer`, `approve`, `resume`, `fork`, `replay`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from assay import Assay, RunView, settings
from assay.cli import detached_run, options, run_options
from assay.cli.completion import any_path
from assay.cli.library import open_existing, read_library
from assay.cli.questions import ask_person, run_interactively
from assay.cli.run_options import GroupedCommand, paths_from
from assay.cli.run_watch import (
    Output,
    OutputOptions,
    deliver_result,
    gather_output_options,
    report_options,
    show_events,
    watch_other_process,
)
from assay.cli.terminal import Exit, TerminalOptions, can_ask, clean, say, write, write_json
from assay.core.brief import POINTS, ForkPoint
from assay.core.errors import LeaseHeld
from assay.core.phrases import UNANSWERED_REASONS
from assay.core.ports import FINAL, RunRow
from assay.core.run_options import ForkOptions
from assay.services.forks import Replay


@click.command("resume")
@options.run_argument()
@report_options
@options.run_async
async def resume_run(state: TerminalOptions, reference: str, wanted: OutputOptions, home: Path | None) -> int:
    """Continue run ID where it stopped, in this process, and print its report.

    If another process executes the run, follow it; if it has ended, print its report again.

    \b
        assay runs resume last
        assay runs resume k3v9 -o report.html
    """
    output = wanted.output(settings.load(), state.verbosity)
    async with open_existing(home) as assay:
        return await continue_run(assay, reference, output)


async def continue_run(assay: Assay, reference: str, output: Output) -> Exit:
    """Execute a stored run to its end, with its questions if a person is there; follow one that is being executed."""
    row = await assay.find(reference)
    if row.status in FINAL and not await _asks_again(assay, row):
        return await _show_again(assay, row.run_id, output)
    if row.status == "waiting" and not await assay.is_answered(row.run_id):
        view = await assay.view(row.run_id)
        if not can_ask():
            return await deliver_result(assay, view, output)
        if not await ask_person(assay, view):
            return await deliver_result(assay, await assay.view(row.run_id), output)
    try:
        run = await assay.resume(row.run_id)
    except LeaseHeld as error:
        say(f"running in {error.place}; following it (Ctrl-C stops following, the run continues)")
        if not await watch_other_process(aiter(assay.follow(row.run_id)), output, output.display(), row.run_id):
            return Exit.CANCELLED
        return await deliver_result(assay, await assay.view(row.run_id), output)
    return await run_interactively(assay, run, output, somebody=can_ask())


async def _asks_again(assay: Assay, row: RunRow) -> bool:
    """True if a run failed because no model or search service answered, so that it may begin where it stopped."""
    return row.status == "failed" and (await assay.view(row.run_id)).stop_reason in UNANSWERED_REASONS


async def _show_again(assay: Assay, run_id: str, output: Output) -> Exit:
    if output.stdout == "events":
        await show_events(aiter(assay.follow(run_id)), output, output.display())
    return await deliver_result(assay, await assay.view(run_id), output)


@dataclass(frozen=True, slots=True)
class ForkOrder:
    """A request for a fork; `changes` are the options of `Assay.fork`."""

    reference: str
    point: ForkPoint
    changes: dict[str, Any] = field(default_factory=dict)
    may_ask: bool = False
    detach: bool = False


@click.command("fork", cls=GroupedCommand)
@options.run_argument()
@click.option(
    "--from",
    "point",
    type=click.Choice(POINTS),
    required=True,
    help="Start again from the plan, the research or the report.",
)
@click.option(
    "--plan",
    type=options.FilePath(exists=True, dir_okay=False),
    metavar="FILE",
    help="Use this plan: its text form (as --review-plan shows it), or JSON.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="SOURCE",
    help="Leave out this source (number, id, address, title or file); repeatable.",
)
@click.option(
    "--add",
    multiple=True,
    metavar="PATH",
    shell_complete=any_path,
    help="Also research these files, folders, globs or page addresses; repeatable.",
)
@run_options.run_options("fork", ForkOptions)
@options.output_options()
@options.citation_options
@run_options.detach_option
@options.notify_option
@options.yes_option
@options.common_options
@click.pass_obj
@gather_output_options
def fork_run(
    state: TerminalOptions,
    /,
    reference: str,
    point: ForkPoint,
    add: Sequence[str],
    wanted: OutputOptions,
    detach: bool,
    yes: bool,
    home: Path | None,
    **changes: Any,
) -> int:
    """Start a new run from a point in the finished run ID. What came before that point is reused at no cost; the rest
    is done again.

    The new run does not depend on the old one, which may be deleted, and has limits and usage of its own.

    \b
        assay runs fork last --from write --length short --lang de
        assay runs fork last --from write --exclude 3
        assay runs fork last --from research --add more/ --model openai:gpt-5
        assay runs fork last --from plan --plan plan.txt
    """
    config = settings.load()
    output = wanted.output(config, state.verbosity)
    detached_run.check_options(output, detach=detach)
    changes["add"] = paths_from(add) if add else None
    order = ForkOrder(reference, point, changes, may_ask=not yes and not detach and can_ask(), detach=detach)
    return asyncio.run(_fork(order, output, home, config))


async def _fork(order: ForkOrder, output: Output, home: Path | None, config: settings.Settings) -> Exit:
    async with open_existing(home) as assay:
        display = output.display()
        with display:
            run_id = await assay.fork(order.reference, order.point, progress=display.show_progress, **order.changes)
        if order.detach:
            return await detached_run.detach_run(assay, run_id, home or config.home, output)
        if output.verbosity >= 0:
            say(f"run {run_id}, forked from {order.point}")
        return await run_interactively(assay, await assay.resume(run_id), output, somebody=order.may_ask)


SHOWN = 20
"""Differences shown; `--json` has all of them."""


@click.command("replay")
@options.run_argument()
@options.json_output
@options.common_options
@click.pass_context
def replay_run(ctx: click.Context, reference: str, as_json: bool, home: Path | None) -> None:
    """Recompute run ID from its stored steps, and compare. No model is called, nothing is searched or fetched.

    Exits with 3 if anything differs, as it may after prompts or code have changed.

    \b
        assay runs replay last
        assay runs replay k3v9 --json
    """
    replay = read_library(home, lambda assay: assay.replay(reference))
    if as_json:
        write_json(replay)
    else:
        _print_replay(replay)
    if not replay.is_same:
        ctx.exit(Exit.UNVERIFIED)


def _print_replay(replay: Replay) -> None:
    report = "the report is the same, byte for byte" if replay.same_report else "the report differs"
    write(f"{replay.run_id}: {report}; {replay.steps} stored steps, {replay.events} events computed again")
    for line in replay.differences[:SHOWN]:
        write(f"  {clean(line)}")
    if len(replay.differences) > SHOWN:
        write(f"  and {len(replay.differences) - SHOWN} more")


# Answers to a waiting run: `answer`, `approve`.

HOW_TO_ANSWER = "give the answers in their order, or in a file (--answers FILE)"


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """The answers to a waiting run on a command line."""

    answers: list[str] | dict[str, str] | None = None
    approved: bool = False
    plan: Path | None = None
    resume: bool = True


@click.command("answer")
@options.run_argument()
@click.argument("texts", metavar="[ANSWER]…", nargs=-1)
@run_options.run_options("answer")
@click.option("--no-resume", is_flag=True, help="Only store the answers; `assay runs resume` continues.")
@report_options
@options.run_async
async def answer_run(
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
    output = wanted.output(settings.load(), state.verbosity)
    given_answers = answers if answers is not None else list(texts) or None
    answer_options = AnswerOptions(answers=given_answers, resume=not no_resume)
    return await answer_and_resume(reference, answer_options, output, home)


async def answer_and_resume(reference: str, answer_options: AnswerOptions, output: Output, home: Path | None) -> Exit:
    """Answer a waiting run, and continue it unless that is left for later."""
    async with open_existing(home) as assay:
        view = await assay.view(reference)
        if not await _give_answers(assay, view, answer_options):
            return await deliver_result(assay, await assay.view(view.run_id), output)
        if not answer_options.resume:
            say(f"answered; to continue: assay runs resume {view.run_id}")
            return Exit.DONE
        return await continue_run(assay, view.run_id, output)


async def _give_answers(assay: Assay, view: RunView, answer_options: AnswerOptions) -> bool:
    """Answer a run from the command line, else ask a person; False if it is not to continue."""
    if answer_options.approved or answer_options.plan is not None:
        await assay.approve(view.run_id, answer_options.plan)
    elif answer_options.answers is not None or not view.waiting_for:
        await assay.answer(view.run_id, answer_options.answers or [])
    elif can_ask():
        return await ask_person(assay, view)
    elif view.waiting_for == "plan":
        hint = f"assay runs approve {view.run_id}, with --plan FILE to give another"
        raise click.UsageError(f"run {view.run_id} waits for its plan to be approved: {hint}")
    else:
        raise click.UsageError(f"no answers; {HOW_TO_ANSWER}. Asked is: {'; '.join(view.clarification.questions)}")
    return True


@click.command("approve")
@options.run_argument()
@click.option(
    "--plan",
    type=options.FilePath(exists=True, dir_okay=False),
    metavar="FILE",
    help="Use this plan instead: its text form, or JSON as the run printed it.",
)
@click.option("--no-resume", is_flag=True, help="Only approve it; `assay runs resume` continues.")
@report_options
@options.run_async
async def approve_plan(
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
    output = wanted.output(settings.load(), state.verbosity)
    answer_options = AnswerOptions(approved=plan is None, plan=plan, resume=not no_resume)
    return await answer_and_resume(reference, answer_options, output, home)
