"""Following a run to its end: events to stdout or as progress to stderr, then the report where it was asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click
import msgspec

from assay import Assay, RunHandle
from assay.cli import files
from assay.cli.exits import Exit
from assay.cli.interrupts import Terminated, interrupts, termination
from assay.cli.progress import counted, lines
from assay.cli.terminal import say, write
from assay.core.errors import StoreError
from assay.core.events import Envelope
from assay.core.markers import CitationMode
from assay.core.report import LIMITS, STOP_REASONS
from assay.core.view import RunView

Stdout = Literal["report", "json", "events"]


@dataclass(frozen=True, slots=True)
class Output:
    """Where a run's result goes: `stdout` holds the report unless files do, or JSON, or the events."""

    files: tuple[Path, ...] = ()
    stdout: Stdout = "report"
    citations: CitationMode = "numbers"
    strict: bool = False
    verbosity: int = 0


def stdout_for(*, as_json: bool, as_events: bool) -> Stdout:
    """What goes to stdout.

    Raises:
        click.UsageError: two things are to go there.
    """
    if as_json and as_events:
        raise click.UsageError("--json and --events exclude each other")
    return "json" if as_json else "events" if as_events else "report"


async def watch(assay: Assay, run: RunHandle, output: Output) -> Exit:
    """Execute `run` to its end, heeding Ctrl-C, and hand over its report. Where SIGTERM ends it, it can be resumed.

    Raises:
        StoreError: a file cannot be written (the report is on stdout then).
    """

    def finish() -> None:
        say("finishing: the report is written from what was found (Ctrl-C again cancels)")
        run.finish()

    def cancel() -> None:
        say("cancelling")
        run.cancel()

    try:
        with termination(), interrupts(finish, cancel):
            await follow(aiter(run), output)
            return await conclude(assay, await run.view(), output)
    except Terminated:
        say(f"interrupted; to go on: assay runs resume {run.run_id}" if run.created else "interrupted")
        return Exit.TERMINATED


async def follow(events: AsyncIterator[Envelope], output: Output) -> None:
    """Show events as they come."""
    async for envelope in events:
        if output.stdout == "events":
            write(msgspec.json.encode(envelope).decode())
        for line in lines(envelope, output.verbosity):
            say(line)


async def conclude(assay: Assay, view: RunView, output: Output) -> Exit:
    """Hand over the result of a run that ended, or waits; the exit code says how it ended.

    Raises:
        StoreError: a file cannot be written (the report is on stdout then).
    """
    if view.status == "waiting":
        return _ask(view)
    await _deliver(assay, view, output)
    code = exit_code(view, strict=output.strict)
    if output.verbosity >= 0 or code in (Exit.FAILED, Exit.UNVERIFIED):
        say(_closing(view))
    return code


def exit_code(view: RunView, *, strict: bool = False) -> Exit:
    """How a run ended, as an exit code."""
    if view.status == "cancelled":
        return Exit.CANCELLED
    if view.status != "completed":
        return Exit.FAILED
    if view.stop_reason == "no_evidence":
        return Exit.NO_EVIDENCE
    if strict and not view.verified:
        return Exit.UNVERIFIED
    return Exit.LIMIT if view.stop_reason in LIMITS else Exit.DONE


def _ask(view: RunView) -> Exit:
    """Nobody here can answer: the questions as JSON, for whoever can."""
    waiting = {"run_id": view.run_id, "waiting_for": view.waiting_for, "questions": view.clarification.questions}
    write(msgspec.json.encode(waiting).decode())
    return Exit.INPUT_NEEDED


def _kept(view: RunView) -> str:
    return f"the report is kept: assay runs export {view.run_id} -o FILE"


async def _deliver(assay: Assay, view: RunView, output: Output) -> None:
    written = bool(view.report.text.strip()) and view.status != "cancelled"
    if output.stdout == "json":
        write((await assay.export(view.run_id, ".json", output.citations)).decode(), hint=_kept(view))
    elif output.stdout == "report" and written and not output.files:
        write((await assay.export(view.run_id, ".md", output.citations)).decode(), hint=_kept(view))
    if written:
        for path in output.files:
            await _save(assay, view, path, output)


async def _save(assay: Assay, view: RunView, path: Path, output: Output) -> None:
    data = await assay.export(view.run_id, files.suffix(path), output.citations)
    try:
        files.save(path, data)
    except StoreError:
        if output.stdout == "report":  # paid for: better on the screen than nowhere
            write((await assay.export(view.run_id, ".md", output.citations)).decode(), hint=_kept(view))
        raise
    if output.verbosity >= 0:
        say(f"the report is in {path}")


def _closing(view: RunView) -> str:
    if view.status in ("created", "running"):
        return f"run {view.run_id} was interrupted; to go on with it: assay runs resume {view.run_id}"
    if view.status in ("failed", "cancelled"):
        return f"run {view.run_id} {view.status}: {view.error or STOP_REASONS.get(view.stop_reason, view.stop_reason)}"
    unverified = "" if view.verified else "; not verified"
    reason = "" if view.stop_reason == "done" else f" {STOP_REASONS.get(view.stop_reason, view.stop_reason)}"
    return f"run {view.run_id} completed: {_cited(view)}{unverified}.{reason}"


def _cited(view: RunView) -> str:
    """How much the report rests on; a passage or document which two agents met counts once."""
    ids = {id for claim in view.claims for id in claim.passages}
    cited = [passage for passage in view.passages.values() if passage.id in ids]
    passages = {(passage.document_sha256, passage.start, passage.end) for passage in cited}
    if not passages:
        return "nothing cited"
    sources = {passage.document_sha256 for passage in cited}
    return f"{counted(len(passages), 'passage')} of {counted(len(sources), 'source')} cited"
