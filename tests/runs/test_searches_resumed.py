"""A process which dies as one agent asks what another has asked: the next process asks no search provider again."""

from __future__ import annotations

from research import ONE_STEP, Sea, planned, report_wanted, sends
from runtime import Dying, outcome, ready, taken_up

from assay.core import events as e
from assay.core.events import decode
from assay.core.ports import EventDraft
from assay.models.script import Scripted, calls, says

TASKS = ("Find whom the harbour of Brest employs", "Find when the harbour of Brest was dug")
HARBOUR = (
    "# The harbour of Brest\n\nThe harbour of Brest employs 400 people.\n\nThe harbour of Brest was dug in 1631.\n"
)
DUG = "harbour Brest dug"


def is_shared(event: EventDraft) -> bool:
    """Whether it is of a search whose answer another agent has."""
    return event.type == e.SearchPerformed.kind and decode(event).shared  # type: ignore[attr-defined,no-any-return]


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


async def test_what_one_agent_has_found_is_not_searched_again_for_another() -> None:
    sea = Sea({"harbour.md": HARBOUR})
    asked: list[str] = sea.search.queries  # type: ignore[attr-defined]
    first = sea.engine(Dying(sea.journal, 1, is_shared), holder="one", ttl=0.05)
    handle = first.start(ready(sea.world(model()), question="What does the harbour do?"))
    await outcome(handle)
    assert (await sea.journal.find(handle.run_id)).status == "running"
    assert asked.count(DUG) == 1
    before = len(asked)
    await taken_up(sea.engine(holder="two", ttl=0.05), handle.run_id, sea.world(model()))
    events = [decode(each) for each in await sea.journal.events(handle.run_id)]
    searches = [each for each in events if isinstance(each, e.SearchPerformed) and each.query == DUG]
    assert [each.shared for each in searches] == [False, True]
    assert asked[before:] == []
