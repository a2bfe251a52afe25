"""A run's hold and its owner: read, awaited, steered where it is executed; finished, cancelled, paused from anywhere.

A request is stored at once (`control.accepted`), by any process and without a lease. The process which executes the
run takes it up and says so (`control.applied`), or says why it cannot (`control.rejected`). Where nobody executes the
run, who asks takes the lease and does it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Literal

import msgspec

from assay.core.errors import Cancelled, NotNow, UsageError
from assay.core.events import ControlAccepted, ControlApplied, ControlRejected, Envelope, Event, RunCancelled, encode
from assay.core.ports import FINAL, Action, Clock, Commit, EventDraft, Journal, Lease, RunRow, RunStatus
from assay.run.execution import FINISHED_EARLY, Execution
from assay.run.place import RunPlace
from assay.run.process import is_dead
from assay.run.steps import StepContext, perform

# Runs as the process which executes them holds them.


class RunTask:
    """A run that is executed in this process."""

    def __init__(self, run_id: str, journal: Journal, work: Callable[[RunTask], Awaitable[None]]) -> None:
        self.run_id, self._journal = run_id, journal
        self._execution: Execution | None = None
        self._news = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._work(work), name=f"run-{run_id}")
        self._task.add_done_callback(self._ended)

    async def _work(self, work: Callable[[RunTask], Awaitable[None]]) -> None:
        await work(self)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._news.set()
        if not task.cancelled():
            task.exception()  # whoever waits is told; nobody need wait

    def begin(self, execution: Execution) -> None:
        """From here on there is a log to read and a run to steer."""
        self._execution = execution
        execution.main = self._task
        execution.listen(lambda _: self._news.set())

    @property
    def created(self) -> bool:
        """Whether there is a stored run: its preparation succeeded."""
        return self._execution is not None

    async def __aiter__(self) -> AsyncIterator[Envelope]:
        """Every event from the first, until the run ends."""
        seq = 0
        while True:
            done = self._task.done()
            self._news.clear()
            if self._execution is not None:
                for envelope in await self._journal.events(self.run_id, after=seq):
                    seq = envelope.seq
                    yield envelope
            if done:
                return
            await self._news.wait()

    async def wait(self) -> None:
        """Until the run has ended.

        Raises:
            Cancelled, Paused: by its owner.
            InputNeeded: it waits for an answer nobody here can give.
            FenceLost: another process took it over.
            AssayError: it failed.
        """
        try:
            await asyncio.shield(self._task)
        except asyncio.CancelledError:
            if self._execution is None and self._task.cancelled():
                raise Cancelled("cancelled before the run was created") from None
            raise

    async def answer(self, topic: str, value: object) -> None:
        """Give the run what it waits for."""
        await self._journal.post(self.run_id, topic, msgspec.json.encode(value))

    def finish(self) -> None:
        """End research; write and verify what there is. Before the run exists there is nothing: that is a cancel."""
        if self._execution is not None:
            self._execution.finish(FINISHED_EARLY)
        else:
            self._task.cancel()

    def cancel(self) -> None:
        """End every call in flight; findings are kept."""
        if self._execution is not None:
            self._execution.cancel()
        else:
            self._task.cancel()

    def pause(self) -> None:
        """Let go of every call in flight; `Engine.resume` goes on."""
        if self._execution is not None:
            self._execution.pause()
        else:
            self._task.cancel()

    @property
    def error(self) -> BaseException | None:
        """What ended the run in this process, None where it came to its end, or goes on."""
        return self._task.exception() if self._task.done() and not self._task.cancelled() else None

    @property
    def ended(self) -> bool:
        """Whether nothing of the run goes on in this process any more."""
        return self._task.done()

    def on_end(self, told: Callable[[], None]) -> None:
        """Have `told` called, in this event loop, when nothing of the run goes on in this process any more."""
        self._task.add_done_callback(lambda _: told())

    async def stop(self) -> None:
        """Let go of the run; it can be resumed."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


STEERING = "steering"
STOPPING = "agents-stopped"
AGENT_CANCEL = "agent-cancel"
"""The action of a request to stop one agent of a run."""
REFUSED = "steering-refused"
LONGEST = 4_000
"""Code points of what a run can be told at a time."""
MOST = 50
"""Messages a run can be told."""
TTL = 15.0
"""Seconds for which a lease is taken to change a run that nobody executes."""

Asked = Literal["finish", "cancel", "pause"]
ENDED_FIRST = "the run ended before another decision was made"
AGENT_ENDED = "the agent had ended before"


class AgentStop(msgspec.Struct, frozen=True, kw_only=True):
    """An agent which is to be stopped, as the inbox holds it."""

    id: str
    lane: int


class Steering(msgspec.Struct, frozen=True, kw_only=True):
    """Something the owner wants heeded, as the inbox holds it."""

    id: str
    text: str


# whoever asks


async def request(journal: Journal, clock: Clock, row: RunRow, action: Asked) -> None:
    """Store a request, for the process which executes the run; where there is none, `change` does it.

    Raises:
        UsageError: the run has ended.
    """
    if row.status in FINAL:
        raise NotNow(f"run {row.run_id} has ended ({row.status}): there is nothing to {action}")
    name = secrets.token_hex(4)
    accepted = outside(clock, ControlAccepted(action=action, id=name), f"control-accepted-{name}")
    await journal.control(row.run_id, action, (accepted,))


