"""Which tests are quick, for `make test-fast`: those which tests/slow.txt does not name.

A line of it is a file whose tests are slow on the whole, which then is not even loaded, or one test, whatever its
parameters. `pytest --note-slow` writes the lines of the files it runs again: run all their tests. What needs a
PostgreSQL server or is marked as slow is never quick.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

QUICK = 0.05
"""Seconds a quick test takes at most, with what is set up for it, as the mean over its parameters; and the mean of a
file."""
SLOW = Path(__file__).parents[1] / "slow.txt"
HEAD = "# What `make test-fast` leaves out; written by `pytest --note-slow` (tests/support/quick.py)."
SERVER = "postgres"


@cache
def listed() -> frozenset[str]:
    """The files and tests which are slow."""
    lines = SLOW.read_text(encoding="utf-8").splitlines() if SLOW.exists() else []
    return frozenset(line for line in lines if line and not line.startswith("#"))


def is_slow_file(path: Path, config: pytest.Config) -> bool:
    """Whether the tests of a file are slow on the whole."""
    return path.is_relative_to(config.rootpath) and path.relative_to(config.rootpath).as_posix() in listed()


def quick(items: Iterable[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """The quick tests of `items`, and the others."""
    kept, left = [], []
    for item in items:
        name, needs_server = _split(item.nodeid)
        slow = name in listed() or needs_server or item.get_closest_marker("slow") is not None
        (left if slow else kept).append(item)
    return kept, left


def _split(nodeid: str) -> tuple[str, bool]:
    """A test without its parameters, and whether one of them is the server."""
    name, _, parameters = nodeid.partition("[")
    return name, SERVER in parameters.removesuffix("]").split("-")


class Durations:
    """Notes which tests were slow. One for a session, in the process which gets all reports."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()
        self._times: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what a phase of a test took."""
        name, needs_server = _split(report.nodeid)
        if not needs_server:
            self._seconds[name] += report.duration  # type: ignore[assignment]  # a Counter may count seconds
            self._times[name] += report.when == "call"

    def pytest_sessionfinish(self) -> None:
        """Write the list again, the lines of files which did not run as they were."""
        files: dict[str, set[str]] = {}
        for name in self._times:
            files.setdefault(name.partition("::")[0], set()).add(name)
        lines = {line for line in listed() if line.partition("::")[0] not in files}
        for file, names in files.items():
            lines |= {file} if self._is_slow(*names) else {name for name in names if self._is_slow(name)}
        SLOW.write_text("\n".join([HEAD, *sorted(lines), ""]), encoding="utf-8")
        listed.cache_clear()

    def _is_slow(self, *names: str) -> bool:
        times = sum(self._times[name] for name in names)
        return sum(self._seconds[name] for name in names) > QUICK * max(1, times)
