"""Control of runs: read, await and steer a run where it executes; finish, cancel or pause it from anywhere.

Any process stores a request at once (`control.accepted`), without a lease. The process that executes the run applies it
(`control.applied`) or says why it cannot (`control.rejected`). If no process executes the run, the one that makes the
request takes the lease and applies it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Literal

import msgspec

from assay.core.errors import Cancelled, NotNow, Paused, UsageError
from assay.core.events import ControlAccepted, ControlApplied, ControlRejected, Envelope, Event, RunCancelled, encode
from assay.core.ports import FINAL, Action, Clock, Commit, EventDraft, Journal, Lease, RunRow, RunStatus
from assay.run.execution import FINISHED_EARLY, Execution
from assay.run.process import is_dead
from assay.run.steps import RunPlace, StepContext, perform_step
from assay.run.tasks import retrieve_failure

# Handles of runs in the process that executes them.


class RunTask:
    """A run that this process executes, or prepares and then executes if it is not `stored` yet."""

    def __init__(
        self, run_id: str, journal: Journal, work: Callable[[RunTask], Coroutine[Any, Any, None]], *, stored: bool
    ) -> None:
        self.run_id, self._journal, self.stored = run_id, journal, stored
        self._execution: Execution | None = None
        self._early_actions: list[Callable[[Execution], None]] = []
        self._news, self._prepared = asyncio.Event(), asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(work(self), name=f"run-{run_id}")
        self._task.add_done_callback(self._on_done)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._news.set()
        self._prepared.set()
        retrieve_failure(task)

    def attach_execution(self, execution: Execution) -> None:
        """Attach the execution: from now on there is a log to read and a run to steer."""
        self._execution = execution
        execution.main = self._task
        execution.listen(lambda _: self._news.set())
        self._prepared.set()

    def apply_early_actions(self, execution: Execution) -> None:
        """Do what was asked of the run before there was an execution."""
        for action in self._early_actions:
            action(execution)

    async def until_created(self) -> None:
        """Wait until the run is stored, or its preparation has failed."""
        await self._prepared.wait()

    @property
    def created(self) -> bool:
        """True if the run is stored, that is, its preparation succeeded."""
        return self._execution is not None

    async def __aiter__(self) -> AsyncIterator[Envelope]:
        """Yield every event from the first, until the run ends."""
        seq = 0
        while True:
            is_done = self._task.done()
            self._news.clear()
            if self._execution is not None:
                for envelope in await self._journal.events(self.run_id, after=seq):
                    seq = envelope.seq
                    yield envelope
            if is_done:
                return
            await self._news.wait()

    async def wait(self) -> None:
        """Wait until the run has ended.

        Raises:
            Cancelled, Paused: by its owner; paused too if its library was closed.
            InputNeeded: it waits for an answer that nobody here can give.
            FenceLost: another process took it over.
            AssayError: it failed.
        """
        try:
            await asyncio.shield(self._task)
        except asyncio.CancelledError:
            waiter = asyncio.current_task()
            if not self._task.cancelled() or (waiter is not None and waiter.cancelling()):
                raise
            if not self.stored:
                raise Cancelled("cancelled before the run was created") from None
            raise Paused(f"run {self.run_id} was stopped; to continue: assay runs resume {self.run_id}") from None

    async def answer(self, topic: str, value: object) -> None:
        """Give the run what it waits for.

        Raises:
            AssayError: why there is no run.
        """
        await self.until_created()
        if not self.created:
            await self.wait()
        await self._journal.post(self.run_id, topic, msgspec.json.encode(value))

    def finish(self) -> None:
        """End research, then write and verify what was found."""
        self._steer(lambda execution: execution.finish(FINISHED_EARLY))

    def cancel(self) -> None:
        """End every call in flight; findings are kept. Before the run is stored, its preparation is cancelled."""
        if self.stored:
            self._steer(Execution.cancel)
        else:
            self._task.cancel()

    def pause(self) -> None:
        """Abandon every call in flight; `Engine.resume` continues the run."""
        self._steer(Execution.pause)

    @property
    def is_ending(self) -> bool:
        """True if it does no more work here: it was asked to pause, is left waiting, or has logged its end."""
        execution = self._execution
        is_ending = execution is not None and (execution.paused or execution.is_ending)
        return is_ending or Execution.pause in self._early_actions

    def _steer(self, action: Callable[[Execution], None]) -> None:
        """Do this to the execution, as soon as there is one."""
        if self._execution is None:
            self._early_actions.append(action)
        else:
            action(self._execution)

    @property
    def error(self) -> BaseException | None:
        """The error that ended the run in this process; None if it completed or is still active."""
        return self._task.exception() if self._task.done() and not self._task.cancelled() else None

    @property
    def ended(self) -> bool:
        """True if nothing of the run is active in this process any more."""
        return self._task.done()

    def on_end(self, callback: Callable[[], None]) -> None:
        """Call `callback`, in this event loop, when nothing of the run is active in this process any more."""
        self._task.add_done_callback(lambda _: callback())

    async def stop(self) -> None:
        """Stop executing the run; it can be resumed."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


