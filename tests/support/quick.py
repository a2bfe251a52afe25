"""Which tests are quick, for `make test-fast`: those which took little when they last ran here.

Every run of the suite notes the slow ones in pytest's cache. Where none has run yet, quick means a unit test that is
not marked as slow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

QUICK = 0.05
"""Seconds a quick test takes at most, with what is set up for it alone: then all of them take a minute on two cores."""
_SLOW, _KNOWN = "assay/slow", "assay/slow-known"


class Durations:
    """Notes how long each test took. One for a session, in the process which gets all reports."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._taken: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what a phase of a test took."""
        self._taken[report.nodeid] += report.duration  # type: ignore[assignment]  # a Counter may count seconds

    def pytest_sessionfinish(self) -> None:
        """Keep the names of the slow ones, and of those which did not run now what was known of them."""
        cache = getattr(self._config, "cache", None)  # -p no:cacheprovider
        if cache is None or not self._taken:
            return
        before = {name for name in cache.get(_SLOW, []) if name not in self._taken}
        slow = {name for name, seconds in self._taken.items() if seconds > QUICK}
        cache.set(_SLOW, sorted(before | slow))
        cache.set(_KNOWN, True)


def quick(config: pytest.Config, items: Iterable[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """The quick tests of `items`, and the others."""
    cache = config.cache
    known = cache is not None and cache.get(_KNOWN, False)
    slow = set(cache.get(_SLOW, [])) if cache is not None else set()
    kept, left = [], []
    for item in items:
        marked = item.get_closest_marker("slow") is not None
        is_quick = item.nodeid not in slow if known else "unit" in item.path.parts and not marked
        (kept if is_quick else left).append(item)
    return kept, left
