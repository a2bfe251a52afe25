"""A run on a terminal: fed with events, redrawn as time passes, gone when it ends."""

from __future__ import annotations

import asyncio
import io
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import NamedTuple, Self

from rich.console import Console
from rich.text import Text

from assay.cli.interrupts import continued
from assay.cli.live.frame import Size, frame
from assay.cli.terminal import cleaned, first_word
from assay.core.events import Envelope, RunCreated
from assay.core.milestones import lines
from assay.core.view import ViewBuilder
from assay.services.warnings import ProgressNote

# The lowest lines of a terminal, rewritten in place.

BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"  # what lies between is shown at once, by terminals which know it
CUT, WRAP = "\x1b[?7l", "\x1b[?7h"
TO_LINE_END, TO_SCREEN_END = "\x1b[K", "\x1b[J"
LOWEST = Size(80, 24)


class _Line(NamedTuple):
    written: str
    cells: int


class Region:
    """Lines at the bottom of a terminal; `write` takes text, `size` tells how large the terminal is now."""

    def __init__(self, write: Callable[[str], object], size: Callable[[], Size]) -> None:
        self._write, self._size = write, size
        self._drawn: list[_Line] = []
        self._width = 0

    @property
    def room(self) -> Size:
        """What a frame may take: the last column and the line of the cursor stay free."""
        width, height = self._terminal()
        return Size(width - 1, height - 1)

    def draw(self, lines: Sequence[Text], above: Sequence[str] = ()) -> None:
        """Show `lines` in place of those before; `above` are lines to stay in the terminal's history."""
        width = self._terminal().width
        fresh = [_Line(_styled(line), line.cell_len) for line in lines]
        if fresh == self._drawn and width == self._width and not above:
            return
        whole = bool(above) or width != self._width
        up = self._up(width)
        told = TO_SCREEN_END + "".join(f"{line}\r\n" for line in above) if whole else ""
        body = "".join(_rewritten(line, None if whole else self._before(place)) for place, line in enumerate(fresh))
        self._drawn, self._width = fresh, width
        self._write(f"{BEGIN}{up}{told}{CUT}{body}{TO_SCREEN_END}{WRAP}{END}")

    def erase(self) -> None:
        """Leave the terminal as if nothing had been drawn, also where Ctrl-C came in the middle of a draw."""
        if self._drawn:
            self._write(f"{self._up(self._terminal().width)}{TO_SCREEN_END}{WRAP}{END}")
        self._drawn = []

    def forget(self) -> None:
        """Somebody else wrote on the terminal: what was drawn is history, the next draw begins where the cursor is."""
        self._drawn = []

    def _before(self, place: int) -> _Line | None:
        return self._drawn[place] if place < len(self._drawn) else None

    def _up(self, width: int) -> str:
        """To the first line drawn. In a terminal made narrower its lines have been broken into several."""
        rows = sum(max(1, -(-line.cells // width)) for line in self._drawn)
        return f"\r\x1b[{rows}A" if rows else "\r"

    def _terminal(self) -> Size:
        width, height = self._size()
        return Size(width, height) if width > 1 and height > 1 else LOWEST


def _rewritten(line: _Line, before: _Line | None) -> str:
    return "\r\n" if line == before else f"{line.written}{TO_LINE_END}\r\n"


def _styled(line: Text) -> str:
    """The line with its colours; each style ends where it began, so a line can be written alone."""
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system="standard", width=max(line.cell_len, 1) + 1)
    console.print(line, end="", soft_wrap=True)
    return out.getvalue()


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
