"""The lowest lines of a terminal, rewritten in place.

Nothing is switched on that would have to be switched off: the cursor stays shown, below the last line, and what a
draw needs (no wrapping) it takes back in the same write. So a process which is killed leaves lines of text, at most.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from assay.cli.live.frame import Size

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
