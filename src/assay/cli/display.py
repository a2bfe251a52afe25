"""Where progress is shown: as the live view on a terminal, as plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from assay import settings
from assay.cli.terminal import say
from assay.core.events import Envelope, Warned
from assay.core.later import later
from assay.core.milestones import lines
from assay.services.warnings import ProgressNote

if TYPE_CHECKING:
    from rich import console

    from assay.cli.live import screen
else:
    screen, console = later("assay.cli.live.screen"), later("rich.console")

SIGNS = "✓●○✗…·"
"""What the live view is drawn with, besides letters."""


class Display(Protocol):
    """Shows a run within a `with` block; after it, the terminal is free for others."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def told(self, line: str) -> None:
        """How the reading of documents goes; from any thread."""
        ...

    def say(self, line: str) -> None:
        """What was done at a person's wish."""
        ...

    def show(self, envelope: Envelope) -> None:
        """An event happened."""
        ...


class PlainDisplay:
    """One line a milestone, on stderr; -1 (`-q`) says nothing but notices."""

    def __init__(self, verbosity: int) -> None:
        self._verbosity = verbosity
        self._warned: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def told(self, line: str) -> None:
        """Said, unless quiet; an aside with `-v`."""
        if self._verbosity >= isinstance(line, ProgressNote):
            say(line)

    def say(self, line: str) -> None:
        """Said always."""
        say(line)

    def show(self, envelope: Envelope) -> None:
        """The event's milestone, and its detail with `-v`; of equal warnings, which every agent may have, the first."""
        for line in lines(envelope, self._verbosity):
            if envelope.type != Warned.kind or line not in self._warned:
                say(line)
            self._warned |= {line} if envelope.type == Warned.kind else set()


def display(verbosity: int, *, events: bool = False, now: Callable[[], datetime] | None = None) -> Display:
    """The display for this process.

    Args:
        events: every event goes to stdout as a line; on the same terminal there is no room for both.
        now: the run's time, where it is not this moment (a replay).
    """
    if verbosity < 0 or not can_draw(events=events):
        return PlainDisplay(verbosity)
    return screen.Screen(verbosity=verbosity) if now is None else screen.Screen(verbosity=verbosity, now=now)


def can_draw(*, events: bool = False) -> bool:
    """Whether stderr is a terminal on which lines can be rewritten.

    Args:
        events: every event goes to stdout as a line; on the same terminal there is no room for both.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        return False
    if events and sys.stdout is not None and sys.stdout.isatty():
        return False
    about = settings.surroundings()
    return about.color and about.interactive and _shows_signs() and not console.Console(stderr=True).legacy_windows


def _shows_signs() -> bool:
    try:
        SIGNS.encode(sys.stderr.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
