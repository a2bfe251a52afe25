"""Computes a stored run again from its steps, without the world; or copies the beginning of its log to another run.

Results of steps come from the journal. Everything between the steps is computed again, in a separate journal, and the
events are compared with the log byte for byte. No model is called, nothing is searched or fetched, and nothing stored
changes. A log copied to another run has what was done and found, but not by whom, nor at what cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from assay.core.brief import Brief
from assay.core.errors import AssayError, UsageError
from assay.core.events import (
    BudgetLow,
    Envelope,
    Event,
    ModelAttempted,
    PhaseStarted,
    RunContinued,
    StepDiverged,
    StepRestarted,
    UsageUpdated,
    decode,
    encode,
)
from assay.core.ports import Commit, EventDraft, EventKey, Journal, Memory, World
from assay.core.usage import Usage
from assay.run.engine import Engine, Pipeline
from assay.run.failures import base_key, dropped_numbers

ENGINE_EVENTS = ("run.", "control.")
"""Groups of events about what processes and owners did to a run; none of them is computed."""


class ReplayResult(msgspec.Struct, frozen=True, kw_only=True):
    """A run computed again.

    `steps` were taken from the journal, `events` were computed. `differences` say where these differ from the stored
    log. `log` is the stored log with the computed events in place of the stored ones.
    """

    run_id: str
    steps: int
    events: int
    differences: tuple[str, ...]
    log: tuple[Envelope, ...]


class ReplayedEvent(msgspec.Struct, frozen=True):
    """An event with its identity."""

    key: EventKey
    envelope: Envelope

    @property
    def content(self) -> tuple[str, tuple[str, ...], bytes]:
        """Everything except its time and its number in the log."""
        return self.envelope.type, self.envelope.path, bytes(self.envelope.data)

    @property
    def is_computed(self) -> bool:
        """True if it lies between steps and was emitted by the run itself."""
        return not self.key.step and not self.envelope.type.startswith(ENGINE_EVENTS)


async def replay(
    run_id: str, journal: Journal, empty: Journal, pipeline: Pipeline, world_for: Callable[[Brief], World]
) -> ReplayResult:
    """Compute a completed run again, in the journal `empty`.

    Raises:
        UsageError: it is not completed.
        UnknownName: there is no such run.
    """
    memory = await journal.load(run_id)
    if memory.status != "completed":
        raise UsageError(f"run {run_id} is {memory.status}: only a completed run can be computed again")
    stored_events = _last_course(await _events_by_key(journal, run_id, memory))
    await _copy(empty, run_id, memory, stored_events)
    engine = Engine(empty, pipeline, redo=False)
    failures: tuple[str, ...] = ()
    try:
        await (await engine.resume(run_id, world_for)).wait()
    except AssayError as error:
        failures = (str(error),)
    finally:
        await engine.close()
    replayed_events = await _events_by_key(empty, run_id, await empty.load(run_id))
    computed_events = {key: event for key, event in replayed_events.items() if event.is_computed}
    return ReplayResult(
        run_id=run_id,
        steps=len(memory.steps),
        events=len(computed_events),
        differences=(*failures, *_differences(stored_events, computed_events)),
        log=tuple(_with_computed(event, computed_events.get(key)) for key, event in stored_events.items()),
    )


async def _events_by_key(journal: Journal, run_id: str, memory: Memory) -> dict[str, ReplayedEvent]:
    """The events of a run by key, in the order of the log."""
    envelopes = {envelope.seq: envelope for envelope in await journal.events(run_id)}
    return {key.key: ReplayedEvent(key, envelopes[key.seq]) for key in sorted(memory.events, key=lambda key: key.seq)}


def _last_course(stored_events: Mapping[str, ReplayedEvent]) -> dict[str, ReplayedEvent]:
    """The events of a run without those between steps that it has taken back, by the keys that a replay gives them."""
    dropped = dropped_numbers(event.envelope for event in stored_events.values())
    return {
        base_key(event.key) or event.key.key: event
        for event in stored_events.values()
        if event.key.step or event.key.seq not in dropped
    }


async def _copy(target: Journal, run_id: str, memory: Memory, stored_events: Mapping[str, ReplayedEvent]) -> None:
    """Copy the run as if it had been cut off after its last step, without events between steps."""
    drafts = tuple(_draft(event) for event in stored_events.values() if not event.is_computed)
    await target.create(run_id, "", memory.brief, drafts)
    lease = await target.acquire(run_id, "a replay", 1.0)
    await target.commit(
        lease,
        Commit(
            steps=tuple(memory.steps.values()),
            holds=memory.holds,
            ledger=memory.ledger,
            status="running",
            active_seconds=memory.active_seconds,
        ),
    )
    await target.release(lease)


def _draft(event: ReplayedEvent) -> EventDraft:
    return EventDraft(
        key=event.key.key,
        path=event.envelope.path,
        type=event.envelope.type,
        data=bytes(event.envelope.data),
        at=event.envelope.at,
        step=event.key.step,
        attempt=event.key.attempt,
    )


def _differences(
    stored_events: Mapping[str, ReplayedEvent], computed_events: Mapping[str, ReplayedEvent]
) -> Iterator[str]:
    for key, event in stored_events.items():
        if event.is_computed and key not in computed_events:
            yield f"event {event.envelope.seq}, {event.envelope.type}, was not said again"
        elif event.is_computed and event.content != computed_events[key].content:
            yield f"event {event.envelope.seq}, {event.envelope.type}, says something else now"
    for key, event in computed_events.items():
        if key not in stored_events:
            yield f"{event.envelope.type} at {'/'.join(event.envelope.path)} was not said then"


def _with_computed(stored_event: ReplayedEvent, computed_event: ReplayedEvent | None) -> Envelope:
    if computed_event is None:
        return stored_event.envelope
    envelope = computed_event.envelope
    return msgspec.structs.replace(stored_event.envelope, type=envelope.type, path=envelope.path, data=envelope.data)


# Copying the beginning of a run's log to another run.

FORK_STEP = "fork"
"""The step of a copied event: no attempt of this run emitted it, and none computes it."""
_COUNTING_EVENTS = frozenset(event.kind for event in (UsageUpdated, BudgetLow, StepRestarted, StepDiverged))

ReviseEvent = Callable[[Event], Event | None]
"""Changes an event for the new run; None leaves it out."""


def copied_log(log: Sequence[Envelope], phase: str, revise: ReviseEvent, timestamp: str) -> tuple[EventDraft, ...]:
    """The log of a run up to the beginning of a phase, for the log of another run.

    All these events get the time at which the other run is created (`timestamp`), so that no log goes back in time.
    """
    drafts: list[EventDraft] = []
    for envelope in _events_before(log, phase):
        event = decode(envelope)
        revised = event if event is None else revise(event)
        if event is None or revised is not None:
            drafts.append(_copied_draft(envelope, revised, len(drafts), timestamp))
    return tuple(drafts)


def _events_before(log: Sequence[Envelope], phase: str) -> Iterator[Envelope]:
    """The events before a phase, without dropped ones, the engine's own, and those about money."""
    dropped = dropped_numbers(log)
    for envelope in log:
        if envelope.seq in dropped:
            continue
        if envelope.type == PhaseStarted.kind and envelope.path == (phase,):
            return
        engine = envelope.type.startswith(ENGINE_EVENTS) and envelope.type != RunContinued.kind
        if not engine and envelope.type not in _COUNTING_EVENTS:
            yield envelope


def _copied_draft(envelope: Envelope, event: Event | None, number: int, timestamp: str) -> EventDraft:
    if isinstance(event, ModelAttempted):
        event = msgspec.structs.replace(event, usage=Usage())
    return EventDraft(
        key=f"{FORK_STEP}:{number}",
        path=envelope.path,
        type=envelope.type,
        data=bytes(envelope.data) if event is None else encode(event),
        at=timestamp,
        step=FORK_STEP,
    )
