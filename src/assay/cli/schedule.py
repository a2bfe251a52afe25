"""`assay schedule`: questions asked at intervals."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import click

from assay import RunHandle, settings
from assay.cli import options, run_options
from assay.cli.figures import outcome
from assay.cli.jobs import queue_jobs, queue_option
from assay.cli.library import open_assay
from assay.cli.options import send_notices
from assay.cli.run_options import ResearchCommand, check_exist, paths_from, question_from
from assay.cli.run_watch import Output, Stdout, show_events
from assay.cli.runs.outcome import describe_difference
from assay.cli.runs.removal import apply_retention
from assay.cli.signals import TerminationSignal, cancel_on_signal
from assay.cli.terminal import Exit, TerminalOptions, clean, print_list, say, write, write_json
from assay.core.milestones import pluralize
from assay.core.view import RunView
from assay.services.jobs.specifications import DueJob
from assay.services.notices import Target, changes_of, notice_of
from assay.services.schedule_runs import DueOutcome, is_due, run_due
from assay.services.schedules import (
    Schedule,
    ScheduleBook,
    absolute_sources,
    format_interval,
    parse_interval,
    stored_options,
)


@click.command("add", cls=ResearchCommand)
@click.argument("words", nargs=-1, metavar="QUESTION")
@click.option("--every", required=True, metavar="TIME", help="Interval: 30m, 12h, 7d, 2w, hourly, daily, weekly.")
@run_options.places_option(", as they are then")
@run_options.run_options("schedule")
@options.common_options
@click.pass_obj
def add_schedule(
    state: TerminalOptions,
    /,
    words: Sequence[str],
    every: str,
    paths: Sequence[str],
    home: Path | None,
    **option_values: Any,
) -> None:
    """Ask QUESTION every TIME, and print the schedule's id. It is due at once, for `assay schedule run-due`.

    Options given here are stored. Everything else comes from the settings at the time of each run. --template,
    --instructions and --schema are read now, the documents of --in each time.

    \b
        assay schedule add "What is new in Python packaging?" --every 7d
        assay schedule add "Which prices changed?" --every daily --in prices/ --max-usd 0.50
    """
    config = settings.load()
    question, seconds = question_from(words, paths), parse_interval(every)
    option_texts = stored_options(question, cast("Any", option_values), config)
    sources = absolute_sources(check_exist(paths_from(paths))) if paths else None
    schedule = ScheduleBook(home or config.home).add(question, seconds, sources, option_texts, datetime.now(UTC))
    write(schedule.id)
    if state.verbosity >= 0:
        say(f"asked every {format_interval(seconds)} by `assay schedule run-due` (cron) or `assay schedule watch`")


@click.command("list")
@options.json_output
@options.common_options
def list_schedules(as_json: bool, home: Path | None) -> None:
    """List schedules, oldest first: id, interval, next time, latest run, question.

    \b
        assay schedule list
        assay schedule list --json
    """
    schedules = ScheduleBook(home or settings.load().home).all()
    if not schedules:
        say("there are no schedules yet: `assay schedule add QUESTION --every 7d` makes the first")
    rows = (
        (
            schedule.id,
            format_interval(schedule.every),
            schedule.next_at[:16].replace("T", " "),
            schedule.current or schedule.last,
            schedule.question,
        )
        for schedule in schedules
    )
    print_list(schedules, ("schedule", "every", "due", "last run", "question"), rows, as_json=as_json)


@click.command("rm")
@click.argument("references", nargs=-1, required=True, metavar="ID…")
@options.common_options
def remove_schedule(references: Sequence[str], home: Path | None) -> None:
    """Delete the schedules ID… (or the starts of ids). Their runs stay.

    \b
        assay schedule rm k3v9q2
        assay schedule rm k3v9 m2p4
    """
    book = ScheduleBook(home or settings.load().home)
    ids = {book.find(reference).id for reference in references}
    for id in ids:
        book.remove(id)
    say(f"{pluralize(len(ids), 'schedule')} removed")


def output_for(state: TerminalOptions, config: settings.Settings, notify: Sequence[str], *, as_json: bool) -> Output:
    """How `run-due` and `watch` report their work.

    Raises:
        ConfigError: a target of the notices is invalid.
    """
    stdout: Stdout = "json" if as_json else "report"
    return Output(stdout=stdout, verbosity=state.verbosity, notify=options.notice_targets(notify, config))


async def ask_due(book: ScheduleBook, home: Path, config: settings.Settings, output: Output) -> Exit:
    """Ask every question that is due; the exit code is the worst of the results."""
    codes: set[Exit] = set()

    async def show_run(schedule: Schedule, run: RunHandle) -> RunView:
        if output.verbosity >= 0:
            say(f"schedule {schedule.id}: {clean(schedule.question)}")
        display = output.display()
        with display:
            await show_events(aiter(run), output, display)
        return await run.view()

    if not any(entry.current or is_due(entry, datetime.now(UTC)) for entry in book.all()):
        return Exit.DONE
    async with open_assay(home, config) as assay:
        async for due_outcome in run_due(assay, book, lambda: datetime.now(UTC), show_run):
            _print_outcome(due_outcome, output)
            await _notify(due_outcome, output.notify)
            codes.add(_exit_code(due_outcome))
        await apply_retention(assay, output.verbosity)
    return next((code for code in (Exit.FAILED, Exit.INPUT_NEEDED) if code in codes), Exit.DONE)


def _print_outcome(due_outcome: DueOutcome, output: Output) -> None:
    schedule, view = due_outcome.schedule, due_outcome.view
    if output.stdout == "json":
        fields = {
            "schedule": schedule.id,
            "question": schedule.question,
            "run": view.run_id if view else "",
            "status": view.status if view else "failed",
            "changes": due_outcome.changes,
            "error": due_outcome.error,
        }
        write_json(fields, line=True)
        return
    write(f"schedule {schedule.id}: {clean(schedule.question)}")
    if due_outcome.changes is not None:
        for line in describe_difference(due_outcome.changes):
            write(f"  {line}" if line else "")
    elif view is None:
        write(f"  failed: {clean(due_outcome.error)}")
    else:
        first = " (its first report)" if view.status == "completed" else ""
        write(f"  run {view.run_id} {clean(outcome(view))}{first}")


async def _notify(due_outcome: DueOutcome, targets: tuple[Target, ...]) -> None:
    if due_outcome.view is not None:
        changes = None if due_outcome.changes is None else changes_of(due_outcome.changes)
        await send_notices(notice_of(due_outcome.view, schedule=due_outcome.schedule.id, changes=changes), targets)


def _exit_code(due_outcome: DueOutcome) -> Exit:
    if due_outcome.view is None or due_outcome.view.status in ("failed", "cancelled"):
        return Exit.FAILED
    return Exit.INPUT_NEEDED if due_outcome.view.status == "waiting" else Exit.DONE


@click.command("run-due")
@options.notify_option
@queue_option
@options.json_output
@options.common_options
@click.pass_obj
def run_schedules(state: TerminalOptions, notify: Sequence[str], queued: bool, as_json: bool, home: Path | None) -> int:
    """Ask every question that is due, one after another, and print how each report differs from the previous one.

    Made for cron or a systemd timer: it does nothing when no question is due, and two calls at once never ask twice.
    A run left by a killed process is continued. --json prints one line per schedule: {"schedule", "run", "status",
    "changes", …}. Exit codes: 0 done, or nothing due; 1 a run failed; 7 a run waits for answers.

    \b
        assay schedule run-due
        0 * * * *  assay schedule run-due -q --notify "mail -s assay me@example.org"
        assay schedule run-due --json
    """
    config = settings.load()
    folder = home or config.home
    if queued:
        if notify or as_json:
            raise click.UsageError("--queue leaves it to a worker, which tells webhooks: leave --notify and --json out")
        queue_jobs([DueJob(home=str(folder))], home, config, state.verbosity)
        return Exit.DONE
    output = output_for(state, config, notify, as_json=as_json)
    return asyncio.run(_ask_once(ScheduleBook(folder), folder, config, output))


async def _ask_once(book: ScheduleBook, folder: Path, config: settings.Settings, output: Output) -> Exit:
    try:
        with cancel_on_signal(), cancel_on_signal(signal.SIGINT):
            return await ask_due(book, folder, config, output)
    except TerminationSignal as ended:
        say("interrupted; the next call continues")
        return Exit.CANCELLED if ended.number == signal.SIGINT else Exit.TERMINATED


EVERY = 20.0
"""Seconds between two checks: schedules may be added and removed meanwhile."""


@click.command("watch")
@options.notify_option
@options.json_output
@options.common_options
@click.pass_obj
@options.run_async
async def watch_schedules(state: TerminalOptions, notify: Sequence[str], as_json: bool, home: Path | None) -> int:
    """Keep running, ask each question when it is due, and print what changed. Ctrl-C or SIGTERM stops it.

    The next `watch` or `run-due` continues an interrupted run.

    \b
        assay schedule watch --notify https://example.org/hook
        assay schedule watch
    """
    config = settings.load()
    folder = home or config.home
    output, book = output_for(state, config, notify, as_json=as_json), ScheduleBook(folder)
    try:
        with cancel_on_signal(), cancel_on_signal(signal.SIGINT):
            if output.verbosity >= 0:
                say(f"watching {pluralize(len(book.all()), 'schedule')} (Ctrl-C ends)")
            while True:
                await ask_due(book, folder, config, output)
                await asyncio.sleep(EVERY)
    except TerminationSignal as ended:
        return Exit.DONE if ended.number == signal.SIGINT else Exit.TERMINATED
