"""`assay runs watch`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from assay import Assay
from assay.cli import options
from assay.cli.display import can_draw, display
from assay.cli.exits import Exit
from assay.cli.library import stored
from assay.cli.live.playback import ReplayPlayer
from assay.cli.run_watch import Output, close, exit_code, looked_on
from assay.cli.runs.ids import run_ids
from assay.cli.terminal import TerminalOptions
from assay.core.ports import FINAL


@click.command("watch")
@click.argument("reference", metavar="ID", shell_complete=run_ids)
@click.option(
    "--speed",
    type=click.FloatRange(0, 100_000),
    metavar="N",
    help="Replay a stored run N times as fast; 0 is at once. Default: within 10 s on a terminal, else at once.",
)
@click.option("--events", "as_events", is_flag=True, help="Print every event as a line of JSON.")
@options.common
@click.pass_obj
def command(state: TerminalOptions, reference: str, speed: float | None, as_events: bool, home: Path | None) -> int:
    """Watch run ID live, or replay it from its log.

    Ctrl-C stops watching; the run continues. The exit code is the run's.

    \b
        assay runs watch last
        assay runs watch k3v9
    """
    output = Output(stdout="events" if as_events else "report", verbosity=state.verbosity)
    return asyncio.run(_watch(reference, speed, output, home))


async def _watch(reference: str, speed: float | None, output: Output, home: Path | None) -> Exit:
    async with stored(home) as assay:
        row = await assay.find(reference)
        over = row.status in FINAL or row.status == "waiting" or not (row.holder or row.queued)
        watching = _replay(assay, row.run_id, speed, output) if over else _follow(assay, row.run_id, output)
        if not await watching:
            return Exit.CANCELLED
        view = await assay.view(row.run_id)
        close(view, output)
        return Exit.INPUT_NEEDED if view.status == "waiting" else exit_code(view)


async def _follow(assay: Assay, run_id: str, output: Output) -> bool:
    return await looked_on(aiter(assay.follow(run_id)), output, output.display(), run_id)


async def _replay(assay: Assay, run_id: str, speed: float | None, output: Output) -> bool:
    replay = ReplayPlayer(await assay.events(run_id), speed if speed is not None or can_draw() else 0.0)
    shown = display(output.verbosity, events=output.stdout == "events", now=replay.now)
    return await looked_on(aiter(replay), output, shown, run_id)
