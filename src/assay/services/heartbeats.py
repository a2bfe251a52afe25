"""Signs of life of workers: each has a file in its home, as old as its last look into the queue."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from urllib.parse import quote_plus, unquote_plus

from assay.run.process import is_dead, is_local, this_process

BEAT_SECONDS = 5.0
"""How often a worker gives a sign at most: it may look many times a second."""
LATE_SECONDS = 60.0
"""After which a worker that gave no sign counts as frozen. It waits 30 for a database that went away."""


def _folder(home: Path) -> Path:
    return home.expanduser() / "workers"


class Heartbeat:
    """The sign of life of this process. A home that cannot be written gets none."""

    def __init__(self, home: Path) -> None:
        self._file, self._next = _folder(home) / quote_plus(this_process()), 0.0

    def beat(self) -> None:
        """Give a sign, unless the last one is recent."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + BEAT_SECONDS
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.touch()

    def end(self) -> None:
        """Take the sign away, and those of processes that ended without doing so."""
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)
            for file in self._file.parent.iterdir():
                if is_dead(unquote_plus(file.name)):
                    file.unlink(missing_ok=True)


def last_beats(home: Path) -> list[tuple[str, float]]:
    """The workers of a home that live on this machine, and the seconds since each last gave a sign."""
    beats: list[tuple[str, float]] = []
    for file in sorted(_folder(home).glob("process*")):
        holder = unquote_plus(file.name)
        if is_local(holder) and not is_dead(holder):
            with contextlib.suppress(FileNotFoundError):  # it just ended
                beats.append((holder, max(time.time() - file.stat().st_mtime, 0.0)))
    return beats
