"""What holds up the event loop of a test: told by `pytest --stalls MS`, or a failure where a test asks for it."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager

import pytest

from assay.telemetry.watchdog import Stall, Watchdog

OPTION, FIXTURE = "--stalls", "stalls_told"
LONGEST = 1.0
"""Seconds of processor time at once which fail a test that asks for the watch: far more than a run takes anywhere."""
_KEY = pytest.StashKey[list[tuple[str, Stall]]]()


@asynccontextmanager
async def unstalled(longest: float = LONGEST) -> AsyncIterator[None]:
    """Fail where the loop is held up for longer within the block, and say by what."""
    async with Watchdog(longest) as watchdog:
        yield
    assert not watchdog.stalls, "\n".join(map(str, watchdog.stalls))


@asynccontextmanager
async def noted(request: pytest.FixtureRequest) -> AsyncIterator[None]:
    """Note what holds up the loop of a test for more than the option says."""
    async with Watchdog(request.config.getoption(OPTION) / 1000) as watchdog:
        yield
    request.config.stash.setdefault(_KEY, []).extend((request.node.nodeid, stall) for stall in watchdog.stalls)


def watch(items: Iterable[pytest.Item]) -> None:
    """Have every test which runs in a loop watched."""
    for item in items:
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            item.fixturenames.append(FIXTURE)


def summary(config: pytest.Config) -> Sequence[str]:
    """The stalls noted in this process, the longest first."""
    found = sorted(config.stash.get(_KEY, []), key=lambda each: -each[1].seconds)
    return [f"{name}: {stall}" for name, stall in found]
