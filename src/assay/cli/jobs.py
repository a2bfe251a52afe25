"""Jobs: `list`, `show`, `watch`, `cancel`, `retry`; and the output of a command that left work to the workers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, get_args, get_origin

import click
import msgspec

from assay import Assay
from assay.cli import options
from assay.cli.library import open_assay, open_existing, read_library
from assay.cli.options import Command
from assay.cli.signals import interruptible_prompt
from assay.cli.terminal import Exit, TerminalOptions, clean, print_list, say, write, write_json
from assay.core.errors import process_of
from assay.core.milestones import pluralize
from assay.core.ports.jobs import Job, JobFilter, JobState
from assay.services.jobs.ingestion import WorkerFigures
from assay.services.jobs.specifications import JobWork
from assay.services.schedules import format_interval, parse_interval
from assay.settings import Settings, load

T = TypeVar("T")
_KINDS = {work.__struct_config__.tag: work for work in get_args(JobWork)}
NO_JOBS = "there are no jobs: `assay docs add PATH --queue` leaves one to the workers"
JOB_WORDS = {"failed": "failed", "cancelled": "was cancelled"}
_STATES: tuple[JobState, ...] = get_args(JobState)


def queue_option(command: Command) -> Command:
    """`--queue`, for work that can be left to a worker."""
    return click.option(
        "--queue", "queued", is_flag=True, help="Print a job's id and leave the work to a worker (assay worker)."
    )(command)


def queue_jobs(works: Sequence[JobWork], home: Path | None, config: Settings, verbosity: int, **when: int) -> None:
    """Leave work to the workers, and print the ids of the jobs on stdout. `when` is as for `Assay.begin_job`."""
    for job in asyncio.run(_begin_jobs(works, home, config, when)):
        write(job.id)
        if verbosity >= 0:
            say(f"queued: {clean(job.name)}; to watch: assay jobs watch {job.id}")


async def _begin_jobs(
    works: Sequence[JobWork], home: Path | None, config: Settings, when: Mapping[str, int]
) -> list[Job]:
    async with open_assay(home, config) as assay:
        return [await assay.begin_job(work, **when) for work in works]


@click.command("begin")
@click.argument("kind", metavar="KIND", type=click.Choice(sorted(map(str, _KINDS))))
@click.argument("values", nargs=-1, metavar="NAME=VALUE…")
@click.option("--every", metavar="TIME", help="Repeat it: 30m, 12h, 7d, 2w, hourly, daily, weekly.")
@click.option("--priority", type=click.IntRange(-100, 100), default=0, metavar="N", help="The highest goes first [0].")
@options.common_options
@click.pass_obj
def begin_job(
    state: TerminalOptions, kind: str, values: Sequence[str], every: str | None, priority: int, home: Path | None
) -> None:
    """Start a job on the workers, once or periodically, and print its id.

    KIND is add, batch, crawl, due, embed, export, index, notices, prune, sync or verify. Each takes the options of
    its command as NAME=VALUE; a value that begins with [ or { is read as JSON.

    \b
        assay jobs begin sync collection=archive --every 6h
        assay jobs begin prune --every daily
        assay jobs begin add 'paths=["/mnt/archive"]' collection=archive --priority 5
    """
    work = _work(kind, values)
    seconds = 0 if every is None else parse_interval(every)
    queue_jobs([work], home, load(), state.verbosity, priority=priority, every=seconds)


def _work(kind: str, values: Sequence[str]) -> JobWork:
    """The work of a job of this kind.

    Raises:
        click.UsageError: it takes no such value.
    """
    arguments: dict[str, object] = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not equals:
            raise click.UsageError(f"{value!r} is not NAME=VALUE")
        try:
            arguments[name] = msgspec.json.decode(text) if text.startswith(("[", "{")) else text
        except msgspec.DecodeError as error:
            raise click.UsageError(f"{name} is not JSON: {error}") from error
    job_type = _KINDS[kind]
    fields = {field.name: field for field in msgspec.structs.fields(job_type)}
    if unknown := [name for name in arguments if name not in fields]:
        hint = f"use {', '.join(fields)}" if fields else "it takes none, and goes by the settings"
        raise click.UsageError(f"{kind} has no option {unknown[0]!r}: {hint}")
    if missing := [name for name, field in fields.items() if field.required and name not in arguments]:
        raise click.UsageError(f"{kind} needs {', '.join(f'{name}=VALUE' for name in missing)}")
    for name, argument in arguments.items():
        if isinstance(argument, str) and get_origin(fields[name].type) is tuple:
            arguments[name] = [argument]
    try:
        work: JobWork = msgspec.convert(arguments, job_type, strict=False)
    except msgspec.ValidationError as error:
        raise click.UsageError(f"{kind}: {error}") from error
    return work


all_users = click.option("--all-users", "every_user", is_flag=True, help="Include the jobs of all users.")


@click.command("list")
@click.option(
    "--state", "states", multiple=True, type=click.Choice(_STATES), help="List only jobs in this state; repeatable."
)
@click.option("-n", "--limit", type=click.IntRange(1, 10_000), default=30, show_default=True, help="Jobs to list.")
@all_users
@options.json_output
@options.common_options
def list_jobs(states: tuple[JobState, ...], limit: int, every_user: bool, as_json: bool, home: Path | None) -> None:
    """List jobs, newest first: id, state, progress, name and last message. Jobs stay in the list for 30 days.

    Failed jobs stay until you retry or cancel them.

    \b
        assay jobs list
        assay jobs list --state failed --all-users --json
    """
    job_filter = JobFilter(states=frozenset(states), limit=limit)
    jobs = _read_jobs(home, every_user, lambda assay: assay.jobs(job_filter))
    if not jobs and not as_json:
        say(NO_JOBS)
    rows = [(job.id, job.state, _progress(job), job.name, job.error or job.line) for job in jobs]
    print_list(jobs, ("job", "state", "done", "what", "last word"), rows, as_json=as_json)


@click.command("show")
@click.argument("id", metavar="ID")
@all_users
@options.json_output
@options.common_options
def show_job(id: str, every_user: bool, as_json: bool, home: Path | None) -> None:
    """Show job ID: its state, its worker, its result, and what each worker did.

    \b
        assay jobs show k3v9q2m4p1
        assay jobs show k3v9q2m4p1 --json
    """
    job, figures = _read_jobs(home, every_user, lambda assay: _job_and_workers(assay, id))
    if as_json:
        fields = {**msgspec.to_builtins(job), "workers": figures}
        write_json(fields)
        return
    for line in _lines(job, figures):
        write(clean(line))


@click.command("watch")
@click.argument("id", metavar="ID")
@options.common_options
@click.pass_obj
def watch_job(state: TerminalOptions, id: str, home: Path | None) -> int:
    """Show the progress of job ID until it ends. Ctrl-C stops watching; the job continues. Exits with 1 if the job
    failed.

    \b
        assay jobs watch k3v9q2m4p1
        assay jobs watch k3v9q2m4p1 --home ~/research
    """
    with interruptible_prompt():
        job = asyncio.run(_watch(home, id, state.verbosity))
    if job.state == "done":
        return Exit.DONE
    say(clean(f"job {job.id} {JOB_WORDS[job.state]}{f': {job.error}' if job.error else ''}"))
    return Exit.FAILED


@click.command("cancel")
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@all_users
@options.common_options
def cancel_job(ids: Sequence[str], every_user: bool, home: Path | None) -> None:
    """Cancel the jobs ID…: waiting and failed ones at once, running ones within seconds. Finished work is kept.

    \b
        assay jobs cancel k3v9q2m4p1
        assay jobs cancel k3v9q2m4p1 m2p4h8t6r0
    """
    for job in _read_jobs(home, every_user, lambda assay: _await_each(map(assay.cancel_job, ids))):
        say(f"job {job.id} is {'being stopped' if job.stopping and job.state == 'running' else job.state}")


@click.command("retry")
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@all_users
@options.common_options
def retry_job(ids: Sequence[str], every_user: bool, home: Path | None) -> None:
    """Retry the jobs ID…, which failed or were cancelled. Finished work is not repeated.

    \b
        assay jobs retry k3v9q2m4p1
        assay jobs retry k3v9q2m4p1 m2p4h8t6r0
    """
    for job in _read_jobs(home, every_user, lambda assay: _await_each(map(assay.retry_job, ids))):
        say(f"job {job.id} waits for a worker")


def _read_jobs(home: Path | None, every_user: bool, read: Callable[[Assay], Awaitable[T]]) -> T:
    """The result of `read`, which gets the library as its local user sees it, or with the data of all users."""
    return read_library(home, lambda assay: read(assay.owned_by(None) if every_user else assay))


async def _job_and_workers(assay: Assay, id: str) -> tuple[Job, list[WorkerFigures]]:
    return await assay.job(id), await assay.job_figures(id)


async def _await_each(calls: Iterable[Awaitable[T]]) -> list[T]:
    """The results of these calls, each begun after the one before it."""
    return [await call for call in calls]


async def _watch(home: Path | None, id: str, verbosity: int) -> Job:
    async with open_existing(home) as assay:
        last = ""
        async for job in assay.follow_job(id):
            line = f"{job.state}{_in_brackets(_progress(job))}{f': {job.line}' if job.line else ''}"
            if verbosity >= 0 and line != last:
                say(clean(line))
            last = line
        return await assay.job(id)


def _progress(job: Job) -> str:
    return f"{job.finished} of {job.total}" if job.total else ""


def _in_brackets(text: str) -> str:
    return f" ({text})" if text else ""


def _lines(job: Job, figures: Sequence[WorkerFigures]) -> list[str]:
    lines = [f"{job.name}", f"{job.state}{_in_brackets(_progress(job))}{f': {job.line}' if job.line else ''}"]
    if job.holder:
        lines.append(f"done by {process_of(job.holder)}")
    if job.error:
        lines.append(job.error)
    if job.every:
        lines.append(f"done every {format_interval(job.every)}" if job.every % 60 == 0 else f"done every {job.every} s")
    counts = {name: value for name, value in job.result.items() if isinstance(value, int | str)}
    lines += [f"{name}: {value}" for name, value in counts.items()]
    for row in figures:
        speed = row.files / row.seconds if row.seconds else 0.0
        lines.append(
            f"{process_of(row.worker)}: {pluralize(row.parts, 'part')}, {row.files} files, "
            f"{row.added} new documents, {speed:.1f} files a second"
        )
    return [*lines, *(f"warning: {warning}" for warning in job.result.get("warnings", ()))]
