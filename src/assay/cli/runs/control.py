"""Commands on a running run: `watch`, live or replayed, `steer`, `finish`, `pause`, `cancel`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import click

from assay import Assay
from assay.cli import options
from assay.cli.display import can_draw, display
from assay.cli.library import open_existing
from assay.cli.options import Command
from assay.cli.run_watch import Output, exit_code, print_summary, watch_other_process
from assay.cli.terminal import Exit, TerminalOptions, say
from assay.core.events import Envelope, RunResumed, RunWaiting
from assay.core.ports import FINAL, RunRow
from assay.core.view import Steered
from assay.services.run_control import MAX_MESSAGE_CHARS, RequestedAction

MAX_REPLAY_SECONDS = 10.0
"""The most seconds of a replay without a given speed."""


class ReplayPlayer:
    """Replays a run's events with the time between them, without the time in which no process worked on the run.

    Args:
        speed: a factor; 0 is at once, None as fast as needed to take at most `MAX_REPLAY_SECONDS`.
    """

    def __init__(self, events: Sequence[Envelope], speed: float | None = None) -> None:
        self._events, self._gaps = events, event_gaps(events)
        total = sum(self._gaps)
        self.speed = max(1.0, total / MAX_REPLAY_SECONDS) if speed is None else speed
        self._last = datetime.fromisoformat(events[0].at) if events else datetime.now(UTC)
        self._shown_at, self._until_next = 0.0, 0.0

    def now(self) -> datetime:
        """The time in the run, which also passes between its events, but never beyond the next one."""
        since = asyncio.get_running_loop().time() - self._shown_at
        return self._last + timedelta(seconds=min(since * self.speed, self._until_next))

    async def __aiter__(self) -> AsyncIterator[Envelope]:
        loop = asyncio.get_running_loop()
        due = loop.time()
        next_gaps = [*self._gaps[1:], 0.0]
        for envelope, gap, until_next in zip(self._events, self._gaps, next_gaps, strict=False):
            due += gap / self.speed if self.speed else 0.0
            await asyncio.sleep(max(0.0, due - loop.time()))
            self._last, self._shown_at, self._until_next = datetime.fromisoformat(envelope.at), loop.time(), until_next
            yield envelope


def event_gaps(events: Sequence[Envelope]) -> list[float]:
    """Seconds of work before each event; none is negative."""
    gaps = [0.0] * min(len(events), 1)
    for before, after in pairwise(events):
        idle = after.type == RunResumed.kind or before.type == RunWaiting.kind
        seconds = (datetime.fromisoformat(after.at) - datetime.fromisoformat(before.at)).total_seconds()
        gaps.append(0.0 if idle else max(0.0, seconds))
    return gaps


# Shared by `assay runs cancel`, `pause` and `finish`: request, wait until it is done, report the result.

SECONDS = 30.0
"""How long a command waits until a request is applied."""
no_wait_option = click.option("--no-wait", is_flag=True, help="Store the request and return without waiting.")


def control_options(command: Command) -> Command:
    """The argument and the options of the three commands."""
    return options.run_argument()(no_wait_option(options.common_options(command)))


async def request_action(
    reference: str, action: RequestedAction, home: Path | None, *, no_wait: bool, success_message: Callable[[str], str]
) -> Exit:
    """Request `action`; `success_message` returns its message for a run's id."""
    quiet = click.get_current_context().ensure_object(TerminalOptions).verbosity < 0
    wait = 0.0 if no_wait else SECONDS
    async with open_existing(home) as assay:
        run_id = (await assay.find(reference)).run_id
        control_outcome = await assay.control(run_id, action, wait=wait)
        row = await assay.find(run_id)
    if control_outcome == "stored":
        succeeded = not wait or not row.holder
        if not (succeeded and quiet):
            say(_request_status(row, action, wait))
        return Exit.DONE if succeeded else Exit.FAILED
    if not quiet:
        say(
            success_message(run_id) if control_outcome == "applied" else f"run {run_id} ended before that: {row.status}"
        )
    return Exit.DONE


async def stop_agent(reference: str, lane: int, home: Path | None, *, no_wait: bool) -> Exit:
    """Request that one agent stops, and report the result."""
    quiet = click.get_current_context().ensure_object(TerminalOptions).verbosity < 0
    async with open_existing(home) as assay:
        run_id = (await assay.find(reference)).run_id
        control_outcome = await assay.stop_agent(run_id, lane, wait=0.0 if no_wait else SECONDS)
    messages = {
        "applied": f"agent {lane} of run {run_id} is stopped; its findings are kept, and the run continues",
        "ended": f"agent {lane} of run {run_id} ended before that",
        "stored": f"the request to stop agent {lane} of run {run_id} is stored; to watch: assay runs watch {run_id}",
    }
    if not quiet:
        say(messages[control_outcome])
    return Exit.DONE


def _request_status(row: RunRow, action: RequestedAction, wait: float) -> str:
    if not row.holder:
        return f"nobody executes run {row.run_id}; to have its report written now: assay runs resume {row.run_id}"
    if not wait:
        return f"{action} of run {row.run_id} is stored; to see it: assay runs watch {row.run_id}"
    return f"{action} of run {row.run_id} is stored, but its process has not reacted for {wait:.0f} s: {row.holder}"


