"""Monitors reading documents in a thread: progress for the user, and cancellation."""

from __future__ import annotations

import threading
from collections.abc import Callable

from assay.core.errors import Cancelled
from assay.core.ports import Clock
from assay.evidence.ingest import ReadingProgress


class ReadingMonitor:
    """Reports progress of reading and indexing; when stopped, it ends them at their next report."""

    SECONDS = 3.0

    def __init__(self, progress: Callable[[str], None] | None, clock: Clock) -> None:
        self._progress, self._clock, self._said = progress, clock, clock.monotonic()
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Let the reading thread end: nobody waits any more."""
        self._stopped.set()

    def say(self, line: str) -> None:
        """Pass a line on.

        Raises:
            Cancelled: reading was stopped.
        """
        if self._stopped.is_set():
            raise Cancelled("reading was cancelled")
        if self._progress is not None:
            self._progress(line)

    def tell(self, state: ReadingProgress) -> None:
        """Take the state, and report it from time to time.

        Raises:
            Cancelled: reading was stopped.
        """
        if self._stopped.is_set() or self._clock.monotonic() - self._said >= self.SECONDS:
            self._said = self._clock.monotonic()
            self.say(f"reading: file {state.file} of {state.files}, {state.documents:,} documents so far")
