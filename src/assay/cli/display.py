"""Chooses how progress is shown: as the live view on a terminal, as plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from assay import settings
from assay.cli.english import ProgressLines
from assay.cli.terminal import say
from assay.core.events import Envelope, Warned
from assay.core.lazy import lazy_module
from assay.core.milestones import ProgressNote

if TYPE_CHECKING:
    from rich import console

    from assay.cli import live
else:
    live, console = lazy_module("assay.cli.live"), lazy_module("rich.console")

SIGNS = "✓●○✗…·"
"""The signs the live view draws besides letters."""


class Display(Protocol):
    """Shows a run within a `with` block; after it, the terminal is free for other output."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show_progress(self, line: str) -> None:
        """Show progress in reading documents; may be called from any thread."""
        ...

    def say(self, line: str) -> None:
        """Show what was done on the user's request."""
        ...

    def show(self, envelope: Envelope) -> None: ...


class PlainDisplay:
    """One line per milestone, on stderr; with -1 (`-q`) only notices."""

    def __init__(self, verbosity: int) -> None:
        self._verbosity, self._lines = verbosity, ProgressLines(verbosity)
        self._shown_warnings: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def show_progress(self, line: str) -> None:
        """Printed unless quiet; asides only with `-v`."""
        if self._verbosity >= isinstance(line, ProgressNote):
            say(line)

    def say(self, line: str) -> None:
        """Always printed."""
        say(line)

    def show(self, envelope: Envelope) -> None:
        """Print the event's milestone, and its detail with `-v`; repeated warnings, which every agent may have, only
        once.
        """
        for line in self._lines.lines_of(envelope):
            if envelope.type != Warned.kind or line not in self._shown_warnings:
                say(line)
            self._shown_warnings |= {line} if envelope.type == Warned.kind else set()


def display(verbosity: int, *, events: bool = False, now: Callable[[], datetime] | None = None) -> Display:
    """The display for this process.

    Args:
        events: every event is printed on stdout as a line, which leaves no room for the live view on the same terminal.
        now: the run's time, if it is not the present (a replay).
    """
    if verbosity < 0 or not can_draw(events=events):
        return PlainDisplay(verbosity)
    return live.Screen(verbosity=verbosity) if now is None else live.Screen(verbosity=verbosity, now=now)


def can_draw(*, events: bool = False) -> bool:
    """True if stderr is a terminal on which lines can be rewritten.

    Args:
        events: every event is printed on stdout as a line, which leaves no room for the live view on the same terminal.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        return False
    if events and sys.stdout is not None and sys.stdout.isatty():
        return False
    environment = settings.terminal_environment()
    return (
        environment.color
        and environment.interactive
        and _shows_signs()
        and not console.Console(stderr=True).legacy_windows
    )


def _shows_signs() -> bool:
    try:
        SIGNS.encode(sys.stderr.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
