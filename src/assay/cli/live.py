"""A run on a terminal: fed with events, redrawn as time passes, erased when it ends."""

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

from assay.cli.english import ProgressLines
from assay.cli.live_frame import Size, frame_lines
from assay.cli.signals import on_continue
from assay.cli.terminal import clean_line, first_word
from assay.core.events import Envelope, RunCreated
from assay.core.milestones import ProgressNote
from assay.core.view import ViewBuilder

# The lowest lines of a terminal, rewritten in place.

BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"  # terminals that support it show what is between these at once
WRAP_OFF, WRAP_ON = "\x1b[?7l", "\x1b[?7h"
TO_LINE_END, TO_SCREEN_END = "\x1b[K", "\x1b[J"
LOWEST = Size(80, 24)


class _Line(NamedTuple):
    text: str
    cells: int


class Region:
    """Lines at the bottom of a terminal; `write` takes text, `size` returns the terminal's current size."""

    def __init__(self, write: Callable[[str], object], size: Callable[[], Size]) -> None:
        self._write, self._size = write, size
        self._drawn_lines: list[_Line] = []
        self._width = 0

    @property
    def room(self) -> Size:
        """The space for a frame: the last column and the cursor's line stay free."""
        width, height = self._terminal()
        return Size(width - 1, height - 1)

    def draw(self, lines: Sequence[Text], above: Sequence[str] = ()) -> None:
        """Show `lines` in place of the previous ones; `above` are lines that stay in the terminal's
        history.
        """
        width = self._terminal().width
        new_lines = [_Line(_styled_line(line), line.cell_len) for line in lines]
        if new_lines == self._drawn_lines and width == self._width and not above:
            return
        redraws_all = bool(above) or width != self._width
        cursor_up = self._move_up(width)
        output = TO_SCREEN_END + "".join(f"{line}\r\n" for line in above) if redraws_all else ""
        body = "".join(
            _rewrite_line(line, None if redraws_all else self._drawn_line(index))
            for index, line in enumerate(new_lines)
        )
        self._drawn_lines, self._width = new_lines, width
        self._write(f"{BEGIN}{cursor_up}{output}{WRAP_OFF}{body}{TO_SCREEN_END}{WRAP_ON}{END}")

    def erase(self) -> None:
        """Leave the terminal as if nothing had been drawn, even if Ctrl-C interrupted a draw."""
        if self._drawn_lines:
            self._write(f"{self._move_up(self._terminal().width)}{TO_SCREEN_END}{WRAP_ON}{END}")
        self._drawn_lines = []

    def forget(self) -> None:
        """Treat what was drawn as history, because another program wrote; the next draw begins at the cursor."""
        self._drawn_lines = []

    def _drawn_line(self, index: int) -> _Line | None:
        return self._drawn_lines[index] if index < len(self._drawn_lines) else None

    def _move_up(self, width: int) -> str:
        """Move to the first line drawn. A terminal that became narrower has broken its lines into several."""
        rows = sum(max(1, -(-line.cells // width)) for line in self._drawn_lines)
        return f"\r\x1b[{rows}A" if rows else "\r"

    def _terminal(self) -> Size:
        width, height = self._size()
        return Size(width, height) if width > 1 and height > 1 else LOWEST


def _rewrite_line(line: _Line, before: _Line | None) -> str:
    return "\r\n" if line == before else f"{line.text}{TO_LINE_END}\r\n"


def _styled_line(line: Text) -> str:
    """The line with its colours; each style ends where it began, so a line can be written alone."""
    buffer = io.StringIO()
    console = Console(file=buffer, force_terminal=True, color_system="standard", width=max(line.cell_len, 1) + 1)
    console.print(line, end="", soft_wrap=True)
    return buffer.getvalue()


CHECK_SECONDS = 0.2
"""Seconds between two checks whether there is something new to draw."""
TRANSIENT_PREFIXES = ("reading: ", "indexed ", "waiting for another process")


class Screen:
    """The live view on stderr. Collects news and draws it at intervals; draws nothing if nothing changed.

    Enter it inside a running event loop. If the terminal can no longer be written, it stops drawing.
    """

    def __init__(self, *, verbosity: int = 0, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._region = Region(_write, _size)
        self._verbosity, self._now, self._lines = verbosity, now, ProgressLines(verbosity)
        self._folder = ViewBuilder()
        self._note = ""
        self._above: list[str] = []
        self._drawn_state: object = None
        self._is_gone = False
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        first_word.erase()
        self._loop = asyncio.get_running_loop()
        self._continue_handler = on_continue(self._region.forget)  # after Ctrl-Z and fg a shell's lines are below ours
        self._continue_handler.__enter__()
        self._tick()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._continue_handler.__exit__(kind, error, trace)
        self._try_to_draw(self._finish)

    def show_progress(self, line: str) -> None:
        """Show progress in reading documents (from any thread); transient lines are replaced by the next one.

        An aside is shown with `-v`.
        """
        if line.startswith(TRANSIENT_PREFIXES):
            self._note = line
        elif self._verbosity >= isinstance(line, ProgressNote):
            self._above.append(line)

    def say(self, line: str) -> None:
        """Show what was done on the user's request: at once, and until the end."""
        self._note = line
        self._try_to_draw(self._draw)

    def show(self, envelope: Envelope) -> None:
        """Add one event.

        Raises:
            StoreError: an event of a known kind cannot be read.
        """
        self._folder.apply(envelope)
        if envelope.type == RunCreated.kind:
            self._note = ""
        if self._verbosity > 0:
            self._above += self._lines.lines_of(envelope)

    def _tick(self) -> None:
        self._try_to_draw(self._draw)
        if not self._is_gone:
            self._timer = self._loop.call_later(CHECK_SECONDS, self._tick)

    def _try_to_draw(self, draw: Callable[[], None]) -> None:
        """Draw; a terminal that disappeared ends the view, not the run."""
        if self._is_gone or not _in_foreground():
            return
        try:
            draw()
        except OSError:
            self._is_gone = True

    def _draw(self) -> None:
        view, now, room = self._folder.view, self._now(), self._region.room
        state = (view.last_seq, now.replace(microsecond=0), room, self._note)
        if state == self._drawn_state and not self._above:
            return
        self._drawn_state = state
        self._region.draw(frame_lines(view, now, room, self._note), self._take_new_lines())

    def _finish(self) -> None:
        self._region.erase()
        if lines := self._take_new_lines():
            self._region.draw((), lines)

    def _take_new_lines(self) -> list[str]:
        """The new lines for the terminal's history, each once, even if a thread adds one meanwhile."""
        count = len(self._above)
        lines, self._above[:count] = self._above[:count], []
        return [clean_line(line) for line in lines]


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _size() -> Size:
    try:
        return Size(*os.get_terminal_size(sys.stderr.fileno()))
    except (OSError, ValueError):
        return Size(*shutil.get_terminal_size(LOWEST))


def _in_foreground() -> bool:
    """True if the terminal is ours now: a background job would write over what its user types."""
    if sys.platform == "win32":
        return True
    try:
        return os.tcgetpgrp(sys.stderr.fileno()) == os.getpgrp()
    except (OSError, ValueError):  # a terminal, but not the controlling one of this process
        return True
