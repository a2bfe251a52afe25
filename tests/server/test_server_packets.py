"""Runs as packets of a chat page: golden streams of scripted runs, and the same over HTTP, taken up again anywhere.

`ASSAY_GOLDEN=write python -m pytest tests/server/test_server_packets.py` writes the files again.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fleet import scenes
from research import Sea, one_agent, two_agents
from serving import TIDES, begun, frames, served, until
from stepwise import two_steps

from assay.core.coordinates import lane_of
from assay.core.events import Envelope
from assay.models.script import Scene
from assay.server.api.events import PacketProjection, PlacedEvent

GOLDEN = Path(__file__).parent / "golden"
TIDE = "How far does the tide rise at Brest?"
SCRIPTS: dict[str, tuple[str, Callable[[], list[Scene]]]] = {
    "packets_one_agent": ("orchestrated", one_agent),
    "packets_parallel": ("orchestrated", two_agents),
    "packets_reflective": ("reflective", two_steps),
}


async def log_of(name: str) -> list[Envelope]:
    strategy, script = SCRIPTS[name]
    return list((await Sea().run(script(), question=TIDE, strategy=strategy)).envelopes)


def projected(log: Iterable[Envelope]) -> list[PlacedEvent]:
    projection = PacketProjection()
    return [projection.add_event(each) for each in log]


def rows(placed: list[PlacedEvent]) -> list[list[Any]]:
    """Packets as rows; lanes follow each other, since how they interleave differs, and pieces of a text are one row."""
    by_lane = sorted(placed, key=lambda each: lane_of(each.path) or 0)
    made = [[list(msgspec.structs.astuple(each.placement)), each.obj] for event in by_lane for each in event.packets]
    joined = []
    for (where, type), some in groupby(made, key=lambda row: (row[0], row[1]["type"])):
        objs = [row[1] for row in some]
        text = next((key for key in ("content", "reasoning") if key in objs[0]), "")
        if text:
            objs = [{"type": type, text: "".join(obj[text] for obj in objs)}]
        joined += [[where, obj] for obj in objs]
    return joined


@pytest.mark.parametrize("name", SCRIPTS)
async def test_golden_packets(name: str) -> None:
    made = rows(projected(await log_of(name)))
    text = "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in made) + "\n]\n"
    file = GOLDEN / f"{name}.json"
    if os.environ.get("ASSAY_GOLDEN") == "write":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text.splitlines() == file.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", SCRIPTS)
async def test_packets_say_what_a_page_has_to_know_before_it_draws(name: str) -> None:
    packets = [each for event in projected(await log_of(name)) for each in event.packets]
    types = [each.obj["type"] for each in packets]
    starts = {"message_start", "reasoning_start", "intermediate_report_start", "deep_research_plan_start"}
    begun, lanes = set[tuple[int, int, int]](), defaultdict[int, set[int]](set)
    branches = dict[int, int]()
    for each in packets:
        at, kind = msgspec.structs.astuple(each.placement), each.obj["type"]
        if kind == "top_level_branching":
            branches[at[0]] = each.obj["num_parallel_branches"]
        if kind in starts:
            begun.add(at)
        if kind in ("message_delta", "reasoning_delta", "intermediate_report_delta", "deep_research_plan_delta"):
            assert at in begun, f"{kind} at {at} has no beginning"
        lanes[at[0]].add(at[1])
        assert len(lanes[at[0]]) <= branches.get(at[0], 1), "a lane came before it was said how many there will be"
    assert all(sorted(tabs) == list(range(len(tabs))) for tabs in lanes.values())
    assert types[-1] == "stop"
    assert types.count("message_start") == 1
    answer = "".join(each.obj["content"] for each in packets if each.obj["type"] == "message_delta")
    assert "[1]" in answer
    open_sections = 0
    for kind in types:
        open_sections += kind.endswith("_start") - (kind == "section_end")
    assert open_sections == 0, "each section which begins ends"
    assert {each.obj["citation_number"] for each in packets if each.obj["type"] == "citation_info"} >= {1}


async def test_two_agents_at_once_are_announced_as_two_branches() -> None:
    packets = [each for event in projected(await log_of("packets_parallel")) for each in event.packets]
    announced = [each for each in packets if each.obj["type"] == "top_level_branching"]
    assert [each.obj["num_parallel_branches"] for each in announced] == [2]
    agents = [each for each in packets if each.obj["type"] == "research_agent_start"]
    assert {each.placement.turn_index for each in agents} == {announced[0].placement.turn_index}
    assert sorted(each.placement.tab_index for each in agents) == [0, 1]


async def test_a_placed_stream_has_the_same_events_and_goes_on_at_any_number(tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text(TIDES)
    (tmp_path / "scenes.json").write_text(json.dumps(scenes(tmp_path / "calls.log")))
    variables = {"ASSAY_MODEL": f"scripted:{tmp_path / 'scenes.json'}", "ASSAY_SERVER_FOLDERS": str(tmp_path)}
    with served(tmp_path / "home", **variables) as server:
        async with server.client() as client:
            scope = {"paths": [str(tmp_path / "tides.md")]}
            run = await begun(client, TIDE, mode="deep_research", scope=scope)
            path = f"/api/v1/runs/{run}/events"
            async with client.stream("GET", path, params={"placement": "1"}) as stream:
                live = [frame async for frame in frames(stream)]
            last = (await until(client, run))["last_seq"]
            assert [int(frame.id) for frame in live] == list(range(1, last + 1))
            assert live[-1].json["packets"][-1]["obj"] == {"type": "stop", "stop_reason": "finished"}
            assert {frame.event: frame.json["placement"] for frame in live}["plan.proposed"] == {
                "turn_index": 2,
                "tab_index": 0,
                "sub_turn_index": 0,
            }
            for after in (1, last // 2, last - 1):
                query = {"placement": "1", "after": after}
                async with client.stream("GET", path, params=query) as stream:
                    assert [frame.data async for frame in frames(stream)] == [each.data for each in live[after:]]
            pages = await client.get(path, params={"placement": "1"}, headers={"Accept": "application/json"})
            assert pages.status_code == 422
