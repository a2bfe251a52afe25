"""What a person types, with history and completion; or the lines of a file or pipe."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

from assay.cli.chat.slash import SLASH
from assay.cli.interrupts import left_by_ctrl_c
from assay.cli.terminal import clean, say

try:
    import readline
except ImportError:  # Windows has none: the console edits lines by itself
    readline = None  # type: ignore[assignment]

PROMPT = "assay> "
LONGEST = 100_000
"""Characters of a line which are read."""


class LineInput:
    """Lines, one at a time. `recent` are those the arrow keys bring back; `person` says that somebody types."""

    def __init__(self, recent: Sequence[str], *, person: bool) -> None:
        self.person = person
        if person and readline is not None:
            _equip(recent)

    async def line(self) -> str | None:
        """The next line which is not empty, None at the end. Ctrl-C leaves a line which was begun."""
        while True:
            try:
                line = self._typed() if self.person else await asyncio.to_thread(sys.stdin.readline, LONGEST)
            except EOFError:
                say("")
                return None
            except KeyboardInterrupt:
                say("\n(Ctrl-D or /quit ends the chat)")
                continue
            if not self.person and not line:
                return None
            if line.strip():
                return line.strip()

    def _typed(self) -> str:
        """A line from the terminal; nothing else goes on meanwhile.

        Raises:
            EOFError, KeyboardInterrupt: Ctrl-D, Ctrl-C.
        """
        with left_by_ctrl_c():
            return input(PROMPT)


def _equip(recent: Sequence[str]) -> None:
    """Earlier questions, and Tab for commands. Nothing is kept in a file: the runs have it."""
    readline.clear_history()
    for question in recent:
        readline.add_history(" ".join(clean(question).split()))
    readline.set_completer_delims(" ")
    readline.set_completer(_completed)
    readline.parse_and_bind("tab: complete")


def _completed(text: str, state: int) -> str | None:
    found = [f"/{name} " for name in SLASH if text.startswith("/") and f"/{name}".startswith(text)]
    return found[state] if state < len(found) else None
