"""One browser and two servers for all tests of the page; between other tests no browser may live: it runs a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from screens import Seen, Visit, chromium, scripted, shelve
from serving import TIDES, Served, served


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def visit(browser: Any) -> Iterator[Visit]:
    """Opens pages of a server, each in a context of its own; none may have reported a fault when the test ends."""
    seen: list[Seen] = []

    def opened(server: Served, **context: Any) -> Seen:
        seen.append(Seen(browser, server, **context))
        return seen[-1]

    yield opened
    faults = [fault for each in seen for fault in each.faults if each.expects not in fault]
    for each in seen:
        each.close()
    assert faults == []


@pytest.fixture(scope="package")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with the built-in model."""
    with served(tmp_path_factory.mktemp("plain") / "home") as server:
        shelve(server, "tides", "tides.md", TIDES)
        yield server


@pytest.fixture(scope="package")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server whose model takes its time."""
    with scripted(tmp_path_factory.mktemp("slow")) as server:
        yield server
