"""A process which dies at any write of a repair: the next one ends with the same report, claims and history."""

from __future__ import annotations

import msgspec
import pytest
from judging import rules
from research import ONE_STEP, Sea, agent, planned, report_wanted, sends
from runtime import Dying, outcome, phase, ready, taken_up
from sampling import sampled
from simulated_time import in_simulated_time
from slow_writing import report_facts

from assay.core import events as e
from assay.core.brief import ROLES
from assay.core.messages import Price, Profile
from assay.core.view import RunView, fold_events
from assay.models.script import Scripted, says

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


async def ended(*, clever: bool, last: int) -> tuple[RunView, int, list[e.Envelope]]:
    """A run killed at a write and taken up again; with `last` 0, never killed."""
    sea = Sea({"harbour.md": HARBOUR})
    dying = Dying(sea.journal, last, phase("verify"))
    first = model(clever=clever)
    roles = dict.fromkeys(ROLES, (first.profile.name,))
    prepare = ready(sea.world(first), question="What does the harbour do?", models=roles)
    handle = sea.engine(dying, holder="one", ttl=0.05).start(prepare)
    await outcome(handle)
    if last:
        await taken_up(sea.engine(holder="two", ttl=0.05), handle.run_id, sea.world(model(clever=clever)))
    events = await sea.journal.events(handle.run_id)
    assert [each.seq for each in events] == list(range(1, len(events) + 1))
    return fold_events(events), dying.writes, events


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