STEERING = "steering"
STOPPING = "agents-stopped"
AGENT_CANCEL = "agent-cancel"
"""The action of a request to stop one agent of a run."""
REFUSED = "steering-refused"
MAX_MESSAGE_CHARS = 4_000
"""The most code points in one instruction to a run."""
MAX_MESSAGES = 50
"""The most instructions to one run."""
TTL = 15.0
"""Seconds of the lease that is taken to change a run that nobody executes."""

RequestedAction = Literal["finish", "cancel", "pause"]
ENDED_FIRST = "the run ended before another decision was made"
AGENT_ENDED = "the agent had ended before"


class AgentStop(msgspec.Struct, frozen=True, kw_only=True):
    """A request to stop an agent, as stored in the inbox."""

    id: str
    lane: int


class Instruction(msgspec.Struct, frozen=True, kw_only=True):
    """An instruction of the owner, as stored in the inbox."""

    id: str
    text: str


# the process that makes the request


async def request_action(journal: Journal, clock: Clock, row: RunRow, action: RequestedAction) -> None:
    """Store a request for the process that executes the run. If there is none, `end_idle_run` applies it.

    Raises:
        UsageError: the run has ended.
    """
    if row.status in FINAL:
        raise NotNow(f"run {row.run_id} has ended ({row.status}): there is nothing to {action}")
    name = secrets.token_hex(4)
    draft = external_draft(clock, ControlAccepted(action=action, id=name), f"control-accepted-{name}")
    await journal.control(row.run_id, action, (draft,))


async def end_idle_run(journal: Journal, clock: Clock, row: RunRow, action: RequestedAction) -> None:
    """Cancel or pause a run that nobody executes, under a lease like every writer. An ended run stays as it is.

    Raises:
        LeaseHeld: another process has just resumed it and will see the request.
    """
    holder = f"{action} {secrets.token_hex(4)}"
    evict = row.holder if is_dead(row.holder) else ""
    lease: Lease = await journal.acquire(row.run_id, holder, TTL, evict=evict)
    try:
        memory = await journal.load(row.run_id)
        if memory.status not in FINAL:
            status, events = ending_status(action)
            drafts = [external_draft(clock, event, f"{event.kind}-{lease.fence}") for event in events]
            await journal.commit(lease, Commit(status=status, events=tuple(drafts)))
    finally:
        await journal.release(lease)


def ending_status(action: RequestedAction) -> tuple[RunStatus, tuple[Event, ...]]:
    """The status of a cancelled or paused run, and the events for its log."""
    event = ControlApplied(action=action)
    return ("paused", (event,)) if action == "pause" else ("cancelled", (event, RunCancelled()))


async def post_instruction(journal: Journal, clock: Clock, run_id: str, text: str, refusal: str = "") -> str:
    """Leave an instruction for the run's next decision and return its id. With `refusal`, log why it is rejected.

    Raises:
        UsageError: the text is empty or too long, or the run has too many instructions.
    """
    text = text.strip()
    if not text or len(text) > MAX_MESSAGE_CHARS:
        raise UsageError(f"a message to a run has 1 to {MAX_MESSAGE_CHARS:,} characters, and this has {len(text):,}")
    if len(await journal.inbox(run_id, STEERING)) >= MAX_MESSAGES:
        raise UsageError(
            f"run {run_id} has {MAX_MESSAGES} messages, and accepts no more: start another run, or fork this one"
        )
    name = secrets.token_hex(4)
    events: list[Event] = [ControlAccepted(action="steer", id=name, text=text)]
    events += [ControlRejected(action="steer", id=name, why=refusal)] if refusal else []
    drafts = [external_draft(clock, event, f"{event.kind}-{name}") for event in events]
    data = msgspec.json.encode(Instruction(id=name, text=text))
    await journal.post(run_id, REFUSED if refusal else STEERING, data, drafts)
    return name


