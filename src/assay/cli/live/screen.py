"""A run on a terminal: fed with events, redrawn as time passes, gone when it ends."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from assay.app.warnings import ProgressNote
from assay.cli.interrupts import continued
from assay.cli.live.frame import Size, frame
from assay.cli.live.region import LOWEST, Region
from assay.cli.progress import lines
from assay.cli.terminal import cleaned, first_word
from assay.core.events import Envelope, RunCreated
from assay.core.view import ViewBuilder

EVERY = 0.2
"""Seconds between two looks at whether there is something new to draw."""
PASSING = ("reading: ", "indexed ", "waiting for another process")


def _utc() -> datetime:
    return datetime.now(UTC)


class Screen:
    """The live view on stderr. What is told between two draws is drawn at once; where nothing changed, nothing is.

    To be entered inside a running event loop. Once the terminal cannot be written any more, it draws no more.
    """

    def __init__(self, *, verbosity: int = 0, now: Callable[[], datetime] = _utc) -> None:
        self._region = Region(_write, _size)
        self._verbosity, self._now = verbosity, now
        self._folder = ViewBuilder()
        self._note = ""
        self._above: list[str] = []
        self._seen: object = None
        self._gone = False
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        first_word.erase()
        self._loop = asyncio.get_running_loop()
        self._continued = continued(self._region.forget)  # after Ctrl-Z and fg a shell's lines stand below ours
        self._continued.__enter__()
        self._tick()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._continued.__exit__(kind, error, trace)
        self._drawing(self._leave)

    def told(self, line: str) -> None:
        """How the reading of documents goes (from any thread); what passes is replaced by what comes next.

        An aside is told with `-v`.
        """
        if line.startswith(PASSING):
            self._note = line
        elif self._verbosity >= isinstance(line, ProgressNote):
            self._above.append(line)

    def say(self, line: str) -> None:
        """What was done at a person's wish: shown at once, and until the end."""
        self._note = line
        self._drawing(self._draw)

    def show(self, envelope: Envelope) -> None:
        """Take one more event.

        Raises:
            StoreError: an event of a known kind cannot be read.
        """
        self._folder.apply(envelope)
        if envelope.type == RunCreated.kind:
            self._note = ""
        if self._verbosity > 0:
            self._above += lines(envelope, self._verbosity)

    def _tick(self) -> None:
        self._drawing(self._draw)
        if not self._gone:
            self._timer = self._loop.call_later(EVERY, self._tick)

    def _drawing(self, draw: Callable[[], None]) -> None:
        """A terminal that went away ends the view, not the run."""
        if self._gone or not _in_foreground():
            return
        try:
            draw()
        except OSError:
            self._gone = True

    def _draw(self) -> None:
        view, now, room = self._folder.view, self._now(), self._region.room
        seen = (view.last_seq, now.replace(microsecond=0), room, self._note)
        if seen == self._seen and not self._above:
            return
        self._seen = seen
        self._region.draw(frame(view, now, room, self._note), self._told())

    def _leave(self) -> None:
        self._region.erase()
        if told := self._told():
            self._region.draw((), told)

    def _told(self) -> list[str]:
        """What is to stay in the terminal's history, each line once, also when a thread adds one meanwhile."""
        count = len(self._above)
        told, self._above[:count] = self._above[:count], []
        return [cleaned(line) for line in told]


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _size() -> Size:
    try:
        return Size(*os.get_terminal_size(sys.stderr.fileno()))
    except (OSError, ValueError):
        return Size(*shutil.get_terminal_size(LOWEST))


def _in_foreground() -> bool:
    """Whether the terminal is ours now: a job in the background would write over what its user types."""
    if sys.platform == "win32":
        return True
    try:
        return os.tcgetpgrp(sys.stderr.fileno()) == os.getpgrp()
    except (OSError, ValueError):  # a terminal, but not the one which controls this process
        return True