@click.command("watch")
@options.run_argument()
@click.option(
    "--speed",
    type=options.FiniteRange(0, 100_000),
    metavar="N",
    help="Replay N times as fast; 0 at once. Default: 10 s on a terminal, else at once.",
)
@click.option("--events", "as_events", is_flag=True, help="Print every event as a line of JSON.")
@options.common_options
@click.pass_obj
@options.run_async
async def watch_run(
    state: TerminalOptions, reference: str, speed: float | None, as_events: bool, home: Path | None
) -> int:
    """Watch run ID live, or replay it from its log.

    Ctrl-C stops watching; the run continues. The exit code is the run's.

    \b
        assay runs watch last
        assay runs watch k3v9
    """
    output = Output(stdout="events" if as_events else "report", verbosity=state.verbosity)
    async with open_existing(home) as assay:
        row = await assay.find(reference)
        is_over = row.status in FINAL or row.status == "waiting" or not (row.holder or row.queued)
        playback = _replay(assay, row.run_id, speed, output) if is_over else _follow(assay, row.run_id, output)
        if not await playback:
            return Exit.CANCELLED
        view = await assay.view(row.run_id)
        print_summary(view, output)
        return Exit.INPUT_NEEDED if view.status == "waiting" else exit_code(view)


async def _follow(assay: Assay, run_id: str, output: Output) -> bool:
    return await watch_other_process(aiter(assay.follow(run_id)), output, output.display(), run_id)


async def _replay(assay: Assay, run_id: str, speed: float | None, output: Output) -> bool:
    replay = ReplayPlayer(await assay.events(run_id), speed if speed is not None or can_draw() else 0.0)
    screen = display(output.verbosity, events=output.stdout == "events", now=replay.now)
    return await watch_other_process(aiter(replay), output, screen, run_id)


@click.command("steer")
@options.run_argument()
@click.argument("text")
@no_wait_option
@options.common_options
def steer_run(reference: str, text: str, no_wait: bool, home: Path | None) -> Exit:
    """Give run ID an instruction while it is running (TEXT; - reads it from stdin).

    The instruction is stored at once and applied at the run's next decision: the orchestrator's or reflector's, else
    the writer's. The run's log shows what came of it.

    \b
        assay runs steer last "Leave the prices out, and look for the year it was built"
        echo "only sources since 2020" | assay runs steer k3v9 -
    """
    instruction = sys.stdin.read(MAX_MESSAGE_CHARS + 2) if text == "-" else text
    steering = asyncio.run(_steer(reference, instruction, home, 0.0 if no_wait else SECONDS))
    say(_describe_steering(steering))
    return Exit.FAILED if steering.state == "rejected" else Exit.DONE


async def _steer(reference: str, text: str, home: Path | None, wait: float) -> Steered:
    async with open_existing(home) as assay:
        row = await assay.find(reference)
        return await assay.steer(row.run_id, text, wait=wait if row.holder else 0.0)


def _describe_steering(steering: Steered) -> str:
    if steering.state == "applied":
        return f"the run follows it at {steering.note}"
    if steering.state == "rejected":
        return f"not followed: {steering.note}"
    return "stored; the run follows it at its next decision"


@click.command("finish")
@control_options
@options.run_async
async def finish_run(reference: str, no_wait: bool, home: Path | None) -> Exit:
    """Finish run ID early: stop its research, then write and verify the report from what was found.

    \b
        assay runs finish last
        assay runs finish k3v9 --no-wait
    """
    return await request_action(
        reference,
        "finish",
        home,
        no_wait=no_wait,
        success_message=lambda run: (
            f"research of run {run} has ended, its report is being written: assay runs watch {run}"
        ),
    )


@click.command("pause")
@control_options
@options.run_async
async def pause_run(reference: str, no_wait: bool, home: Path | None) -> Exit:
    """Pause run ID, in whatever process it is running. Calls in flight are dropped; everything else is kept.

    `assay runs resume` continues it, in any process. Nothing finished is paid for again.

    \b
        assay runs pause last
        assay runs pause k3v9 --no-wait
    """
    return await request_action(
        reference,
        "pause",
        home,
        no_wait=no_wait,
        success_message=lambda run: f"run {run} is paused; to continue: assay runs resume {run}",
    )


@click.command("cancel")
@click.option(
    "--agent", "lane", type=click.IntRange(1), metavar="LANE", help="Stop only this agent; the run continues."
)
@control_options
@options.run_async
async def cancel_run(reference: str, lane: int | None, no_wait: bool, home: Path | None) -> Exit:
    """Cancel run ID, in whatever process it is running. Calls in flight stop at once; findings are kept.

    \b
        assay runs cancel last
        assay runs cancel last --agent 2
    """
    if lane is not None:
        return await stop_agent(reference, lane, home, no_wait=no_wait)
    return await request_action(
        reference,
        "cancel",
        home,
        no_wait=no_wait,
        success_message=lambda run: f"run {run} is cancelled; what it found is kept: assay runs show {run}",
    )