async def request_agent_stop(journal: Journal, clock: Clock, run_id: str, lane: int) -> str:
    """Request once, however often it is called, that an agent of a run stops; return the id of the request.

    The process that executes the run stops it, now or when the run is resumed.
    """
    stops = (msgspec.json.decode(message, type=AgentStop) for message in await journal.inbox(run_id, STOPPING))
    if before := next((stop.id for stop in stops if stop.lane == lane), ""):
        return before
    name = secrets.token_hex(4)
    draft = external_draft(clock, ControlAccepted(action=AGENT_CANCEL, id=name, lane=lane), f"control-accepted-{name}")
    await journal.post(run_id, STOPPING, msgspec.json.encode(AgentStop(id=name, lane=lane)), [draft])
    return name


def external_draft(clock: Clock, event: Event, key: str) -> EventDraft:
    """An event about a run, written by a process that does not execute it."""
    return EventDraft(key=key, path=(), type=event.kind, data=encode(event), at=clock.now())


# the process that executes the run


async def take_instructions(run: RunPlace) -> tuple[str, ...]:
    """See `Run.steering`."""
    execution = run.execution

    async def take_untaken(step_context: StepContext) -> tuple[Instruction, ...]:
        untaken = await untaken_instructions(execution)
        for message in untaken:
            step_context.emit(ControlApplied(action="steer", id=message.id, where="/".join(run.path)))
        return untaken

    instructions = await perform_step(
        run, STEERING, take_untaken, returns=tuple[Instruction, ...], input_hash="", cost=None
    )
    execution.instruction_count += len(instructions)
    return tuple(instruction.text for instruction in instructions)


async def untaken_instructions(execution: Execution) -> tuple[Instruction, ...]:
    """Instructions that no decision of this execution has taken into account."""
    messages = await execution.journal.inbox(execution.run_id, STEERING)
    return tuple(msgspec.json.decode(message, type=Instruction) for message in messages[execution.instruction_count :])


async def reject_untaken(execution: Execution, why: str) -> tuple[EventDraft, ...]:
    """The events for instructions that no decision will take into account any more."""
    untaken = await untaken_instructions(execution)
    execution.instruction_count += len(untaken)
    events = (ControlRejected(action="steer", id=instruction.id, why=why) for instruction in untaken)
    drafts = [execution.draft(event, (), f"{event.kind}-{event.id}") for event in events]
    return (*drafts, *(_rejected_stop_draft(execution, stop, why) for stop in await _pending_stops(execution)))


def apply_action(execution: Execution, action: Action) -> None:
    """Do what the owner wants of a run that executes here, and log it."""
    if action == "pause":
        execution.pause()  # applied when all calls have ended: it is the last event then
    elif action:
        event = ControlApplied(action=action)
        draft = execution.draft(event, (), f"control-{action}-{execution.lease.fence}")
        execution.commit(Commit(events=(draft,)))
        if action == "finish":
            execution.finish(FINISHED_EARLY)
        else:
            execution.cancel()


async def apply_agent_stops(execution: Execution) -> None:
    """Stop the agents that somebody wants to stop, and log it."""
    for stop in await _pending_stops(execution):
        event = ControlApplied(action=AGENT_CANCEL, id=stop.id, lane=stop.lane)
        if not execution.stop_lane(stop.lane, event, stop.id):
            execution.commit(Commit(events=(_rejected_stop_draft(execution, stop, AGENT_ENDED),)))


async def _pending_stops(execution: Execution) -> tuple[AgentStop, ...]:
    messages = await execution.journal.inbox(execution.run_id, STOPPING)
    stops = (msgspec.json.decode(message, type=AgentStop) for message in messages)
    settled_kinds = (ControlApplied.kind, ControlRejected.kind)
    return tuple(
        stop for stop in stops if execution.event_keys.isdisjoint(f"{kind}-{stop.id}" for kind in settled_kinds)
    )


def _rejected_stop_draft(execution: Execution, stop: AgentStop, why: str) -> EventDraft:
    event = ControlRejected(action=AGENT_CANCEL, id=stop.id, lane=stop.lane, why=why)
    return execution.draft(event, (), f"{event.kind}-{stop.id}")


async def clear_pause(journal: Journal, run_id: str, action: Action) -> Action:
    """Clear the row's `pause` when a paused run is resumed, and return the action that remains."""
    if action != "pause":
        return action
    await journal.control(run_id, "")
    return ""
