"""Screen coordinates: what is where, without gaps, and never moved."""

from collections import defaultdict

import logs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core import events as e
from assay.core.coordinates import Coordinates, Placer, lane_of


@st.composite
def interleaved(draw: st.DrawFn) -> list[e.Envelope]:
    """A log of one to three cycles whose agents' events lie in any order; agents may be planned while others work."""
    log = logs.Log()
    logs.begin(log)
    log.add("research", e.PhaseStarted(phase="research"))
    last = 0
    for cycle in range(1, draw(st.integers(1, 3)) + 1):
        log.add(f"research/cycle-{cycle}", e.ThinkFinished(text="?"))
        lanes = list(range(last + 1, last + draw(st.integers(1, 3)) + 1))
        waiting, working, last = list(lanes), [], lanes[-1]
        while waiting or working:
            if waiting and (not working or draw(st.booleans())):
                lane = waiting.pop(0)
                log.add(
                    f"research/cycle-{cycle}", e.AgentsPlanned(cycle=cycle, lanes=tuple(lanes[: lanes.index(lane) + 1]))
                )
                turns = draw(st.integers(0, 3))
                working.append(logs.agent(log, lane, *[(logs.source(f"S{lane}00{n + 1}"), ()) for n in range(turns)]))
            worker = draw(st.sampled_from(working))
            if next(worker, None) is None:
                working.remove(worker)
    logs.write(log, "Text.\n")
    for branch in draw(st.permutations(("claim-1", "claim-2", "claim-1"))):
        log.add(f"verify/{branch}", e.ThinkFinished(text="!"))
    return log.events


def _gap_free(numbers: set[int]) -> bool:
    return numbers == set(range(len(numbers)))


@given(events=interleaved())
def test_no_index_has_a_gap(events: list[e.Envelope]) -> None:
    tabs, parts = defaultdict(set), defaultdict(set)
    for _, at in logs.place(events):
        tabs[at.turn_index].add(at.tab_index)
        parts[at.turn_index, at.tab_index].add(at.sub_turn_index)
    assert _gap_free(set(tabs))
    assert all(_gap_free(numbers) for numbers in (*tabs.values(), *parts.values()))


@given(events=interleaved(), data=st.data())
def test_a_prefix_places_its_events_as_the_whole_does(events: list[e.Envelope], data: st.DataObject) -> None:
    whole = dict(logs.place(events))
    count = data.draw(st.integers(0, len(events)))
    assert dict(logs.place(events[:count])) == {seq: at for seq, at in whole.items() if seq <= count}


@given(events=interleaved())
def test_live_and_later_agree(events: list[e.Envelope]) -> None:
    placer = Placer()
    live = [(each.seq, at) for each in events if (at := placer.place(each)) is not None]
    assert live == logs.place(events)


@given(events=interleaved())
def test_a_place_is_one_part_of_one_lane(events: list[e.Envelope]) -> None:
    paths = {each.seq: each.path for each in events}
    seen: dict[Coordinates, set[tuple[str, ...]]] = defaultdict(set)
    for seq, at in logs.place(events):
        seen[at].add(paths[seq])
    assert all(len(there) == 1 for there in seen.values())


def test_two_agents() -> None:
    events = logs.two_agents().events
    at = {events[seq - 1].path: coordinates for seq, coordinates in logs.place(events)}
    assert at == {
        ("triage",): Coordinates(0, 0, 0),
        ("plan",): Coordinates(1, 0, 0),
        ("research", "cycle-1"): Coordinates(2, 0, 0),
        ("research", "agent-1"): Coordinates(3, 0, 0),
        ("research", "agent-1", "turn-1"): Coordinates(3, 0, 1),
        ("research", "agent-1", "turn-2"): Coordinates(3, 0, 2),
        ("research", "agent-2"): Coordinates(3, 1, 0),
        ("research", "agent-2", "turn-1"): Coordinates(3, 1, 1),
        ("research", "agent-2", "turn-2"): Coordinates(3, 1, 2),
        ("write",): Coordinates(4, 0, 0),
        ("verify",): Coordinates(5, 0, 0),
    }


def test_a_cycle_and_its_agents_are_two_blocks_and_the_next_cycle_a_third() -> None:
    events = logs.one_agent().events
    at = {events[seq - 1].path: coordinates.turn_index for seq, coordinates in logs.place(events)}
    assert [at[path] for path in (("research", "cycle-1"), ("research", "agent-1"), ("research", "cycle-2"))] == [
        2,
        3,
        4,
    ]
    assert at["research", "coverage"] == 5


def test_dropped_events_have_no_place() -> None:
    events = logs.restarted_step().events
    dropped = {
        seq
        for each in events
        if isinstance(dropped_event := e.decode(each), e.StepRestarted)
        for seq in dropped_event.dropped
    }
    placed = dict(logs.place(events))
    assert dropped
    assert not dropped & set(placed)
    assert _gap_free({at.turn_index for at in placed.values()})


def test_what_belongs_to_the_run_or_to_research_has_no_place() -> None:
    events = logs.one_agent().events
    placed = dict(logs.place(events))
    assert {each.path for each in events if each.seq not in placed} == {(), ("research",)}


def test_an_agent_nobody_planned_still_has_a_place() -> None:
    log = logs.Log()
    log.add("research/agent-7", e.AgentStarted(lane=7, task="?"))
    log.add("research/agent-3/turn-1", e.ThinkStarted())
    assert [at for _, at in logs.place(log.events)] == [Coordinates(0, 0, 0), Coordinates(0, 1, 0)]


@pytest.mark.parametrize(
    ("path", "lane"),
    [
        (("research", "agent-12"), 12),
        (("research", "agent-12", "turn-1"), 12),
        (("research", "agent-x"), None),
        (("research", "agent-²"), None),
        (("research", "cycle-1"), None),
        (("agent-1",), None),
        ((), None),
    ],
)
def test_lane_of(path: tuple[str, ...], lane: int | None) -> None:
    assert lane_of(path) == lane
