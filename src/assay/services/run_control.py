"""The control of a run by its owner from any process: end or pause it, steer it, answer its questions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal, get_args

import msgspec

from assay.core import plan as plan_form
from assay.core.errors import LeaseHeld, NotNow, UnknownName
from assay.core.events import ControlApplied, ControlRejected, decode
from assay.core.plan import Plan, PlanReview
from assay.core.ports import FINAL, Clock, Journal, RunRow
from assay.core.run_options import Answers
from assay.core.view import RunView, Steered, ViewBuilder
from assay.core.ways import suggest_command
from assay.run import control
from assay.run.control import MAX_MESSAGE_CHARS as MAX_MESSAGE_CHARS
from assay.run.control import RequestedAction as RequestedAction
from assay.run.feeds import is_executed
from assay.run.process import is_dead
from assay.services import stored_runs, threads
from assay.services.arguments import read_text_argument
from assay.services.context import Context
from assay.services.stored_runs import find

POLL_SECONDS = 0.1
RELEASE_SECONDS = 10.0
"""Seconds within which whoever executed a run lets go of it when it has ended."""
ACTIVE_STATES = ("planned", "running")
WRITING_PHASES = ("write", "verify")
ACTIONS: tuple[str, ...] = get_args(RequestedAction)
ACTION_STATUS = {"cancel": "cancelled", "pause": "paused"}
TOO_LATE = "the report is being written already"

ControlOutcome = Literal["applied", "ended", "stored"]
"""The outcome of a request: it was applied; the run ended before; it is stored and was not applied in time."""


async def request_action(context: Context, reference: str, action: RequestedAction, wait: float) -> ControlOutcome:
    """Finish, cancel or pause a run, whichever process executes it; see `Assay.control`."""
    if action not in ACTIONS:
        raise UnknownName("action", str(action), ACTIONS)
    row = await find(context, reference)
    if action == "pause" and row.status in ("waiting", "paused") and not is_executed(row):
        waits = "waits for an answer" if row.status == "waiting" else "is paused already"
        raise NotNow(f"run {row.run_id} {waits}, and no process executes it: there is nothing to pause")
    journal = context.store.journal
    await control.request_action(journal, context.clock, row, action)
    return await _await_outcome(journal, context.clock, row, action, wait)


async def steer(context: Context, reference: str, text: str, wait: float) -> Steered:
    """Give a run an instruction from its next decision on, and return what became of it; see
    `Assay.post_instruction`.
    """
    row = await find(context, reference)
    if row.status in FINAL:
        raise NotNow(
            f"run {row.run_id} has ended ({row.status}): it can no longer be steered; "
            f"to ask further: {suggest_command('ask further', row.run_id)}"
        )
    is_late = is_writing(await stored_runs.view(context, row.run_id))
    journal = context.store.journal
    id = await control.post_instruction(journal, context.clock, row.run_id, text, refusal=TOO_LATE if is_late else "")
    return await _wait_until_decided(context, row.run_id, id, wait)


async def stop_agent(context: Context, reference: str, lane: int, wait: float) -> ControlOutcome:
    """Stop one agent of a run, whichever process executes it; see `Assay.stop_agent`."""
    row = await find(context, reference)
    if row.status in FINAL:
        raise NotNow(f"run {row.run_id} has ended ({row.status}): none of its agents is still working")
    agents = {agent.lane: agent for agent in (await stored_runs.view(context, row.run_id)).lanes}
    if lane not in agents:
        raise UnknownName("agent", str(lane), hint=_describe_agents(agents))
    if agents[lane].state not in ACTIVE_STATES:
        raise NotNow(f"agent {lane} of run {row.run_id} has ended ({agents[lane].state}): there is nothing to stop")
    journal = context.store.journal
    id = await control.request_agent_stop(journal, context.clock, row.run_id, lane)
    end, seq = context.clock.monotonic() + wait, 0  # it may have been requested, and done, before
    while True:
        current = await journal.find(row.run_id)
        for envelope in await journal.events(row.run_id, after=seq):
            event, seq = decode(envelope), envelope.seq
            if isinstance(event, (ControlApplied, ControlRejected)) and event.id == id:
                return "applied" if isinstance(event, ControlApplied) else "ended"
        if current.status in FINAL:
            return "ended"
        if context.clock.monotonic() >= end or not is_executed(current):
            return "stored"
        await asyncio.sleep(POLL_SECONDS)


def _describe_agents(agents: Iterable[int]) -> str:
    numbers = ", ".join(map(str, sorted(agents)))
    return f"in this run; its agents: {numbers}" if numbers else "in this run: it has sent none so far"


async def _wait_until_decided(context: Context, run_id: str, id: str, wait: float) -> Steered:
    end, folder = context.clock.monotonic() + wait, ViewBuilder()
    while True:
        row = await find(context, run_id)
        folder.extend(await context.store.journal.events(run_id, after=folder.view.last_seq))
        view = folder.view
        instruction = next(entry for entry in view.steering if entry.id == id)
        if instruction.state == "accepted" and (row.status in FINAL or is_writing(view)):
            # the writer takes instructions before its phase begins: later ones are not taken
            note = control.ENDED_FIRST if row.status in FINAL else TOO_LATE
            return msgspec.structs.replace(instruction, state="rejected", note=note)
        if instruction.state != "accepted" or context.clock.monotonic() >= end:
            return instruction
        await asyncio.sleep(POLL_SECONDS)


async def answer(context: Context, reference: str, answers: Answers) -> None:
    """Give a run the answers it waits for; see `Assay.answer`."""
    row = await find(context, reference)
    await threads.answer(context.store.journal, row, await stored_runs.view(context, row.run_id), answers)
    await _wake(context, row.run_id)


async def approve(context: Context, reference: str, plan: Plan | str | Path | None) -> None:
    """Approve the plan that a run waits with, or replace it; see `Assay.approve`."""
    row = await find(context, reference)
    view = await stored_runs.view(context, row.run_id)
    if row.status != "waiting" or view.waiting_for != "plan":
        raise NotNow(f"run {row.run_id} does not wait for its plan to be approved: it is {row.status}")
    if await threads.is_answered(context.store.journal, row.run_id, "plan"):
        raise NotNow(
            f"the plan of run {row.run_id} is approved already; to continue it: {suggest_command('resume', row.run_id)}"
        )
    await context.store.journal.post(row.run_id, "plan", msgspec.json.encode(as_review(plan)))
    await _wake(context, row.run_id)


async def _wake(context: Context, run_id: str) -> None:
    """Let a worker continue it, if it came from the queue."""
    if context.store.queue is not None:
        await context.store.queue.wake(run_id)


async def delete(context: Context, reference: str) -> None:
    """Delete a run: its events, steps and messages; see `Assay.delete`."""
    row = await find(context, reference)
    end = context.clock.monotonic() + RELEASE_SECONDS
    while True:
        try:
            await context.store.journal.delete(row.run_id, evict=row.holder if is_dead(row.holder) else "")
            break
        except LeaseHeld:
            if row.status not in FINAL or context.clock.monotonic() >= end:
                raise
        await asyncio.sleep(POLL_SECONDS)
        row = await find(context, row.run_id)
    await stored_runs.forget(context, [row.run_id])


async def is_answered(context: Context, reference: str) -> bool:
    """True if a run has what it waits for; see `Assay.is_answered`."""
    row = await find(context, reference)
    topic = (await stored_runs.view(context, row.run_id)).waiting_for
    return not topic or await threads.is_answered(context.store.journal, row.run_id, topic)


def is_writing(view: RunView) -> bool:
    """True if the report of a run is being written, or was."""
    return any(phase.name in WRITING_PHASES for phase in view.phases)


def as_review(plan: Plan | str | Path | None) -> PlanReview:
    """A person's decision about a plan.

    Raises:
        UsageError: the plan cannot be read.
    """
    if plan is None:
        return PlanReview()
    if isinstance(plan, Plan):
        return PlanReview(plan=plan_form.check_plan(plan))
    return PlanReview(plan=plan_form.read_plan(read_text_argument(plan, "plan", plan_form.MAX_PLAN_CHARS)))


async def _await_outcome(
    journal: Journal, clock: Clock, row: RunRow, action: RequestedAction, wait: float
) -> ControlOutcome:
    """Wait until a request is applied, and apply it if the process that executes the run dies."""
    end, seq = clock.monotonic() + wait, row.last_seq
    while True:
        current = await journal.find(row.run_id)
        if await _is_applied(journal, current, action, seq):
            return "applied"
        if current.status in FINAL and current.status != ACTION_STATUS.get(
            action
        ):  # its process will release it in a moment
            return "ended"
        if not is_executed(current):
            if action == "finish":
                return "stored"
            with suppress(LeaseHeld):  # somebody has just resumed it, and will see the request
                await control.end_idle_run(journal, clock, current, action)
                continue
        if clock.monotonic() >= end:
            return "stored"
        await asyncio.sleep(POLL_SECONDS)


async def _is_applied(journal: Journal, row: RunRow, action: RequestedAction, after: int) -> bool:
    if action == "finish":
        events = await journal.events(row.run_id, after=after)
        return any(event.type == ControlApplied.kind for event in events)
    return row.status == ACTION_STATUS[action] and not row.holder
