"""Failures as steps store them, and what a resumed run does with those that are no result: that nobody answered.

Models, search services and pages are asked again, and the run may go on otherwise than its log says. An event between
steps counts until the run says something else in its place; then the rest of them is taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from assay.core.errors import (
    AssayError,
    FetchFailed,
    ModelFailed,
    ModelUnusable,
    SearchError,
    SearchUnanswered,
    ToolError,
)
from assay.core.events import Envelope, RunFailed, StepRestarted, decode, encode
from assay.core.lazy import regex
from assay.core.phrases import UNANSWERED_REASONS
from assay.core.ports import EventDraft, EventKey, Memory, StepRecord

if TYPE_CHECKING:
    from assay.run.execution import Execution

FAILED_TAG = "failed/1"


class StoredFailure(msgspec.Struct, frozen=True):
    """A failure as a step stores it."""

    kind: str
    reason: str


AGAIN = "again"
"""The step of the event that takes others back."""
_BETWEEN_STEPS = regex(r"(.*@\d+)(?:!\d+)?", re.DOTALL)


def base_key(key: EventKey) -> str:
    """The key of an event between steps, without the mark of a later course; empty for any other event."""
    match = None if key.step else _BETWEEN_STEPS.fullmatch(key.key)
    return match[1] if match else ""


def dropped_numbers(log: Iterable[Envelope]) -> frozenset[int]:
    """The numbers of the events in `log` that others have taken back."""
    restarts = (decode(envelope) for envelope in log if envelope.type == StepRestarted.kind)
    return frozenset(seq for event in restarts if isinstance(event, StepRestarted) for seq in event.dropped)


class EarlierCourse:
    """The events of an earlier course by key, as far as this execution has not come to them; usually none."""

    def __init__(self, fence: int, events: Mapping[str, Envelope] = {}, keys: frozenset[str] = frozenset()) -> None:
        """`keys` are those of all events between steps, taken back or not."""
        self._fence, self._events, self._keys = fence, dict(events), keys

    def revise(self, draft: EventDraft) -> Iterator[EventDraft]:
        """The events to store for `draft`: none if it is there already, else also what takes others back."""
        earlier = self._events.get(draft.key)
        if earlier is not None and (earlier.type, bytes(earlier.data)) == (draft.type, draft.data):
            del self._events[draft.key]
            return
        if earlier is not None:
            yield from self.take_back(draft.at)
        yield msgspec.structs.replace(draft, key=f"{draft.key}!{self._fence}") if draft.key in self._keys else draft

    def take_back(self, at: str) -> Iterator[EventDraft]:
        """The event that drops all that was not said again, if there is anything."""
        if self._events:
            seqs = tuple(sorted(event.seq for event in self._events.values()))
            self._events.clear()
            event = StepRestarted(step=AGAIN, attempt=self._fence, dropped=seqs)
            key = f"{AGAIN}-{self._fence}"
            yield EventDraft(key=key, path=(), type=event.kind, data=encode(event), at=at, step=AGAIN)


NO_MODEL, NO_SEARCH = "no_model", "no_search"
"""The stop reasons of runs that failed because no model, or no search service, answered."""
_UNANSWERED_KINDS = frozenset(cls.kind for cls in (ModelFailed, SearchError, FetchFailed, ToolError))


def failure_reason(error: AssayError) -> str:
    """The stop reason of a run that failed with `error`: who did not answer, or something else."""
    if isinstance(error, SearchUnanswered):
        return NO_SEARCH
    is_unanswered = isinstance(error, ModelUnusable) or getattr(error, "kind", "") == ModelFailed.kind
    return NO_MODEL if is_unanswered else "failed"


async def ask_again(execution: Execution, memory: Memory) -> None:
    """Forget what nobody answered before the run failed, if it did because of that and is not merely replayed.

    Searches and pages are asked for again too if only models did not answer: the network may have been down, and such a
    run has found nothing.
    """
    failed = max((key.seq for key in memory.events if key.key.startswith(f"{RunFailed.kind}-")), default=0)
    if not failed or not execution.redo:
        return
    log = {envelope.seq: envelope for envelope in await execution.journal.events(execution.run_id)}
    end = decode(log[failed])
    if not isinstance(end, RunFailed) or end.stop_reason not in UNANSWERED_REASONS:
        return
    later_steps = {key.step for key in memory.events if key.seq > failed}
    execution.steps = {
        key: step for key, step in execution.steps.items() if key in later_steps or not _is_unanswered(step)
    }
    dropped = dropped_numbers(log.values())
    numbers = {base: key.seq for key in memory.events if (base := base_key(key))}
    events = {base: log[seq] for base, seq in numbers.items() if seq not in dropped}
    execution.earlier = EarlierCourse(execution.lease.fence, events, frozenset(numbers))


def _is_unanswered(step: StepRecord) -> bool:
    return step.tag == FAILED_TAG and msgspec.json.decode(step.data, type=StoredFailure).kind in _UNANSWERED_KINDS