async def change(journal: Journal, clock: Clock, row: RunRow, action: Asked) -> None:
    """Cancel or pause a run which nobody executes, under a lease as every writer. What has ended stays as it is.

    Raises:
        LeaseHeld: another process took it up in this moment; it will see the request.
    """
    holder = f"{action} {secrets.token_hex(4)}"
    evict = row.holder if is_dead(row.holder) else ""
    lease: Lease = await journal.acquire(row.run_id, holder, TTL, evict=evict)
    try:
        memory = await journal.load(row.run_id)
        if memory.status not in FINAL:
            status, events = ending(action)
            drafts = [outside(clock, event, f"{event.kind}-{lease.fence}") for event in events]
            await journal.commit(lease, Commit(status=status, events=tuple(drafts)))
    finally:
        await journal.release(lease)


def ending(action: Asked) -> tuple[RunStatus, tuple[Event, ...]]:
    """The status of a run which is cancelled or paused, and what the log says of it."""
    applied = ControlApplied(action=action)
    return ("paused", (applied,)) if action == "pause" else ("cancelled", (applied, RunCancelled()))


async def steer(journal: Journal, clock: Clock, run_id: str, text: str, refused: str = "") -> str:
    """Leave a message for the run's next decision; its id. With `refused`, say on the log why it came in vain.

    Raises:
        UsageError: there is nothing in it, it is too long, or the run was told too much.
    """
    text = text.strip()
    if not text or len(text) > LONGEST:
        raise UsageError(f"what a run is told has 1 to {LONGEST:,} characters, and this has {len(text):,}")
    if len(await journal.inbox(run_id, STEERING)) >= MOST:
        raise UsageError(
            f"run {run_id} has been told {MOST} things; no more are heeded: start another, or fork this one"
        )
    name = secrets.token_hex(4)
    events: list[Event] = [ControlAccepted(action="steer", id=name, text=text)]
    events += [ControlRejected(action="steer", id=name, why=refused)] if refused else []
    drafts = [outside(clock, event, f"{event.kind}-{name}") for event in events]
    data = msgspec.json.encode(Steering(id=name, text=text))
    await journal.post(run_id, REFUSED if refused else STEERING, data, drafts)
    return name


async def stop_agent(journal: Journal, clock: Clock, run_id: str, lane: int) -> str:
    """Leave word that one agent of a run is to be stopped, once however often it is asked; the id of that request.

    Who executes the run heeds it, now or when it is taken up again.
    """
    asked = (msgspec.json.decode(each, type=AgentStop) for each in await journal.inbox(run_id, STOPPING))
    if before := next((each.id for each in asked if each.lane == lane), ""):
        return before
    name = secrets.token_hex(4)
    accepted = outside(clock, ControlAccepted(action=AGENT_CANCEL, id=name, lane=lane), f"control-accepted-{name}")
    await journal.post(run_id, STOPPING, msgspec.json.encode(AgentStop(id=name, lane=lane)), [accepted])
    return name


def outside(clock: Clock, event: Event, key: str) -> EventDraft:
    """An event about a run, written by who does not execute it."""
    return EventDraft(key=key, path=(), type=event.kind, data=encode(event), at=clock.now())


# the process which executes the run


async def take(place: RunPlace) -> tuple[str, ...]:
    """See `Run.steering`."""
    execution = place.execution

    async def look(step_context: StepContext) -> tuple[Steering, ...]:
        told = await untaken(execution)
        for each in told:
            step_context.emit(ControlApplied(action="steer", id=each.id, where="/".join(place.path)))
        return told

    taken = await perform(place, STEERING, look, returns=tuple[Steering, ...], input_hash="", cost=None)
    execution.steered += len(taken)
    return tuple(each.text for each in taken)


async def untaken(execution: Execution) -> tuple[Steering, ...]:
    """What the owner said that no decision of this execution has taken."""
    messages = await execution.journal.inbox(execution.run_id, STEERING)
    return tuple(msgspec.json.decode(each, type=Steering) for each in messages[execution.steered :])


async def reject_rest(execution: Execution, why: str) -> tuple[EventDraft, ...]:
    """What the log says of messages that no decision will take any more."""
    left = await untaken(execution)
    execution.steered += len(left)
    rejected = (ControlRejected(action="steer", id=each.id, why=why) for each in left)
    drafts = [execution.draft(event, (), f"{event.kind}-{event.id}") for event in rejected]
    return (*drafts, *(_in_vain(execution, each, why) for each in await _unheard(execution)))


async def heed_stops(execution: Execution) -> None:
    """Stop the agents which somebody wants stopped, and say so."""
    for each in await _unheard(execution):
        applied = ControlApplied(action=AGENT_CANCEL, id=each.id, lane=each.lane)
        if not execution.stop_lane(each.lane, applied, each.id):
            execution.commit(Commit(events=(_in_vain(execution, each, AGENT_ENDED),)))


async def _unheard(execution: Execution) -> tuple[AgentStop, ...]:
    messages = await execution.journal.inbox(execution.run_id, STOPPING)
    stops = (msgspec.json.decode(each, type=AgentStop) for each in messages)
    settled = (ControlApplied.kind, ControlRejected.kind)
    return tuple(each for each in stops if execution.said.isdisjoint(f"{kind}-{each.id}" for kind in settled))


def _in_vain(execution: Execution, stop: AgentStop, why: str) -> EventDraft:
    event = ControlRejected(action=AGENT_CANCEL, id=stop.id, lane=stop.lane, why=why)
    return execution.draft(event, (), f"{event.kind}-{stop.id}")


async def clear_pause(journal: Journal, run_id: str, action: Action) -> Action:
    """Who takes a paused run up goes on with it: the row's `pause` is done with. What the row holds then."""
    if action != "pause":
        return action
    await journal.control(run_id, "")
    return ""
