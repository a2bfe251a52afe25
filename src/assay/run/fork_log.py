"""The beginning of a run's log as another run takes it over: what was done and found, not by whom, nor at what cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

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
from assay.core.ports import EventDraft
from assay.core.usage import Usage
from assay.run.replay import OF_THE_ENGINE

STEP = "fork"
"""The step of an event which was taken over: no attempt of this run said it, and none computes it."""
_COUNTS = frozenset(each.kind for each in (UsageUpdated, BudgetLow, StepRestarted, StepDiverged))

Revise = Callable[[Event], Event | None]
"""What an event says in the new run; None where it is left out."""


def begun(log: Iterable[Envelope], phase: str) -> bool:
    """Whether a phase of a run began."""
    return any(_begins(envelope, phase) for envelope in log)


def taken_over(log: Sequence[Envelope], phase: str, revise: Revise, at: str) -> tuple[EventDraft, ...]:
    """The log of a run up to the beginning of a phase, for the log of another.

    All of it happens there at once, when the other is made (`at`): in no log does time go back.
    """
    drafts: list[EventDraft] = []
    for envelope in _before(log, phase):
        event = decode(envelope)
        said = event if event is None else revise(event)
        if event is None or said is not None:
            drafts.append(_draft(envelope, said, len(drafts), at))
    return tuple(drafts)


def _before(log: Sequence[Envelope], phase: str) -> Iterator[Envelope]:
    """What was said before a phase, without what was taken back, what the engine says, and what counts money."""
    dropped = {
        seq for envelope in log if isinstance(event := _restarted(envelope), StepRestarted) for seq in event.dropped
    }
    for envelope in log:
        if _begins(envelope, phase):
            return
        engine = envelope.type.startswith(OF_THE_ENGINE) and envelope.type != RunContinued.kind
        if not engine and envelope.type not in _COUNTS and envelope.seq not in dropped:
            yield envelope


def _restarted(envelope: Envelope) -> Event | None:
    return decode(envelope) if envelope.type == StepRestarted.kind else None


def _begins(envelope: Envelope, phase: str) -> bool:
    return envelope.type == PhaseStarted.kind and envelope.path == (phase,)


def _draft(envelope: Envelope, event: Event | None, number: int, at: str) -> EventDraft:
    if isinstance(event, ModelAttempted):
        event = msgspec.structs.replace(event, usage=Usage())
    return EventDraft(
        key=f"{STEP}:{number}",
        path=envelope.path,
        type=envelope.type,
        data=bytes(envelope.data) if event is None else encode(event),
        at=at,
        step=STEP,
    )
