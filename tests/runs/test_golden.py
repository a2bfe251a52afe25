"""What whole runs say, event by event, kept in files: events and coordinates are what every reader is built on.

`ASSAY_GOLDEN=write python -m pytest tests/runs/test_golden.py` writes the files again; the change is then reviewed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import logs
import msgspec
import pytest
from research import TIDE as AGENT
from research import Log, Sea, direct_answer, first_agent, one_agent, two_agents
from sampling import crossed
from stepwise import changed_plan, two_steps

from assay.core.brief import GivenAnswer
from assay.core.coordinates import lane_of
from assay.core.events import Envelope
from assay.core.report import Report, build_report
from assay.core.sources import sha256
from assay.core.view import ViewBuilder, fold_events
from assay.export import json as exporter
from assay.models.script import Scene, says
from assay.store.memory import memory_store
from assay.store.sql import open_store

GOLDEN = Path(__file__).parent / "golden"
Row = list[Any]  # coordinates or None, path, type, data
TIDE = "How far does the tide rise at Brest?"


def unclear() -> list[Scene]:
    """Two questions to a person, of which one is answered and the other is not; then a run as always."""
    asked = says("1. Which Brest?\n2. Spring tide or neap tide?", task="triage")
    return [asked, *one_agent()[1:]]


SCRIPTS: dict[str, tuple[str, str, Callable[[], list[Scene]]]] = {
    "direct_answer": ("Hi there", "orchestrated", direct_answer),
    "one_agent": (TIDE, "orchestrated", one_agent),
    "two_agents": (TIDE, "orchestrated", two_agents),
    "reflective": (TIDE, "reflective", two_steps),
    "reflective_changed_plan": (TIDE, "reflective", changed_plan),
    "clarification": (TIDE, "orchestrated", unclear),
    "agent_alone": (AGENT, "orchestrated", first_agent),
}
CHANGES: dict[str, dict[str, Any]] = {
    "clarification": {"answers": (GivenAnswer(question="Which Brest?", text="The one in Brittany"),)},
    "agent_alone": {"mode": "agent"},
}


def rows(envelopes: Iterable[Envelope]) -> list[Row]:
    """The log without what differs from run to run: its id, times, numbers, how lanes, calls and streams interleave.

    Lanes follow each other, and so do the calls of one turn; text that was streamed in pieces is one row.
    """
    log = list(envelopes)
    places = {seq: list(msgspec.structs.astuple(at)) for seq, at in logs.place(log)}
    by_lane = sorted(log, key=lambda each: lane_of(each.path) or 0)
    turns = groupby(by_lane, key=lambda each: called(each.path)[0])
    apart = [each for _, turn in turns for each in sorted(turn, key=lambda each: called(each.path)[1])]
    made = [[places.get(each.seq), list(each.path), each.type, msgspec.json.decode(each.data)] for each in apart]
    return list(_joined(made))


def called(path: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """The turn and the call an event belongs to; of an event outside any call both are empty."""
    calls = [index for index, part in enumerate(path) if part.startswith("call-")]
    return (path[: calls[0]], path[calls[0]]) if calls else ((), "")


def _joined(made: list[Row]) -> Iterator[Row]:
    for (*head, kind), pieces in groupby(made, key=lambda row: row[:3]):
        datas = [piece[3] for piece in pieces]
        if kind.endswith(".delta"):
            datas = [datas[0] | {"text": "".join(data["text"] for data in datas)}]
        yield from ([*head, kind, data] for data in datas)


def written(made: list[Row]) -> str:
    """One row a line: a difference is a line of a diff."""
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in made) + "\n]\n"


async def played(name: str, sea: Sea, delay: float = 0.0) -> Log:
    question, strategy, script = SCRIPTS[name]
    scenes = script()
    slow = [index for index, scene in enumerate(scenes) if scene.task == "research"][:1]
    for index in slow:
        scenes[index] = msgspec.structs.replace(scenes[index], delay=delay)
    return await sea.run(scenes, question=question, strategy=strategy, **CHANGES.get(name, {}))


@pytest.mark.parametrize("name", SCRIPTS)
async def test_events_and_coordinates(name: str) -> None:
    file = GOLDEN / f"{name}.json"
    text = written(rows((await played(name, Sea())).envelopes))
    if os.environ.get("ASSAY_GOLDEN") == "write":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text.splitlines() == file.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", SCRIPTS)
async def test_timing_changes_nothing(name: str) -> None:
    golden = (GOLDEN / f"{name}.json").read_text(encoding="utf-8")
    assert written(rows((await played(name, Sea(), delay=0.05)).envelopes)) == golden


@pytest.mark.parametrize(("name", "kind"), crossed(SCRIPTS, ["sqlite", "memory"]))
async def test_the_stored_log_is_the_run_and_its_report(name: str, kind: str, tmp_path: Path) -> None:
    store = memory_store() if kind == "memory" else open_store(tmp_path)
    live = (await played(name, Sea(store=store))).envelopes
    run_id = live[0].run_id
    if kind == "sqlite":
        await store.close()
        store = open_store(tmp_path)  # as the next process reads it
    stored = await store.journal.events(run_id)
    await store.close()
    assert stored == live
    view = fold_events(stored)
    assert view == fold_events(live) == followed(live)
    assert view.status == "completed"
    finished = [msgspec.json.decode(each.data) for each in live if each.type == "report.finished"]
    assert [each["text_sha256"] for each in finished] == [sha256(view.report.text.encode())]
    exported = msgspec.json.decode(exporter.render(view), type=Report)
    assert exported == build_report(view)
    assert exported.run_id == run_id
    assert len(exported.claims) == sum(each.type == "claim.found" for each in live)


def followed(envelopes: Iterable[Envelope]) -> Any:
    """The view of a reader who takes the events one by one."""
    folder = ViewBuilder()
    for envelope in envelopes:
        folder.apply(envelope)
    return folder.view


def test_every_script_has_its_file_and_every_file_its_script() -> None:
    assert {file.stem for file in GOLDEN.glob("*.json")} == set(SCRIPTS)
