"""What `assay runs cancel`, `pause` and `finish` share: ask, wait until it is done, say what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import click

from assay.app.run_control import Asked
from assay.cli import options
from assay.cli.exits import Exit
from assay.cli.library import stored
from assay.cli.options import Command
from assay.cli.runs.ids import run_ids
from assay.cli.terminal import TerminalOptions, say
from assay.core.ports import RunRow

SECONDS = 30.0
"""How long a command waits until a request is applied."""

no_wait = click.option("--no-wait", is_flag=True, help="Store the request and return without waiting.")


def controlled(command: Command) -> Command:
    """The argument and the options of the three commands."""
    named = click.argument("reference", metavar="ID", shell_complete=run_ids)
    return named(no_wait(options.common(command)))


def tell(reference: str, action: Asked, home: Path | None, *, wait: bool, done: Callable[[str], str]) -> Exit:
    """Ask for `action`; `done` says what it means for the run of an id."""
    quiet = click.get_current_context().ensure_object(TerminalOptions).verbosity < 0
    return asyncio.run(_tell(reference, action, home, SECONDS if wait else 0.0, done, quiet=quiet))


async def _tell(
    reference: str, action: Asked, home: Path | None, wait: float, done: Callable[[str], str], *, quiet: bool
) -> Exit:
    async with stored(home) as assay:
        run_id = (await assay.find(reference)).run_id
        came = await assay.control(run_id, action, wait=wait)
        row = await assay.find(run_id)
    if came == "stored":
        heeded = not wait or not row.holder
        if not (heeded and quiet):
            say(_stored(row, action, wait))
        return Exit.DONE if heeded else Exit.FAILED
    if not quiet:
        say(done(run_id) if came == "applied" else f"run {run_id} ended before that: {row.status}")
    return Exit.DONE


def tell_agent(reference: str, lane: int, home: Path | None, *, wait: bool) -> Exit:
    """Ask for one agent to be stopped, and say what came of it."""
    quiet = click.get_current_context().ensure_object(TerminalOptions).verbosity < 0
    return asyncio.run(_tell_agent(reference, lane, home, SECONDS if wait else 0.0, quiet=quiet))


async def _tell_agent(reference: str, lane: int, home: Path | None, wait: float, *, quiet: bool) -> Exit:
    async with stored(home) as assay:
        run_id = (await assay.find(reference)).run_id
        came = await assay.stop_agent(run_id, lane, wait=wait)
    said = {
        "applied": f"agent {lane} of run {run_id} is stopped; what it found is kept, and the run goes on",
        "ended": f"agent {lane} of run {run_id} ended before that",
        "stored": f"to stop agent {lane} of run {run_id} is stored; to see it: assay runs watch {run_id}",
    }
    if not quiet:
        say(said[came])
    return Exit.DONE


def _stored(row: RunRow, action: Asked, wait: float) -> str:
    if not row.holder:
        return f"nobody executes run {row.run_id}; to have its report written now: assay runs resume {row.run_id}"
    if not wait:
        return f"{action} of run {row.run_id} is stored; to see it: assay runs watch {row.run_id}"
    return f"{action} of run {row.run_id} is stored, and its process has not heeded it for {wait:.0f} s: {row.holder}"
