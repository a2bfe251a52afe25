"""The one view of a run: `fold_events` its events, and read `RunView`.

A log is folded at once, or event by event as a live reader does; both give the same.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from assay.core.errors import StoreError
from assay.core.events import Envelope, Event, StepRestarted, decode
from assay.core.view import research_handlers, run_handlers  # noqa: F401 - each registers its handlers
from assay.core.view.model import Attempt as Attempt
from assay.core.view.model import Clarification as Clarification
from assay.core.view.model import FindingView as FindingView
from assay.core.view.model import Gate as Gate
from assay.core.view.model import Lane as Lane
from assay.core.view.model import Low as Low
from assay.core.view.model import Pause as Pause
from assay.core.view.model import Phase as Phase
from assay.core.view.model import Reflection as Reflection
from assay.core.view.model import RemovedClaim as RemovedClaim
from assay.core.view.model import RunView as RunView
from assay.core.view.model import RunWarning as RunWarning
from assay.core.view.model import SearchMade as SearchMade
from assay.core.view.model import Spending as Spending
from assay.core.view.model import Steered as Steered
from assay.core.view.model import ToolUse as ToolUse
from assay.core.view.model import Turn as Turn
from assay.core.view.model import Unreadable as Unreadable
from assay.core.view.model import Writing as Writing
from assay.core.view.run_handlers import CHANGED as CHANGED
from assay.core.view.state import HANDLERS, ViewState


class ViewBuilder:
    """Keeps the view of one run up to date. Events must come in order; one that was seen already changes nothing."""

    def __init__(self) -> None:
        self._log: list[Envelope] = []
        self._dropped: set[int] = set()
        self._state = ViewState()
        self._view: RunView | None = None

    @property
    def view(self) -> RunView:
        """The run after the events applied so far."""
        if self._view is None:
            self._view = self._state.view()
        return self._view

    def apply(self, envelope: Envelope) -> None:
        """Apply one more event.

        Raises:
            StoreError: an event of a known kind cannot be read.
        """
        self.extend((envelope,))

    def extend(self, envelopes: Iterable[Envelope]) -> None:
        """Apply more events; a restart among them undoes what earlier attempts emitted.

        Raises:
            StoreError: an event of a known kind cannot be read.
        """
        last = self._log[-1].seq if self._log else 0
        fresh = [envelope for envelope in envelopes if envelope.seq > last]
        if not fresh:
            return
        self._view = None
        undone = self._note_restarts(fresh) and any(envelope.seq in self._dropped for envelope in self._log)
        self._log += fresh
        if undone:
            self._state, fresh = ViewState(), self._log
        for envelope in fresh:
            self._apply_event(envelope)

    def _note_restarts(self, fresh: list[Envelope]) -> bool:
        before = len(self._dropped)
        for envelope in fresh:
            if envelope.type == StepRestarted.kind:
                event = _decode_event(envelope)
                self._dropped.update(event.dropped if isinstance(event, StepRestarted) else ())
        return len(self._dropped) > before

    def _apply_event(self, envelope: Envelope) -> None:
        self._state.count_event(envelope)
        if envelope.seq in self._dropped or envelope.type not in HANDLERS:
            return
        self._state.record_time(envelope)
        HANDLERS[envelope.type](self._state, envelope, _decode_event(envelope))


def _decode_event(envelope: Envelope) -> Event | None:
    try:
        return decode(envelope)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise StoreError(f"event {envelope.seq} ({envelope.type}) of run {envelope.run_id}: {error}") from error


def fold_events(events: Iterable[Envelope]) -> RunView:
    """The view of a run after these events, in the order of their numbers.

    Raises:
        StoreError: an event of a known kind cannot be read.
    """
    folder = ViewBuilder()
    folder.extend(events)
    return folder.view
