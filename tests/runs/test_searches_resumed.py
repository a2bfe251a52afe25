"""A process which dies as one agent asks what another has asked: the next process asks no search provider again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable
from typing import Any

from research import ONE_STEP, Sea, planned, report_wanted, sends
from runtime import Killed, outcome

from assay.core import events as e
from assay.core.brief import ROLES, Brief
from assay.core.errors import LeaseHeld
from assay.core.events import decode
from assay.core.ports import Commit, Lease, World
from assay.models.script import Scripted, calls, says
from assay.phases.orchestrator import orchestrate
from assay.phases.pipeline import PipelineParts, pipeline
from assay.run.engine import Engine

TASKS = ("Find whom the harbour of Brest employs", "Find when the harbour of Brest was dug")
HARBOUR = (
    "# The harbour of Brest\n\nThe harbour of Brest employs 400 people.\n\nThe harbour of Brest was dug in 1631.\n"
)
DUG = "harbour Brest dug"


class Dying:
    """A journal which fails for good when it is to store a search whose answer another agent has."""

    def __init__(self, inner: Any) -> None:
        self._inner, self._dead = inner, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def commit(self, lease: Lease, commit: Commit) -> Awaitable[Any]:
        events = [decode(each) for each in commit.events if each.type == e.SearchPerformed.kind]
        self._dead = self._dead or any(each.shared for each in events if isinstance(each, e.SearchPerformed))
        if self._dead:
            return self._die()
        written: Awaitable[Any] = self._inner.commit(lease, commit)
        return written

    async def _die(self) -> Any:
        raise Killed


def model() -> Scripted:
    """Two agents: the second asks late what the first has asked second."""
    first, second = TASKS
    return Scripted(
        [
            *planned(ONE_STEP),
            sends(*TASKS, turn=0),
            calls(("search", {"query": "harbour Brest employs"}), task="research", contains=first, turn=0),
            calls(("search", {"query": DUG}), task="research", contains=first, turn=1),
            says("done", task="research", contains=first, turn=2),
            says("The harbour of Brest employs 400 people. [S1001.1]", task="find", contains=first),
            calls(("search", {"query": DUG}), task="research", contains=second, turn=0, delay=1.0),
            says("done", task="research", contains=second, turn=1),
            says("The harbour of Brest was dug in 1631. [S2001.2]", task="find", contains=second),
            report_wanted(turn=1),
            says("The harbour of Brest was dug in 1631. [S2001.2]", task="write"),
        ]
    )


def engine(sea: Sea, journal: Any, holder: str) -> Engine:
    parts = PipelineParts(tools=sea.tools, reader=sea.reader, strategies={"orchestrated": orchestrate})
    return Engine(journal, lambda run: pipeline(run, parts), holder=holder, ttl=0.05)


async def test_what_one_agent_has_found_is_not_searched_again_for_another() -> None:
    sea = Sea({"harbour.md": HARBOUR})
    asked: list[str] = sea.search.queries  # type: ignore[attr-defined]
    brief = Brief(question="What does the harbour do?", date="2026-01-01", models=dict.fromkeys(ROLES, ("scripted",)))

    async def prepare() -> tuple[Brief, World]:
        return brief, sea.world(model())

    handle = engine(sea, Dying(sea.journal), "one").start(prepare)
    with contextlib.suppress(Killed):
        await outcome(handle)
    assert asked.count(DUG) == 1
    before = len(asked)
    while True:
        try:
            resumed = await engine(sea, sea.journal, "two").resume(handle.run_id, lambda _: sea.world(model()))
            break
        except LeaseHeld:
            await asyncio.sleep(0.02)
    await outcome(resumed)
    events = [decode(each) for each in await sea.journal.events(handle.run_id)]
    searches = [each for each in events if isinstance(each, e.SearchPerformed) and each.query == DUG]
    assert [each.shared for each in searches] == [False, True]
    assert asked[before:] == []
