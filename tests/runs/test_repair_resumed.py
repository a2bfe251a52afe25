"""A process which dies at any write of a repair: the next one ends with the same report, claims and history."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable
from typing import Any

import msgspec
import pytest
from judging import rules
from research import ONE_STEP, Sea, agent, planned, report_wanted, sends
from runtime import Killed, outcome
from sampling import sampled
from simulated_time import in_simulated_time
from slow_writing import report_facts

from assay.core import events as e
from assay.core.brief import ROLES, Brief
from assay.core.errors import LeaseHeld
from assay.core.messages import Price, Profile
from assay.core.ports import Commit, Lease, World
from assay.core.view import RunView, fold
from assay.models.script import Scripted, says
from assay.phases.orchestrator import orchestrate
from assay.phases.pipeline import PipelineParts, pipeline
from assay.run.engine import Engine

CLEVER = Profile(name="clever", price=Price(input=0.0, output=0.0))
TASK = "Find what the harbour of Brest does"
HARBOUR = (
    "# The harbour of Brest\n\nThe harbour of Brest employs 400 people.\n\nThe harbour of Brest closes at 9.\n\n"
    "The harbour of Brest was dug in 1631.\n"
)
REPORT = (
    "The harbour of Brest employs 400 people. [S1001.1]\n\n## Hours\n\n"
    "The harbour of Brest closes at 9. [S1001.1]\n\n"
    "- The harbour of Brest was dug in 1931. [S1001.3]\n- The harbour of Brest employs 900 people. [S1001.1]\n"
    "- The harbour of Lorient is larger than it by far. [S1001.2]\n"
)


class Dying:
    """A journal which fails for good at its `last`-th write from when `verify` began."""

    def __init__(self, inner: Any, last: int) -> None:
        self._inner, self._last, self._begun, self.writes = inner, last, False, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def commit(self, lease: Lease, commit: Commit) -> Awaitable[Any]:
        self._begun = self._begun or any(
            each.type == e.PhaseStarted.kind and each.path[:1] == ("verify",) for each in commit.events
        )
        self.writes += self._begun
        if self._last and self.writes >= self._last:
            return self._die()
        written: Awaitable[Any] = self._inner.commit(lease, commit)
        return written

    async def _die(self) -> Any:
        raise Killed


def model(*, clever: bool) -> Scripted:
    scenes = [
        *planned(ONE_STEP),
        sends(TASK),
        *agent(TASK, "harbour Brest employs closes dug", "The harbour of Brest employs 400 people. [S1001.1]"),
        report_wanted(),
        says(REPORT, task="write"),
    ]
    if not clever:
        return Scripted(scenes)
    revised = says("The harbour of Brest was dug in 1631. [S1001.3]", task="revise", contains="1931")
    nothing = says("NOTHING", task="revise", repeat=True)
    denied = msgspec.structs.replace(rules("unsupported"), repeat=True)
    return Scripted([*scenes, revised, nothing, denied], profile=CLEVER)


def engine(sea: Sea, journal: Any, holder: str) -> Engine:
    parts = PipelineParts(tools=sea.tools, reader=sea.reader, strategies={"orchestrated": orchestrate})
    return Engine(journal, lambda run: pipeline(run, parts), holder=holder, ttl=0.05)


def brief(name: str) -> Brief:
    roles = dict.fromkeys(ROLES, (name,))
    return Brief(question="What does the harbour do?", date="2026-01-01", models=roles)  # type: ignore[arg-type]


async def ended(*, clever: bool, last: int) -> tuple[RunView, int, list[e.Envelope]]:
    """A run killed at a write and taken up again; with `last` 0, never killed."""
    sea = Sea({"harbour.md": HARBOUR})
    dying = Dying(sea.journal, last)
    first = model(clever=clever)

    async def prepare() -> tuple[Brief, World]:
        return brief(first.profile.name), sea.world(first)

    handle = engine(sea, dying, "one").start(prepare)
    with contextlib.suppress(Killed):
        await outcome(handle)
    if last:
        await resumed(sea, handle.run_id, clever=clever)
    events = await sea.journal.events(handle.run_id)
    assert [each.seq for each in events] == list(range(1, len(events) + 1))
    return fold(events), dying.writes, events


async def resumed(sea: Sea, run_id: str, *, clever: bool) -> None:
    second = model(clever=clever)
    while True:
        try:
            handle = await engine(sea, sea.journal, "two").resume(run_id, lambda _: sea.world(second))
            break
        except LeaseHeld:
            await asyncio.sleep(0.02)
    await outcome(handle)


EVERY = 5
"""So many writes are between two at which one test kills a repair; together they kill it at each."""


@pytest.mark.parametrize("first", sampled(range(1, EVERY + 1), EVERY))
@pytest.mark.parametrize("clever", [False, True])
@in_simulated_time
async def test_a_repair_which_dies_at_any_write_ends_the_same(clever: bool, first: int) -> None:
    whole, writes, _ = await ended(clever=clever, last=0)
    assert whole.status == "completed"
    assert whole.versions
    assert whole.removed
    assert writes > 10
    for last in range(first, writes + 1, EVERY):
        view, _, events = await ended(clever=clever, last=last)
        assert report_facts(view) == report_facts(whole), f"killed at write {last} of {writes}"
        kinds = [each.type for each in events]
        assert kinds.count("report.finished") == kinds.count("verify.summary") == 1


@pytest.mark.parametrize("slow", [1, 2])
@in_simulated_time
async def test_a_repair_cites_the_same_whichever_agent_was_first(slow: int) -> None:
    tasks = ("Find whom the harbour of Brest employs", "Find when the harbour of Brest was dug")
    agents = [
        agent(
            task,
            "harbour Brest employs closes dug",
            f"The harbour of Brest employs 400 people. [S{lane}001.1]",
            delay=0.2 * (lane == slow),
        )
        for lane, task in enumerate(tasks, 1)
    ]
    scenes = [*planned(ONE_STEP), sends(*tasks), *agents[0], *agents[1], report_wanted(), says(REPORT, task="write")]
    log = await Sea({"harbour.md": HARBOUR}).run(Scripted(scenes))
    assert [event.source.id for event in log.of(e.SourceAdded)] == ["S1", f"S{3 - slow}001", f"S{slow}001"]
    assert [event.passages[0].id for event in log.of(e.ClaimRevised)] == ["S1001.2"]
